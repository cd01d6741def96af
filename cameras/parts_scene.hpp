#pragma once

#include "runtime/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes {

/// Pictures of machined parts on a moving belt, as an inspection camera with a strobe sees them:
/// one gear, flange or plate a frame, whole or with one defect, and the truth about it.
///
///   parts_scene scene{{640, 480}, 7};
///   std::vector<std::uint8_t> bgr(640 * 480 * 3);
///   int truth = scene.render(0, bgr.data(), 640 * 3); // index into parts_scene::labels()
///
/// A picture depends on size, seed and index only, so pictures can be made in any order. Kind,
/// alloy, place, angle, size and lighting vary; stains, dust and hairlines are on good parts too.
/// The model that the project ships was trained on these pictures: change nothing of their look
/// without training it again.
///
/// Not thread-safe: one scene per camera. `render` allocates nothing of its own.
class parts_scene {
public:
  /// "good", "scratch", "missing_hole", "chipped".
  static const std::vector<std::string>& labels();

  /// @param size 16 to 16384 pixels a side. Draws belt and metal once.
  parts_scene(pixel_size size, std::uint64_t seed);
  ~parts_scene();
  parts_scene(parts_scene&&) noexcept;
  parts_scene& operator=(parts_scene&&) noexcept;

  /// What `render` will show; costs next to nothing. About 55 % are good, 15 % each is defective.
  int truth(std::uint64_t index) const;

  /// Draws picture `index`, B G R, rows `stride` bytes apart.
  /// @returns `truth(index)`.
  int render(std::uint64_t index, std::uint8_t* bgr, std::size_t stride);

private:
  struct studio;
  std::unique_ptr<studio> studio_;
};

} // namespace hyperframes
