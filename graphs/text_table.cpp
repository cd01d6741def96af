#include "graphs/text_table.hpp"

#include <algorithm>
#include <sstream>

namespace hyperframes {

namespace {

/// Letters, not bytes: what follows the first byte of a UTF-8 sequence has no width.
std::size_t width_of(const std::string& s) {
  return static_cast<std::size_t>(std::ranges::count_if(
    s, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

} // namespace

std::string text_table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line(indent_, ' ');
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - width_of(row[i]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

std::string wrap(const std::string& text, std::size_t indent, std::size_t width) {
  std::istringstream words(text);
  std::string result, line, word;
  while (words >> word) {
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width - indent) {
      result += std::string(indent, ' ') + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty())
    result += std::string(indent, ' ') + line + '\n';
  return result;
}

} // namespace hyperframes
