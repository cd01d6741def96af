#include "cameras/resized.hpp"

#include <cstdint>
#include <cstring>

namespace hyperframes {

namespace {

std::size_t pixel_bytes(pixel_format format, std::size_t plane) {
  switch (format) {
    case pixel_format::bgr24:
    case pixel_format::rgb24:
      return 3;
    case pixel_format::nv12:
      return plane == 1 ? 2 : 1; // U and V together
    case pixel_format::gray8:
    case pixel_format::i420:
      break;
  }
  return 1;
}

} // namespace

void resize_picture(
  const video_format& from, const std::byte* pixels, const video_format& to, std::byte* into) {
  for (std::size_t p = 0; p < to.plane_count(); ++p) {
    const auto size = pixel_bytes(to.format, p);
    const auto rows = to.plane_rows(p), rows_from = from.plane_rows(p);
    const auto width = to.row_bytes(p) / size, width_from = from.row_bytes(p) / size;
    for (std::size_t y = 0; y < rows; ++y) {
      const auto* row =
        pixels + from.planes[p].offset + y * rows_from / rows * from.planes[p].stride;
      auto* out = into + to.planes[p].offset + y * to.planes[p].stride;
      for (std::size_t x = 0; x < width; ++x, out += size)
        std::memcpy(out, row + x * width_from / width * size, size);
    }
  }
}

} // namespace hyperframes
