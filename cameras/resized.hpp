#pragma once

#include "runtime/media_type.hpp"

#include <cstddef>

namespace hyperframes {

/// Scales a picture by the nearest pixel: the same bytes on every machine.
/// @param to has the pixel format of `from`; i420 and nv12 need even sides.
/// @param into has `to.size_bytes()` bytes.
void resize_picture(
  const video_format& from, const std::byte* pixels, const video_format& to, std::byte* into);

} // namespace hyperframes
