#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace hyperframes {

/// Appends JSON (RFC 8259) to a string: no tree, no allocation beyond the string's own.
///
///   json_text json{line};
///   json.object([&] {
///     json.field("stream", id);
///     json.key("boxes").array([&] { for (auto& b : boxes) json.value(b.score); });
///   });
///
/// The output is always valid JSON in UTF-8: bytes that are no UTF-8 become U+FFFD, and numbers that
/// are not finite become null. Floating-point numbers have the fewest digits that read back the same.
class json_text {
public:
  explicit json_text(std::string& out) : out_(out) {}

  template <class Members>
  void object(Members&& members) { enclosed('{', '}', members); }
  template <class Elements>
  void array(Elements&& elements) { enclosed('[', ']', elements); }

  /// @param name plain ASCII without quotes: a name of ours.
  json_text& key(std::string_view name) {
    separate();
    out_ += '"';
    out_ += name;
    out_ += "\":";
    separated_ = true;
    return *this;
  }
  template <class Value>
  void field(std::string_view name, const Value& v) { key(name).value(v); }

  void value(std::nullptr_t) { word("null"); }
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view{text}); }
  void value(const std::string& text) { value(std::string_view{text}); }
  void value(std::same_as<bool> auto b) { word(b ? "true" : "false"); }
  template <class Number>
    requires(std::integral<Number> && !std::same_as<Number, bool>)
  void value(Number n) { number(n); }
  void value(std::floating_point auto n) {
    if (std::isfinite(n))
      number(n);
    else
      word("null");
  }

private:
  template <class Body>
  void enclosed(char open, char close, Body& body) {
    separate();
    out_ += open;
    separated_ = true;
    body();
    out_ += close;
    separated_ = false;
  }
  void separate() {
    if (!separated_)
      out_ += ',';
    separated_ = false;
  }
  void word(std::string_view w) {
    separate();
    out_ += w;
  }
  void number(auto n) {
    char digits[32]; // the longest double in its shortest form has 24 characters
    const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
    word({digits, static_cast<std::size_t>(end - digits)});
  }

  std::string& out_;
  bool separated_ = true; ///< the next value needs no comma before it
};

} // namespace hyperframes
