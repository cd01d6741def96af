#pragma once

#include "runtime/settings.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace hyperframes::bench {

/// A temporary folder that goes with it.
class scratch {
public:
  scratch(); ///< throws `failure` where there can be none
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch();
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

/// Writes a film of parts on a belt (cameras/parts_scene.hpp), 30 frames per second, as MPEG-4,
/// which every FFmpeg can write, and fast. Throws `failure` where it cannot be written.
void make_film(const std::string& path, pixel_size size, std::uint64_t frames, std::uint64_t shown);

} // namespace hyperframes::bench
