#include "runtime/settings.hpp"

#include <stdexcept>

namespace hyperframes {

namespace {

template <class T>
const T& value_of(const settings& s, std::string_view name, const char* type) {
  if (const auto* v = std::get_if<T>(&s.at(name).value))
    return *v;
  throw std::logic_error("setting '" + std::string{name} + "' was asked for as " + type);
}

double number_of(const setting& s) {
  if (const auto* i = std::get_if<std::int64_t>(&s.value))
    return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&s.value))
    return *d;
  throw std::logic_error("setting was asked for as a number");
}

} // namespace

std::string source_mark::to_string() const {
  return line > 0 ? file + ':' + std::to_string(line) + ':' + std::to_string(column) : file;
}

bool settings::has(std::string_view name) const {
  for (const auto& [key, value] : values_)
    if (key == name)
      return !std::holds_alternative<std::monostate>(value.value);
  return false;
}

const setting& settings::at(std::string_view name) const {
  for (const auto& [key, value] : values_)
    if (key == name)
      return value;
  throw std::logic_error("setting '" + std::string{name} + "' was not declared");
}

bool settings::flag(std::string_view name) const {
  return value_of<bool>(*this, name, "a flag");
}
std::int64_t settings::integer(std::string_view name) const {
  return value_of<std::int64_t>(*this, name, "an integer");
}
double settings::number(std::string_view name) const {
  return number_of(at(name));
}
const std::string& settings::text(std::string_view name) const {
  return value_of<std::string>(*this, name, "a text");
}
duration settings::time(std::string_view name) const {
  return value_of<duration>(*this, name, "a duration");
}
pixel_size settings::size(std::string_view name) const {
  return value_of<pixel_size>(*this, name, "a size");
}
const setting::list& settings::items(std::string_view name) const {
  return value_of<setting::list>(*this, name, "a list");
}
const settings& settings::group(std::string_view name) const {
  return *value_of<std::shared_ptr<settings>>(*this, name, "an object");
}
std::vector<double> settings::numbers(std::string_view name) const {
  std::vector<double> result;
  for (const auto& entry : items(name))
    result.push_back(number_of(entry));
  return result;
}
std::vector<std::string> settings::texts(std::string_view name) const {
  std::vector<std::string> result;
  for (const auto& entry : items(name))
    result.push_back(std::get<std::string>(entry.value));
  return result;
}

void settings::set(std::string name, setting value) {
  for (auto& [key, old] : values_)
    if (key == name) {
      old = std::move(value);
      return;
    }
  values_.emplace_back(std::move(name), std::move(value));
}

} // namespace hyperframes
