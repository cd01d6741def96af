#pragma once

#include "cameras/camera.hpp"
#include "tests/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

/// What the tests of the cameras share.
namespace hyperframes::test {

/// The parameters of `d` as the checker would hand them over, with every default filled in.
inline settings defaults(const camera_description& d) {
  settings s;
  for (const auto& p : d.parameters)
    s.set(p.name, p.initial.value_or(setting{}));
  return s;
}

inline camera_environment place(std::size_t frames_ahead, std::string stream = "cam1") {
  return {std::move(stream), frames_ahead, {}};
}

inline graph_time at_ms(double ms) {
  return graph_time{duration{static_cast<std::int64_t>(ms * 1e6)}};
}

/// The frame in `e`, which must be one.
inline captured_frame frame_in(camera_event e) {
  if (const auto* why = std::get_if<error>(&e))
    FAIL("no frame but: " << why->to_string());
  REQUIRE(std::holds_alternative<captured_frame>(e));
  return std::get<captured_frame>(std::move(e));
}

/// The sentence of the error in `e`, or "".
inline std::string sentence(const camera_event& e) {
  const auto* why = std::get_if<error>(&e);
  return why ? why->to_string() : "";
}

/// The pixels of `f` without padding.
inline std::vector<std::byte> pixels(const captured_frame& f) {
  std::vector<std::byte> all;
  const auto& v = f.media->video;
  for (std::size_t p = 0; p < v.plane_count(); ++p)
    for (std::size_t y = 0; y < v.plane_rows(p); ++y) {
      const auto* row = f.buffer.data() + v.planes[p].offset + y * v.planes[p].stride;
      all.insert(all.end(), row, row + v.row_bytes(p));
    }
  return all;
}

/// Reads to the end; the buffers are let go at once, the descriptions kept. FNV-1a of each picture,
/// taken eight bytes at a time, stands in for its pixels.
struct seen {
  captured_frame frame;
  std::uint64_t hash = 0; ///< 0: no content
};
inline std::uint64_t hash_of(const captured_frame& f) {
  std::uint64_t h = 0xcbf29ce484222325;
  const auto all = pixels(f);
  for (std::size_t i = 0; i < all.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, all.data() + i, std::min<std::size_t>(8, all.size() - i));
    h = (h ^ word) * 0x100000001b3;
    h ^= h >> 32;
  }
  return h;
}
inline std::vector<seen> read_all(camera& c, bool hashes = true, std::size_t at_most = 100000) {
  std::vector<seen> all;
  while (all.size() < at_most) {
    auto e = c.read(graph_time{});
    if (std::holds_alternative<end_of_stream>(e))
      break;
    seen s{frame_in(std::move(e)), 0};
    if (s.frame.buffer && hashes)
      s.hash = hash_of(s.frame);
    s.frame.buffer = {};
    all.push_back(std::move(s));
  }
  return all;
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream{path, std::ios::binary} << bytes;
}

} // namespace hyperframes::test
