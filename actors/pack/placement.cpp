#include "actors/pack/placement.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

placement place(const pack_spec& spec, std::uint32_t width, std::uint32_t height) {
  placement p{0, 0, spec.width, spec.height, 0, 0, double(width), double(height)};
  const double across = double(spec.width) / width;
  const double down = double(spec.height) / height;
  if (spec.fit == fit_mode::letterbox) {
    const double scale = std::min(across, down);
    const auto side = [scale](std::uint32_t frame_side, std::uint32_t slot_side) {
      const auto pixels = static_cast<std::uint32_t>(std::lround(frame_side * scale));
      return std::clamp(pixels, 1U, slot_side);
    };
    p.width = side(width, spec.width);
    p.height = side(height, spec.height);
    p.left = (spec.width - p.width) / 2;
    p.top = (spec.height - p.height) / 2;
  } else if (spec.fit == fit_mode::crop) {
    const double scale = std::max(across, down);
    p.seen_width = spec.width / scale;
    p.seen_height = spec.height / scale;
    p.x = (width - p.seen_width) / 2;
    p.y = (height - p.seen_height) / 2;
  }
  return p;
}

slot_geometry geometry_from(const placement& p, std::uint32_t width, std::uint32_t height) {
  slot_geometry g;
  g.scale_x = static_cast<float>(p.width / p.seen_width);
  g.scale_y = static_cast<float>(p.height / p.seen_height);
  g.offset_x = static_cast<float>(p.left - p.x * p.width / p.seen_width);
  g.offset_y = static_cast<float>(p.top - p.y * p.height / p.seen_height);
  g.frame_width = width;
  g.frame_height = height;
  return g;
}

} // namespace hyperframes
