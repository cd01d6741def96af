#pragma once

#include "tests/system/folder.hpp"

#include <string>

/// Films of Debian's package opencv-doc, and what can be made of them.
namespace hyperframes::test {

inline std::string film(const std::string& name) {
  const auto path = "/usr/share/doc/opencv-doc/examples/data/" + name;
  REQUIRE_MESSAGE(std::filesystem::exists(path), path, " is missing: install opencv-doc");
  return path;
}

/// Writes Megamind.avi with 50 wrong bytes in every 20 kB, away from its header and its index.
inline void write_damaged_film(const std::string& path) {
  auto bytes = content_of(film("Megamind.avi"));
  REQUIRE(bytes.size() > 1'000'000);
  for (std::size_t at = 300'000; at < 900'000; at += 20'000)
    for (std::size_t i = 0; i < 50; ++i)
      bytes[at + i] = static_cast<char>(0x55 + 7 * i);
  write_file(path, bytes);
}

} // namespace hyperframes::test
