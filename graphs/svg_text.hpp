#pragma once

#include <array>
#include <cstdio>
#include <string>

/// Text of SVG files.
namespace hyperframes {

inline std::string in_xml(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string{c};
  return result;
}

inline std::string pixels(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", v);
  return text.data();
}

} // namespace hyperframes
