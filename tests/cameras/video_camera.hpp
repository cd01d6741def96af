#pragma once

#include "cameras/video.hpp"
#include "tests/cameras/drive.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace hyperframes::test {

inline std::unique_ptr<camera> opened_video(const settings& s, std::size_t frames_ahead = 3) {
  auto c = video_description().make(s, {});
  if (const auto done = c->open(place(frames_ahead)); done.has_error())
    FAIL(done.error().to_string());
  return c;
}

/// Debian's opencv-doc packages real films.
inline std::string real_film(const std::string& name) {
  const auto path = "/usr/share/doc/opencv-doc/examples/data/" + name;
  if (!std::filesystem::exists(path)) {
    MESSAGE(
      "the film " << path << " is missing: run tools/setup, which installs Debian's opencv-doc");
    FAIL("no film, no test");
  }
  return path;
}

} // namespace hyperframes::test
