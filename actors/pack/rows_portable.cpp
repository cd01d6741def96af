#include "actors/half_float.hpp"
#include "actors/pack/rows.hpp"

#include <algorithm>

/// Plain loops without branches, which compilers turn into vector code.
namespace hyperframes {

namespace {

// --- down: contiguous rows first, a piece at a time, components apart afterwards

constexpr std::size_t piece = 192; // samples, whole pixels for 1, 2 and 3 parts

void first_row(const std::uint8_t* __restrict s, float w, float* __restrict sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    sum[i] = w * float(s[i]);
}

void next_row(const std::uint8_t* __restrict s, float w, float* __restrict sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    sum[i] += w * float(s[i]);
}

void two_rows(
  const std::uint8_t* __restrict s, float w, const std::uint8_t* __restrict t, float v,
  float* __restrict sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    sum[i] = w * float(s[i]) + v * float(t[i]);
}

/// Whole numbers below 2^24 in floats: exact.
void sum_rows(const source_rows& in, const std::uint8_t* s, float* sum, std::size_t n) {
  const auto weight = [&](std::uint32_t k) { return static_cast<float>(in.weights[k]); };
  std::uint32_t k = 1;
  if (in.count == 1)
    first_row(s, weight(0), sum, n);
  else
    two_rows(s, weight(0), s + in.stride, weight(k++), sum, n);
  for (; k < in.count; ++k)
    next_row(s + k * in.stride, weight(k), sum, n);
}

template <std::size_t Parts>
void apart(const float* __restrict sum, float* const* out, std::size_t at, std::size_t n) {
  for (std::size_t c = 0; c < Parts; ++c) {
    float* __restrict o = out[c] + at;
    for (std::size_t i = 0; i < n; ++i)
      o[i] = sum[i * Parts + c];
  }
}

void down(const source_rows& in, float* const* out) {
  if (in.parts == 1)
    return sum_rows(in, in.first, out[0], in.columns);
  float sum[piece];
  const std::size_t pixels = piece / in.parts;
  for (std::size_t at = 0; at < in.columns; at += pixels) {
    const std::size_t n = std::min(pixels, in.columns - at);
    sum_rows(in, in.first + at * in.parts, sum, n * in.parts);
    if (in.parts == 2)
      apart<2>(sum, out, at, n);
    else
      apart<3>(sum, out, at, n);
  }
}

template <std::size_t Step>
void boxes(const source_rows& in, float* __restrict out) {
  constexpr std::size_t most = 128;
  std::int32_t sum[most];
  const std::size_t targets = in.columns / Step;
  for (std::size_t at = 0; at < targets; at += most) {
    const std::size_t n = std::min(most, targets - at);
    std::fill_n(sum, n, 0);
    for (std::uint32_t k = 0; k < in.count; ++k) {
      const std::uint8_t* __restrict s = in.first + k * in.stride + at * Step;
      const std::int32_t w = in.weights[k];
      for (std::size_t i = 0; i < n; ++i) {
        std::int32_t box = 0;
        for (std::size_t j = 0; j < Step; ++j)
          box += s[i * Step + j];
        sum[i] += w * box;
      }
    }
    for (std::size_t i = 0; i < n; ++i)
      out[at + i] = static_cast<float>(sum[i]) * (1.0F / Step);
  }
}

void down_boxes(const source_rows& in, std::uint32_t step, float* out) {
  if (step == 2)
    boxes<2>(in, out);
  else if (step == 3)
    boxes<3>(in, out);
  else
    boxes<4>(in, out);
}

// --- across

void across_pairs(const column_runs& runs, const float* in, float* __restrict out) {
  for (std::size_t i = 0; i < runs.targets; ++i) {
    const float* a = in + runs.first[i];
    out[i] = a[0] + runs.weights[i] * (a[1] - a[0]);
  }
}

void across_boxes(const column_runs& runs, const float* in, float* __restrict out) {
  constexpr std::size_t place[rows_block] = {0, 8, 16, 24, 4, 12, 20, 28};
  for (std::size_t i = 0; i < runs.targets; ++i) {
    const float* a = in + runs.first[i];
    const float* w = runs.weights + i / rows_block * runs.groups * 32 + place[i % rows_block];
    float p[4] = {w[0] * a[0], w[1] * a[1], w[2] * a[2], w[3] * a[3]};
    for (std::size_t g = 1; g < runs.groups; ++g) {
      w += 32;
      a += 4;
      for (std::size_t j = 0; j < 4; ++j)
        p[j] += w[j] * a[j];
    }
    out[i] = (p[0] + p[1]) + (p[2] + p[3]);
  }
}

// --- mix

template <class T>
T stored(float v) {
  return v;
}
template <>
std::uint16_t stored(float v) {
  return half_from_float(v);
}
template <>
std::uint8_t stored(float v) {
  return static_cast<std::uint8_t>(static_cast<int>(v));
}

template <class T>
void mix_row(const colour_mix& m, const float* const* components, void* const* out, std::size_t n) {
  const float* a[3];
  for (std::size_t i = 0; i < 3; ++i)
    a[i] = components[m.from[i]];
  for (std::size_t c = 0; c < m.channels; ++c) {
    T* __restrict o = static_cast<T*>(out[c]);
    const float term = m.term[c], low = m.low[c], high = m.high[c];
    const auto cut = [=](float v) {
      v += term;
      v = v > low ? v : low;
      return stored<T>(v < high ? v : high);
    };
    const float *x = a[0], *y = a[1], *z = a[2];
    const float p = m.weight[c][0], q = m.weight[c][1], r = m.weight[c][2];
    if (m.what == colour_mix::kind::each) {
      const float* s = a[c];
      const float w = m.weight[c][c];
      for (std::size_t i = 0; i < n; ++i)
        o[i] = cut(w * s[i]);
    } else if (m.what == colour_mix::kind::yuv && c == 0) {
      for (std::size_t i = 0; i < n; ++i)
        o[i] = cut(p * x[i] + r * z[i]);
    } else if (m.what == colour_mix::kind::yuv && c == 2) {
      for (std::size_t i = 0; i < n; ++i)
        o[i] = cut(p * x[i] + q * y[i]);
    } else {
      for (std::size_t i = 0; i < n; ++i)
        o[i] = cut(p * x[i] + q * y[i] + r * z[i]);
    }
  }
}

} // namespace

const row_kernels portable_rows{
  "portable",   down,         down_boxes,
  across_pairs, across_boxes, {mix_row<float>, mix_row<std::uint16_t>, mix_row<std::uint8_t>}};

} // namespace hyperframes
