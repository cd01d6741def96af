#pragma once

#include "runtime/time.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hyperframes {

/// A place in a graph file; line and column count from 1, 0 means that there is none.
struct source_mark {
  std::string file;
  int line = 0;
  int column = 0;
  std::string to_string() const; ///< `file:line:col`, or `file` alone
};

/// Where an effective value came from; `explain` prints it.
enum class value_source : std::uint8_t { built_in, file, environment, command_line, program, derived };
const char* to_string(value_source s);

struct pixel_size {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  friend bool operator==(const pixel_size&, const pixel_size&) = default;
};

class settings;

/// One checked value. Text that names a duration (`40ms`), a byte count (`256MB`) or a size
/// (`640x480`) has been turned into one by the time that a factory sees it.
struct setting {
  using list = std::vector<setting>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, duration, pixel_size, list,
               std::shared_ptr<settings>>
    value;
  source_mark mark;
  value_source source = value_source::built_in;
};

/// The checked parameters of a stage or a camera: every declared parameter that has a value,
/// defaults filled in. Asking for one that was not declared, or with the wrong type, is a defect
/// of the caller and throws `std::logic_error`; asking for one without a value too, unless
/// `has` was asked first.
class settings {
public:
  bool has(std::string_view name) const;
  const setting& at(std::string_view name) const;

  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const; ///< takes integers too
  const std::string& text(std::string_view name) const;
  duration time(std::string_view name) const;
  pixel_size size(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;     ///< a list of numbers
  std::vector<std::string> texts(std::string_view name) const;  ///< a list of texts
  const settings& group(std::string_view name) const;           ///< an object
  const setting::list& items(std::string_view name) const;

  void set(std::string name, setting value);
  /// For programs and tests: sets a bare value, marked as coming from the program.
  template <class T>
  settings& with(std::string name, T value) {
    setting s;
    s.value = std::move(value);
    s.source = value_source::program;
    set(std::move(name), std::move(s));
    return *this;
  }
  const std::vector<std::pair<std::string, setting>>& all() const { return values_; }

private:
  std::vector<std::pair<std::string, setting>> values_; ///< in the order of declaration
};

} // namespace hyperframes
