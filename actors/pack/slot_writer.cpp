#include "actors/pack/slot_writer.hpp"

#include "actors/half_float.hpp"
#include "actors/pack/colour.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

template <class F>
void with_value_type(data_type type, F f) {
  if (type == data_type::float32)
    f(float{});
  else if (type == data_type::float16)
    f(std::uint16_t{});
  else
    f(std::uint8_t{});
}

template <class T>
T stored(float v) {
  if constexpr (sizeof(T) == 2)
    return half_from_float(v);
  else
    return static_cast<T>(v);
}

template <class T>
void interleave(
  const std::array<std::vector<std::byte>, 3>& apart, T* __restrict out, std::size_t n) {
  const T* __restrict a = reinterpret_cast<const T*>(apart[0].data());
  const T* __restrict b = reinterpret_cast<const T*>(apart[1].data());
  const T* __restrict c = reinterpret_cast<const T*>(apart[2].data());
  for (std::size_t i = 0; i < n; ++i) {
    out[3 * i] = a[i];
    out[3 * i + 1] = b[i];
    out[3 * i + 2] = c[i];
  }
}

} // namespace

slot_writer::slot_writer(const pack_spec& spec, const row_kernels& rows)
  : spec_(spec),
    mix_(rows.mix[static_cast<std::size_t>(spec.type)]),
    channels_(spec.channel_count()),
    size_(size_of(spec.type)) {
  if (!planar())
    for (auto& row : apart_)
      row.resize(spec.width * size_);
}

void slot_writer::write(
  std::byte* slot, const area& to, const colour_mix& mix, const float* const* components) {
  void* out[3] = {};
  if (planar()) {
    for (std::uint32_t c = 0; c < channels_; ++c)
      out[c] = slot + ((std::size_t{c} * spec_.height + to.y) * spec_.width + to.x) * size_;
    return mix_(mix, components, out, to.width);
  }
  for (std::uint32_t c = 0; c < channels_; ++c)
    out[c] = apart_[c].data();
  mix_(mix, components, out, to.width);
  std::byte* pixels = slot + (std::size_t{to.y} * spec_.width + to.x) * 3 * size_;
  with_value_type(spec_.type, [&](auto value) {
    interleave(apart_, reinterpret_cast<decltype(value)*>(pixels), to.width);
  });
}

void slot_writer::pad(std::byte* slot, const area& to) const {
  if (to.width == 0 || to.height == 0)
    return;
  with_value_type(spec_.type, [&](auto value) {
    using T = decltype(value);
    T* const values = reinterpret_cast<T*>(slot);
    for (std::uint32_t c = 0; c < channels_; ++c) {
      const T v = stored<T>(padding_of(spec_, c));
      for (auto row = to.y; row < to.y + to.height; ++row) {
        if (planar()) {
          std::fill_n(
            values + (std::size_t{c} * spec_.height + row) * spec_.width + to.x, to.width, v);
          continue;
        }
        T* out = values + (std::size_t{row} * spec_.width + to.x) * 3 + c;
        for (std::uint32_t i = 0; i < to.width; ++i)
          out[i * 3] = v;
      }
    }
  });
}

} // namespace hyperframes
