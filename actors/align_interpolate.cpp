#include "actors/align_interpolate.hpp"

#include <cmath>
#include <cstring>

namespace hyperframes {

namespace {

std::size_t elements_of(const tensor_format& t) {
  std::size_t n = 1;
  for (const auto side : t.shape)
    n *= side > 0 ? static_cast<std::size_t>(side) : 0;
  return n;
}

bool usable(const frame& f) {
  return f.media && can_interpolate(f.media.get()) && !(f.meta.flags & frame_corrupt)
         && f.buffer.size() >= vector_bytes(*f.media);
}

template <class Time>
Time part_way(Time a, Time b, double share) {
  return a + duration{std::llround(share * static_cast<double>((b - a).count()))};
}

} // namespace

bool can_interpolate(const media_type* media) {
  return media && media->what == media_type::kind::tensor
         && media->tensor.type == data_type::float32;
}

std::size_t vector_bytes(const media_type& media) {
  return elements_of(media.tensor) * sizeof(float);
}

std::optional<frame> vector_interpolator::between(const frame& a, const frame& b, double share) {
  if (
    !usable(a) || !usable(b) || a.meta.epoch != b.meta.epoch
    || a.media->tensor.shape != b.media->tensor.shape)
    return std::nullopt;
  const auto bytes = vector_bytes(*a.media);
  const auto count = bytes / sizeof(float);
  if (pool_.slot_bytes() < bytes)
    pool_ = buffer_pool{slots_, bytes};
  auto buffer = pool_.acquire();
  if (!buffer)
    return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    float va = 0, vb = 0;
    std::memcpy(&va, a.buffer.data() + i * sizeof(float), sizeof va);
    std::memcpy(&vb, b.buffer.data() + i * sizeof(float), sizeof vb);
    const auto v = static_cast<float>(va + share * (static_cast<double>(vb) - va));
    std::memcpy(buffer.data() + i * sizeof(float), &v, sizeof v);
  }
  frame f{a.meta, a.media, std::move(buffer)};
  f.meta.captured = part_way(a.meta.captured, b.meta.captured, share);
  f.meta.timeline = part_way(a.meta.timeline, b.meta.timeline, share);
  f.meta.flags = static_cast<std::uint16_t>((f.meta.flags & ~frame_key) | frame_interpolated);
  return f;
}

} // namespace hyperframes
