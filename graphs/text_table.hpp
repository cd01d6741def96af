#pragma once

#include <string>
#include <vector>

namespace hyperframes {

/// Rows whose columns are as wide as their widest cell. Cells may hold UTF-8.
class text_table {
public:
  /// @param indent spaces before each row.
  explicit text_table(std::size_t indent = 2) : indent_(indent) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  /// Every row as a line, two spaces between columns, no blanks at a line's end.
  std::string text() const;

private:
  std::size_t indent_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` broken into lines of at most `width` letters, each behind `indent` spaces.
std::string wrap(const std::string& text, std::size_t indent, std::size_t width = 96);

} // namespace hyperframes
