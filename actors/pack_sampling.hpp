#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

/// How `packer` scales 8-bit planes: one axis after the other, a target row at a time.
///
///   sample_down(...)   // the source rows of one target row, weighted and added up
///   sample_across(...) // that row's columns, one output row per component
namespace hyperframes {

/// For each target pixel a run of source samples and their weights, which add up to 1.
struct axis {
  struct run {
    std::uint32_t first, count, weights; // `weights`: index of the first one
  };
  std::vector<run> runs;
  std::vector<float> weights;
  std::uint32_t low = 0, high = 0; // source samples that are used: [low, high)
  bool copies = true;              // target pixel i is source sample low + i
  bool pairs = true;               // no run has more than two samples

  axis() = default;
  /// `targets` pixels see [begin, begin + length) of `samples` source samples.
  axis(std::uint32_t samples, double begin, double length, std::uint32_t targets) {
    const double step = length / targets;
    low = samples;
    for (std::uint32_t i = 0; i < targets; ++i) {
      if (step >= 2)
        add_box(samples, begin + i * step, begin + (i + 1) * step);
      else
        add_pair(samples, begin + (i + 0.5) * step - 0.5);
      const auto& r = runs.back();
      low = std::min(low, r.first);
      high = std::max(high, r.first + r.count);
      copies = copies && r.count == 1 && r.first == runs.front().first + i;
      pairs = pairs && r.count <= 2;
    }
  }

private:
  void add_box(std::uint32_t samples, double from, double to) {
    from = std::clamp(from, 0.0, samples - 1e-6);
    to = std::clamp(to, from + 1e-6, double(samples));
    const auto first = static_cast<std::uint32_t>(from);
    const auto last = std::min(samples - 1, static_cast<std::uint32_t>(std::ceil(to - 1e-9)) - 1);
    runs.push_back({first, last - first + 1, static_cast<std::uint32_t>(weights.size())});
    for (auto s = first; s <= last; ++s)
      weights.push_back(
        static_cast<float>((std::min(to, s + 1.0) - std::max(from, double(s))) / (to - from)));
  }
  void add_pair(std::uint32_t samples, double centre) {
    centre = std::clamp(centre, 0.0, samples - 1.0);
    const auto first = static_cast<std::uint32_t>(centre);
    const double part = centre - first;
    const std::uint32_t count = part > 1e-6 && first + 1 < samples ? 2 : 1;
    runs.push_back({first, count, static_cast<std::uint32_t>(weights.size())});
    weights.push_back(count == 2 ? static_cast<float>(1 - part) : 1.0F);
    if (count == 2)
      weights.push_back(static_cast<float>(part));
  }
};

/// One plane of the frame: `parts` interleaved components, sampled by two axes.
struct plane_sampler {
  std::uint32_t parts = 1;
  axis x, y;
};

// --- row kernels; plain loops that compilers turn into vector code

inline void
weighted_row(const std::uint8_t* __restrict a, float wa, float* __restrict out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = wa * float(a[i]);
}

inline void weighted_rows(
  const std::uint8_t* __restrict a, float wa, const std::uint8_t* __restrict b, float wb,
  float* __restrict out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = wa * float(a[i]) + wb * float(b[i]);
}

inline void add_rows(
  const std::uint8_t* __restrict a, float wa, const std::uint8_t* __restrict b, float wb,
  float* __restrict out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] += wa * float(a[i]) + wb * float(b[i]);
}

inline void
add_row(const std::uint8_t* __restrict a, float wa, float* __restrict out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] += wa * float(a[i]);
}

/// The source rows of one target row, weighted and added up, from column `x.low` on.
inline void sample_down(
  const plane_sampler& p, const std::uint8_t* pixels, std::size_t stride, std::uint32_t target_row,
  float* __restrict out) {
  const auto& run = p.y.runs[target_row];
  const float* w = p.y.weights.data() + run.weights;
  const std::size_t n = std::size_t{p.x.high - p.x.low} * p.parts;
  const std::uint8_t* row = pixels + run.first * stride + std::size_t{p.x.low} * p.parts;
  if (run.count == 1)
    return weighted_row(row, w[0], out, n);
  weighted_rows(row, w[0], row + stride, w[1], out, n);
  std::uint32_t k = 2;
  for (; k + 1 < run.count; k += 2)
    add_rows(row + k * stride, w[k], row + (k + 1) * stride, w[k + 1], out, n);
  if (k < run.count)
    add_row(row + k * stride, w[k], out, n);
}

template <std::size_t Parts>
inline void sample_across(const axis& x, const float* __restrict in, float* const* out) {
  const std::size_t n = x.runs.size();
  if (x.copies) {
    for (std::size_t c = 0; c < Parts; ++c) {
      float* __restrict o = out[c];
      for (std::size_t i = 0; i < n; ++i)
        o[i] = in[i * Parts + c];
    }
  } else if (x.pairs) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto& r = x.runs[i];
      const float* a = in + (r.first - x.low) * Parts;
      const float* b = a + (r.count - 1) * Parts;
      const float wa = x.weights[r.weights];
      for (std::size_t c = 0; c < Parts; ++c)
        out[c][i] = b[c] + wa * (a[c] - b[c]);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      const auto& r = x.runs[i];
      const float* a = in + (r.first - x.low) * Parts;
      const float* w = x.weights.data() + r.weights;
      float sum[Parts] = {};
      for (std::uint32_t k = 0; k < r.count; ++k)
        for (std::size_t c = 0; c < Parts; ++c)
          sum[c] += w[k] * a[k * Parts + c];
      for (std::size_t c = 0; c < Parts; ++c)
        out[c][i] = sum[c];
    }
  }
}

} // namespace hyperframes
