#pragma once

#include "actors/pack/rows.hpp"
#include "runtime/error.hpp"
#include "runtime/frame.hpp"
#include "runtime/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace hyperframes {

/// Where the pixels of a `width` x `height` frame go in a slot of `spec`, whose size is resolved.
slot_geometry geometry_of(const pack_spec& spec, std::uint32_t width, std::uint32_t height);

/// Turns frames into slots of a tensor: colour, scale, fit, normalise, layout and type in one pass
/// over the target, a row at a time, without a full-size intermediate image. Bilinear sampling with
/// half-pixel centres; when a side shrinks by 2 or more, the box that a target pixel covers is
/// averaged. The planes of YUV frames are scaled each by this rule, chroma samples centred on their
/// luma samples, then turned into colour. Gray from colour: 0.299 R + 0.587 G + 0.114 B; from YUV:
/// luma.
///
/// Exact in single precision but for the weights of rows, whose sums from the first row on are
/// rounded to 32768ths: a component s is off by at most sum(|s[k] - s[k + 1]|) / 65536 over the
/// rows k that a target pixel sees, for two rows 0.004 of 255.
///
/// Works on the caller's thread alone. The values are the same bits whichever loops do the work.
/// Keeps the tables of the last frame size: one packer per stream or bundler. Allocates when a
/// frame's format or size differs from the last one's, and only then. Not thread-safe; packers
/// share nothing, so that each may work on a thread of its own, into slots of one tensor too.
class packer {
public:
  /// Throws `failure` (graph_invalid) where `spec` has no size or cannot be met: types other than
  /// float32, float16 and uint8, uint8 with a scale, mean or deviation, a deviation of 0.
  /// `rows`, which lives as long as the packer, does the work; the machine must be able to run it.
  explicit packer(pack_spec spec, const row_kernels& rows = fastest_rows());
  ~packer();
  packer(packer&&) noexcept;
  packer& operator=(packer&&) noexcept;
  const pack_spec& spec() const { return spec_; }

  /// Writes all of `slot` (`spec().slot_bytes()` bytes).
  /// @returns the geometry, or `errc::stage_failed` where `f` is no video or has no content, or
  /// where its content or `slot` is smaller than it should be; then `slot` is unchanged.
  expected<slot_geometry> pack(const frame& f, std::span<std::byte> slot);

  /// Writes the value of padding into all of `slot`: what an absent slot holds.
  void fill(std::span<std::byte> slot) const;

private:
  struct tables;
  pack_spec spec_;
  const row_kernels* rows_;
  std::unique_ptr<tables> tables_;
};

} // namespace hyperframes
