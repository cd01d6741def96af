#include "graphs/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

namespace hyperframes {

namespace {

struct unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<unit, 11> byte_units{{
  {"TiB", std::int64_t{1} << 40},
  {"TB", 1'000'000'000'000},
  {"GiB", 1 << 30},
  {"GB", 1'000'000'000},
  {"MiB", 1 << 20},
  {"MB", 1'000'000},
  {"KiB", 1 << 10},
  {"kB", 1'000},
  {"KB", 1'000},
  {"B", 1},
  {"", 1},
}};

/// `number` times the factor of the unit behind it, which may be more than fits into 64 bits.
template <std::size_t N>
std::optional<double>
number_with_unit(std::string_view text, const std::array<unit, N>& units) {
  const auto digits = text.find_first_not_of("0123456789.-+");
  const auto number = read_number(text.substr(0, digits));
  auto name = digits == std::string_view::npos ? std::string_view{} : text.substr(digits);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  if (!number)
    return {};
  for (const auto& u : units) {
    if (u.name != name)
      continue;
    return std::round(*number * static_cast<double>(u.factor));
  }
  return {};
}

template <std::size_t N>
std::optional<std::int64_t>
read_with_unit(std::string_view text, const std::array<unit, N>& units) {
  const auto value = number_with_unit(text, units);
  return value && std::abs(*value) <= 9.2e18
           ? std::optional{static_cast<std::int64_t>(*value)}
           : std::nullopt;
}

bool is_whole_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-'))
    text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <std::size_t N>
std::string write_with_unit(std::int64_t value, const std::array<unit, N>& units) {
  for (const auto& u : units)
    if (value % u.factor == 0 && (value != 0 || u.factor == 1))
      return std::to_string(value / u.factor) + std::string{u.name};
  return std::to_string(value);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1), before, before_that;
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_that = std::exchange(before, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({row[j - 1] + 1, before[j] + 1, before[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_that[j - 2] + 1); // neighbours that changed places
    }
  }
  return row[b.size()];
}

std::string lower(std::string_view s) {
  std::string result{s};
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return result;
}

std::string write_bound(const parameter& p, double bound) {
  if (p.type == parameter_type::duration)
    return write_duration(duration{static_cast<std::int64_t>(std::llround(bound * 1e9))});
  if (p.type == parameter_type::bytes)
    return write_bytes(static_cast<std::uint64_t>(bound));
  return write_number(bound);
}

} // namespace

std::optional<std::int64_t> read_integer(std::string_view text) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    return {};
  return value;
}

std::optional<double> read_number(std::string_view text) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return {};
  return value;
}

std::optional<std::int64_t> read_bytes(std::string_view text) {
  const auto bytes = read_with_unit(text, byte_units);
  return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

std::optional<pixel_size> read_size(std::string_view text) {
  const auto x = text.find('x');
  if (x == std::string_view::npos)
    return {};
  const auto width = read_integer(text.substr(0, x));
  const auto height = read_integer(text.substr(x + 1));
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (!width || !height || *width < 0 || *height < 0 || *width > most || *height > most)
    return {};
  return pixel_size{static_cast<std::uint32_t>(*width), static_cast<std::uint32_t>(*height)};
}

bool is_out_of_range(const parameter& p, std::string_view text) {
  const auto x = text.find('x');
  switch (p.type) {
    case parameter_type::integer:
      return is_whole_number(text) && !read_integer(text);
    case parameter_type::duration:
      return is_endless_duration(text);
    case parameter_type::bytes:
      return number_with_unit(text, byte_units) && !read_bytes(text);
    case parameter_type::size:
      return x != std::string_view::npos && is_whole_number(text.substr(0, x))
             && is_whole_number(text.substr(x + 1)) && !read_size(text);
    default:
      return false;
  }
}

std::string write_bytes(std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::to_string(bytes);
  return write_with_unit(static_cast<std::int64_t>(bytes), byte_units);
}

std::string write_value(const setting& s) {
  struct writer {
    std::string operator()(std::monostate) const { return "unset"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return write_number(d); }
    std::string operator()(const std::string& t) const { return t.empty() ? "\"\"" : t; }
    std::string operator()(duration d) const { return write_duration(d); }
    std::string operator()(pixel_size p) const {
      return std::to_string(p.width) + 'x' + std::to_string(p.height);
    }
    std::string operator()(const setting::list& l) const {
      std::string result = "[";
      for (const auto& entry : l)
        result += (result.size() > 1 ? ", " : "") + write_value(entry);
      return result + ']';
    }
    std::string operator()(const std::shared_ptr<settings>& o) const {
      std::string result = "{";
      for (const auto& [name, value] : o->all())
        if (o->has(name)) // what is unset would hide what is not
          result += (result.size() > 1 ? ", " : " ") + name + ": " + write_value(value);
      return result + " }";
    }
  };
  return std::visit(writer{}, s.value);
}

std::string about_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> names{"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t i = 0;
  for (; value >= 1000 && i + 1 < names.size(); ++i)
    value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(
    text.data(), text.size(), i > 0 && value < 100 ? "%.1f %s" : "%.0f %s", value, names[i]);
  return text.data();
}

const char* to_string(parameter_type type) {
  constexpr std::array<const char*, 10> names{"boolean", "integer", "number", "text", "duration",
                                              "bytes",   "size",    "choice", "list", "object"};
  return names[static_cast<std::size_t>(type)];
}

std::string type_in_words(const parameter& p) {
  switch (p.type) {
    case parameter_type::boolean:
      return "true or false";
    case parameter_type::integer:
      return "a whole number";
    case parameter_type::number:
      return "a number";
    case parameter_type::text:
      return "a text";
    case parameter_type::duration:
      return "a duration such as 40ms";
    case parameter_type::bytes:
      return "a number of bytes such as 256MB";
    case parameter_type::size:
      return "a size such as 640x480";
    case parameter_type::choice:
      return "one of " + join_words(p.choices, " or ");
    case parameter_type::object:
      return "keys and values";
    case parameter_type::list:
      break;
  }
  auto element = p;
  element.type = p.element;
  return "a list, each entry " + type_in_words(element);
}

std::string range_in_words(const parameter& p) {
  auto unit = p.unit.empty() ? std::string{} : ' ' + p.unit;
  if (p.most.value_or(p.least.value_or(0)) == 1 && unit.ends_with('s'))
    unit.pop_back();
  if (p.least && p.most)
    return write_bound(p, *p.least) + " to " + write_bound(p, *p.most) + unit;
  if (p.least)
    return "at least " + write_bound(p, *p.least) + unit;
  if (p.most)
    return "at most " + write_bound(p, *p.most) + unit;
  return {};
}

std::string nearest_name(std::string_view found, const std::vector<std::string>& known) {
  std::string best;
  // A third of the letters may be wrong; one in names of three and fewer.
  auto least = std::max<std::size_t>(1, (found.size() + 1) / 3) + 1;
  for (const auto& name : known) {
    const auto distance = edit_distance(lower(found), lower(name));
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string suggestion(std::string_view found, const std::vector<std::string>& known) {
  if (const auto best = nearest_name(found, known); !best.empty())
    return "did you mean '" + best + "'?";
  std::vector<std::string> shown;
  std::set<std::string_view> seen;
  for (const auto& name : known)
    if (seen.insert(name).second)
      shown.push_back(name);
  if (shown.empty())
    return "there are none";
  if (shown.size() == 1)
    return "the only one is '" + shown.front() + '\'';
  if (const auto all = shown.size(); all > 20) {
    shown.resize(20);
    shown.push_back(std::to_string(all - 20) + " more");
  }
  return "known are " + join_words(shown);
}

} // namespace hyperframes
