#include "actors/pack/colour.hpp"

#include <algorithm>
#include <utility>

namespace hyperframes {

namespace {

bool is_yuv(const video_format& f) {
  return f.format == pixel_format::i420 || f.format == pixel_format::nv12;
}

/// colour = weight[0] a[0] + weight[1] a[1] + weight[2] a[2] + term, in pixel values.
struct colour_sum {
  double weight[3] = {0, 0, 0};
  double term = 0;
};

/// Luma is scaled and moved, chroma scaled around 128. @returns red, green, blue of Y, U, V.
std::array<colour_sum, 3> yuv_matrix(const video_format& f) {
  const double red = f.bt709 ? 0.2126 : 0.299;
  const double blue = f.bt709 ? 0.0722 : 0.114;
  const double green = 1 - red - blue;
  const double luma = f.full_range ? 1.0 : 255.0 / 219;
  const double chroma = f.full_range ? 1.0 : 255.0 / 224;
  const double v_red = chroma * 2 * (1 - red);
  const double u_blue = chroma * 2 * (1 - blue);
  std::array<colour_sum, 3> sums{{
    {{luma, 0, v_red}},
    {{luma, -u_blue * blue / green, -v_red * red / green}},
    {{luma, u_blue, 0}},
  }};
  for (auto& s : sums)
    s.term = (f.full_range ? 0 : -16 * luma) - 128 * (s.weight[1] + s.weight[2]);
  return sums;
}

/// Puts `sum`, normalised for channel `c`, into `mix`.
void set_channel(colour_mix& mix, std::uint32_t c, const colour_sum& sum, const pack_spec& spec) {
  const double factor = double(spec.scale) / double(spec.deviation[c]);
  double term = -double(spec.mean[c]) / double(spec.deviation[c]);
  if (spec.type == data_type::uint8)
    term += 0.5; // what is stored is cut off
  for (std::size_t k = 0; k < 3; ++k)
    mix.weight[c][k] = static_cast<float>(factor * sum.weight[k] / weight_sum);
  mix.term[c] = static_cast<float>(factor * sum.term + term);
  const auto [low, high] = std::minmax({term, factor * 255 + term});
  mix.low[c] = static_cast<float>(low);
  mix.high[c] = static_cast<float>(high);
}

} // namespace

std::uint32_t components_used(const video_format& f, const pack_spec& spec) {
  const bool gray = spec.channels == channel_order::gray;
  return f.format == pixel_format::gray8 || (gray && is_yuv(f)) ? 1 : 3;
}

colour_mix mix_for(const video_format& f, const pack_spec& spec) {
  const bool gray = spec.channels == channel_order::gray;
  const bool blue_first = spec.channels == channel_order::bgr;
  colour_mix mix;
  mix.channels = static_cast<std::uint8_t>(spec.channel_count());
  if (is_yuv(f)) {
    auto sums = yuv_matrix(f);
    if (gray) {
      const auto& luma = sums[0].weight[0];
      set_channel(mix, 0, {{luma, 0, 0}, f.full_range ? 0 : -16 * luma}, spec);
      return mix;
    }
    mix.what = colour_mix::kind::yuv;
    if (blue_first) {
      // The first channel is made of the first and the last component: swap U and V.
      std::swap(sums[0], sums[2]);
      std::swap(mix.from[1], mix.from[2]);
      for (auto& s : sums)
        std::swap(s.weight[1], s.weight[2]);
    }
    for (std::uint32_t c = 0; c < 3; ++c)
      set_channel(mix, c, sums[c], spec);
    return mix;
  }
  const bool swapped = f.format == pixel_format::bgr24;
  if (components_used(f, spec) == 1)
    mix.from[1] = mix.from[2] = 0;
  else if (swapped != blue_first)
    std::swap(mix.from[0], mix.from[2]);
  if (gray && f.format != pixel_format::gray8) {
    mix.what = colour_mix::kind::merged;
    set_channel(mix, 0, {{0.299, 0.587, 0.114}}, spec);
    return mix;
  }
  for (std::uint32_t c = 0; c < mix.channels; ++c) {
    colour_sum same;
    same.weight[c] = 1;
    set_channel(mix, c, same, spec);
  }
  return mix;
}

float padding_of(const pack_spec& spec, std::uint32_t c) {
  const double rounding = spec.type == data_type::uint8 ? 0.5 : 0;
  return static_cast<float>(
    (spec.pad_value * double(spec.scale) - double(spec.mean[c])) / double(spec.deviation[c])
    + rounding);
}

} // namespace hyperframes
