#pragma once

#include "actors/pack/rows.hpp"
#include "runtime/tensor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyperframes {

/// Writes rows of pixels and padding where the layout of a slot has them. `slot` is the start of
/// the slot, aligned for its type. Not thread-safe; allocates on construction only.
class slot_writer {
public:
  struct area {
    std::uint32_t x, y, width, height; ///< slot pixels
  };

  slot_writer(const pack_spec& spec, const row_kernels& rows);

  /// Writes one row (`to.height` is 1): `components` mixed by `mix`.
  void
  write(std::byte* slot, const area& to, const colour_mix& mix, const float* const* components);
  void pad(std::byte* slot, const area& to) const;

private:
  bool planar() const { return spec_.layout == tensor_layout::nchw || channels_ == 1; }

  pack_spec spec_;
  row_kernels::mix_row mix_;
  std::uint32_t channels_;
  std::size_t size_;                            // bytes of a value
  std::array<std::vector<std::byte>, 3> apart_; // one row's channels, where they are interleaved
};

} // namespace hyperframes
