#include "graphs/document.hpp"

#include <algorithm>
#include <optional>

namespace hyperframes {

namespace {

constexpr int deepest_default = 32;

bool is_name(std::string_view s) {
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !s.empty() && letter(s[0])
         && std::ranges::all_of(s, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// The '}' that closes the `${` at `begin`: braces within are counted, so that a default may hold
/// `{stream}`, `{1..4}` or another `${NAME:-default}`. `npos` where there is none.
std::size_t closing_brace(std::string_view text, std::size_t begin) {
  int open = 0;
  for (auto i = begin + 1; i < text.size(); ++i) {
    open += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    if (open == 0)
      return i;
  }
  return std::string_view::npos;
}

/// Fills in the variables of one scalar.
class filling {
public:
  filling(
    document_node& n, const std::map<std::string, std::string>& environment,
    std::vector<fault>& faults)
    : n_(n), environment_(environment), faults_(faults) {}

  void run() {
    if (auto text = filled(n_.text, 0, 0))
      n_.text = std::move(*text);
    else
      n_.unknown = true;
  }

private:
  /// @param at where `text` stands in the scalar.
  std::optional<std::string> filled(std::string_view text, std::size_t at, int depth) {
    std::string result;
    bool good = true;
    for (std::size_t i = 0; i < text.size();) {
      if (text.substr(i, 3) == "$${") {
        result += "${";
        i += 3;
      } else if (text.substr(i, 2) != "${") {
        result += text[i++];
      } else if (const auto end = closing_brace(text, i); end == std::string_view::npos) {
        return fail(at + i, "'${' has no '}' behind it; write $${ for a plain ${");
      } else {
        const auto value = value_of(text.substr(i + 2, end - i - 2), at + i, depth);
        good = good && value;
        result += value.value_or("");
        i = end + 1;
      }
    }
    return good ? std::optional{std::move(result)} : std::nullopt;
  }

  /// @param inside what stands between `${` and `}`.
  std::optional<std::string> value_of(std::string_view inside, std::size_t at, int depth) {
    const auto split = inside.find(":-");
    const std::string name{inside.substr(0, split)};
    if (!is_name(name))
      return fail(
        at, "'${" + std::string{inside}
              + "}' names no variable: expected ${NAME} or ${NAME:-default}");
    const auto found = environment_.find(name);
    if (found != environment_.end() && (!found->second.empty() || split == std::string::npos)) {
      n_.source = value_source::environment;
      return found->second;
    }
    if (split == std::string::npos)
      return fail(
        at, "the variable '" + name + "' is not set: set it, or give a default as in ${" + name
              + ":-value}");
    if (depth == deepest_default)
      return fail(
        at, "defaults stand in defaults more than " + std::to_string(deepest_default) + " deep");
    return filled(inside.substr(split + 2), at + 2 + split + 2, depth + 1);
  }

  std::nullopt_t fail(std::size_t at, std::string sentence) {
    auto mark = n_.mark;
    if (mark.line > 0 && n_.text.find('\n') == std::string::npos)
      mark.column += static_cast<int>(at);
    faults_.push_back({mark, std::move(sentence)});
    return std::nullopt;
  }

  document_node& n_;
  const std::map<std::string, std::string>& environment_;
  std::vector<fault>& faults_;
};

} // namespace

void expand_variables(
  document_node& root, const std::map<std::string, std::string>& environment,
  std::vector<fault>& faults) {
  const bool written =
    root.source == value_source::file || root.source == value_source::command_line;
  if (root.what == document_node::kind::scalar && written)
    filling{root, environment, faults}.run();
  for (auto& i : root.items)
    expand_variables(i, environment, faults);
  for (auto& e : root.entries)
    expand_variables(e.value, environment, faults);
}

} // namespace hyperframes
