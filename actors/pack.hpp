#pragma once

#include "runtime/error.hpp"
#include "runtime/frame.hpp"
#include "runtime/tensor.hpp"

#include <span>

namespace hyperframes {

/// Where the pixels of a `width` x `height` frame go in a slot of `spec`.
slot_geometry geometry_of(const pack_spec& spec, std::uint32_t width, std::uint32_t height);

/// Turns frames into slots of a tensor: colour, scale, fit, normalise, layout and type in one pass
/// over the target, without a full-size intermediate image. Bilinear sampling with half-pixel
/// centres; when a side shrinks by 2 or more, the box that a target pixel covers is averaged.
///
/// Keeps the tables of the last frame size: one packer per stream or bundler. Not thread-safe.
class packer {
public:
  explicit packer(pack_spec spec);
  const pack_spec& spec() const { return spec_; }

  /// Writes all of `slot` (`spec().slot_bytes()` bytes).
  /// @returns the geometry, or `errc::stage_failed` where `f` is no video or has no content.
  expected<slot_geometry> pack(const frame& f, std::span<std::byte> slot);

  /// Writes the value of padding into all of `slot`: what an absent slot holds.
  void fill(std::span<std::byte> slot) const;

private:
  struct tables;
  pack_spec spec_;
  std::shared_ptr<tables> tables_;
};

} // namespace hyperframes
