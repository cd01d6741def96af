#include "runtime/written.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace hyperframes {

namespace {

struct time_unit {
  std::string_view name;
  std::int64_t ns;
};

constexpr std::array<time_unit, 7> time_units{{
  {"h", 3'600'000'000'000},
  {"min", 60'000'000'000},
  {"s", 1'000'000'000},
  {"ms", 1'000'000},
  {"us", 1'000},
  {"µs", 1'000},
  {"ns", 1},
}};

constexpr std::string_view decimal = "0123456789";

/// Leaves room for the part behind the point.
constexpr std::int64_t most_ns = 9'200'000'000'000'000'000;

struct reading {
  enum { malformed, endless, fits } what = malformed;
  std::int64_t ns = 0;
};

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = s.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view{}
                                         : s.substr(first, s.find_last_not_of(blanks) - first + 1);
}

/// In whole numbers: a clock that counts from 1970 has more digits than a double keeps.
reading times(std::string_view before, std::string_view after, std::int64_t unit) {
  std::int64_t whole = 0;
  if (!before.empty()) {
    const auto [end, problem] =
      std::from_chars(before.data(), before.data() + before.size(), whole);
    if (problem != std::errc{} || whole > (most_ns - unit) / unit)
      return {reading::endless};
  }
  double part = 0;
  if (!after.empty()) {
    std::int64_t digits = 0;
    const auto kept = after.substr(0, 15);
    std::from_chars(kept.data(), kept.data() + kept.size(), digits);
    part = static_cast<double>(digits) / std::pow(10.0, static_cast<double>(kept.size()));
  }
  return {reading::fits, whole * unit + std::llround(part * static_cast<double>(unit))};
}

reading read(std::string_view text, std::optional<duration> bare) {
  text = trimmed(text);
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+'))
    text.remove_prefix(1);
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = text.substr(0, end);
  const auto unit = trimmed(text.substr(end));
  const auto point = std::min(number.find('.'), number.size());
  const auto before = number.substr(0, point);
  const auto after = number.substr(std::min(point + 1, number.size()));
  if (
    (before.empty() && after.empty()) || after.find_first_not_of(decimal) != std::string_view::npos)
    return {};
  const auto of = std::ranges::find(time_units, unit, &time_unit::name);
  if (of == time_units.end() && !unit.empty())
    return {};
  const bool zero = number.find_first_not_of("0.") == std::string_view::npos;
  if (unit.empty() && !bare && !zero)
    return {};
  auto result = times(before, after, unit.empty() ? bare.value_or(duration{1}).count() : of->ns);
  if (minus)
    result.ns = -result.ns;
  return result;
}

} // namespace

std::optional<duration> read_duration(std::string_view text, std::optional<duration> bare) {
  const auto r = read(text, bare);
  return r.what == reading::fits ? std::optional{duration{r.ns}} : std::nullopt;
}

bool is_endless_duration(std::string_view text) {
  return read(text, std::nullopt).what == reading::endless;
}

std::string write_duration(duration d) {
  if (d == duration{})
    return "0s";
  for (const auto& u : time_units)
    if (d.count() % u.ns == 0)
      return std::to_string(d.count() / u.ns) + std::string{u.name};
  return {}; // ns divide every count
}

std::string write_number(double n) {
  std::array<char, 64> text{};
  const auto whole = n == std::floor(n) && std::abs(n) < 1e15;
  const auto end =
    whole ? std::to_chars(text.data(), text.data() + text.size(), static_cast<std::int64_t>(n)).ptr
          : std::to_chars(text.data(), text.data() + text.size(), n).ptr;
  return {text.data(), end};
}

std::string counted(std::uint64_t n, std::string_view what) {
  auto text = std::to_string(n) + ' ' + std::string{what};
  if (n != 1)
    text += what.ends_with("ch") ? "es" : "s";
  return text;
}

std::string join_words(const std::vector<std::string>& words, std::string_view last) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      result += i + 1 == words.size() ? last : ", ";
    result += words[i];
  }
  return result;
}

} // namespace hyperframes
