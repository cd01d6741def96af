#include "cameras/timeline_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace hyperframes {

namespace {

constexpr std::int64_t longest_ns = 100LL * 366 * 24 * 3600 * 1'000'000'000;

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{}
                                         : s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

} // namespace

std::optional<duration> read_table_time(std::string_view text) {
  text = trimmed(text);
  bool minus = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    minus = text.front() == '-';
    text.remove_prefix(1);
  }
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = text.substr(0, digits);
  const auto unit = trimmed(text.substr(digits));
  struct unit_name {
    std::string_view name;
    std::int64_t ns;
  };
  constexpr std::array<unit_name, 8> units{{
    {"", 1'000'000'000},
    {"s", 1'000'000'000},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"µs", 1'000},
    {"ns", 1},
    {"min", 60'000'000'000},
    {"h", 3'600'000'000'000},
  }};
  const auto* of =
    std::find_if(units.begin(), units.end(), [&](const unit_name& u) { return u.name == unit; });
  const auto point = std::min(number.find('.'), number.size());
  const auto before = number.substr(0, point),
             after = number.substr(std::min(point + 1, number.size()));
  if (
    of == units.end() || (before.empty() && after.empty())
    || after.find('.') != std::string_view::npos)
    return {};
  // In whole numbers: a clock that counts from 1970 has more digits than a double keeps.
  std::int64_t whole = 0;
  if (!before.empty()) {
    const auto [end, problem] =
      std::from_chars(before.data(), before.data() + before.size(), whole);
    if (problem != std::errc{} || whole > longest_ns / of->ns)
      return {};
  }
  double part = 0;
  if (!after.empty()) {
    std::int64_t digits_after = 0;
    const auto kept = after.substr(0, 15);
    std::from_chars(kept.data(), kept.data() + kept.size(), digits_after);
    part = static_cast<double>(digits_after) / std::pow(10.0, static_cast<double>(kept.size()));
  }
  const auto ns = whole * of->ns + std::llround(part * static_cast<double>(of->ns));
  return duration{minus ? -ns : ns};
}

} // namespace hyperframes
