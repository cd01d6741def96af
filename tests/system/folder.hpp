#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <stdlib.h>

namespace hyperframes::test {

/// A folder of its own for a test; gone with it.
class test_folder {
public:
  test_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "hyperframes-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path_ = pattern;
  }
  test_folder(const test_folder&) = delete;
  test_folder& operator=(const test_folder&) = delete;
  ~test_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path() const { return path_.string(); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

/// All of a file; empty where there is none.
inline std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream out{path, std::ios::binary};
  out << text;
  out.close();
  REQUIRE(out);
}

/// `text` with its one `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, "there is no '", from, "' to replace");
  REQUIRE_MESSAGE(text.find(from, at + 1) == std::string::npos, "'", from, "' stands twice");
  return text.replace(at, from.size(), to);
}

} // namespace hyperframes::test
