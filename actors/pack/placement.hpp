#pragma once

#include "runtime/tensor.hpp"

#include <cstdint>

namespace hyperframes {

/// The part of the slot that the frame fills, and the part of the frame that is seen there.
struct placement {
  std::uint32_t left, top, width, height; ///< slot pixels
  double x, y, seen_width, seen_height;   ///< frame pixels
};

/// By the fit of `spec`, whose size is resolved.
placement place(const pack_spec& spec, std::uint32_t width, std::uint32_t height);

/// `p` as what maps slot pixels back to a `width` x `height` frame.
slot_geometry geometry_from(const placement& p, std::uint32_t width, std::uint32_t height);

} // namespace hyperframes
