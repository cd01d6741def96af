#pragma once

#include "actors/pack/rows.hpp"
#include "runtime/media_type.hpp"
#include "runtime/tensor.hpp"

#include <cstdint>

namespace hyperframes {

/// Components of a frame that the channels of `spec` depend on: 1 to 3, in the frame's order.
std::uint32_t components_used(const video_format& f, const pack_spec& spec);

/// How the components of `f` become the channels of `spec`: colour (ITU-R BT.601 and BT.709, for
/// 8 bits), cut off at 0 and 255, then scale, mean and deviation, all in one weighted sum.
colour_mix mix_for(const video_format& f, const pack_spec& spec);

/// What padding becomes in channel `c`, before it is stored in the type of `spec`.
float padding_of(const pack_spec& spec, std::uint32_t c);

} // namespace hyperframes
