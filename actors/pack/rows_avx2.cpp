#include "actors/pack/rows_avx2.hpp"

#include <cstring>

#include <immintrin.h>

// Compiled for AVX2 and F16C: every function here is static, and none comes from a header that
// other sources use, else the linker might take the copy made here for machines without AVX2.
namespace hyperframes {

namespace {

// --- down

/// Puts the components of eight pixels apart, from `Parts` vectors in the frame's order.
template <std::size_t Parts>
void store_apart(const __m256* v, float* const* out, std::size_t at) {
  if constexpr (Parts == 1) {
    _mm256_storeu_ps(out[0] + at, v[0]);
  } else if constexpr (Parts == 2) {
    const __m256 even = _mm256_shuffle_ps(v[0], v[1], 0x88);
    const __m256 odd = _mm256_shuffle_ps(v[0], v[1], 0xdd);
    const auto in_order = [](__m256 x) {
      return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8));
    };
    _mm256_storeu_ps(out[0] + at, in_order(even));
    _mm256_storeu_ps(out[1] + at, in_order(odd));
  } else {
    // Each lane of one component is in one of the three vectors: select, then put in order.
    const __m256 a = _mm256_blend_ps(_mm256_blend_ps(v[0], v[1], 0x92), v[2], 0x24);
    const __m256 b = _mm256_blend_ps(_mm256_blend_ps(v[0], v[1], 0x24), v[2], 0x49);
    const __m256 c = _mm256_blend_ps(_mm256_blend_ps(v[0], v[1], 0x49), v[2], 0x92);
    const __m256i order_a = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5);
    const __m256i order_b = _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6);
    const __m256i order_c = _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7);
    _mm256_storeu_ps(out[0] + at, _mm256_permutevar8x32_ps(a, order_a));
    _mm256_storeu_ps(out[1] + at, _mm256_permutevar8x32_ps(b, order_b));
    _mm256_storeu_ps(out[2] + at, _mm256_permutevar8x32_ps(c, order_c));
  }
}

/// 32 samples of one row, so ordered that unpacking them twice puts them into their order.
__m256i samples(const std::uint8_t* p) {
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  return _mm256_permutevar8x32_epi32(
    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), order);
}

/// The weights of two rows, for `add_two`.
__m256i two_weights(std::int32_t a, std::int32_t b) {
  return _mm256_set1_epi32(b << 16 | a);
}

/// Adds the samples of two rows, weighted by `w`, to 4 vectors of whole numbers.
void add_two(__m256i* sum, __m256i a, __m256i b, __m256i w) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i low = _mm256_unpacklo_epi8(a, b);
  const __m256i high = _mm256_unpackhi_epi8(a, b);
  const auto add = [w](__m256i& s, __m256i ab) {
    s = _mm256_add_epi32(s, _mm256_madd_epi16(ab, w));
  };
  add(sum[0], _mm256_unpacklo_epi8(low, zero));
  add(sum[1], _mm256_unpackhi_epi8(low, zero));
  add(sum[2], _mm256_unpacklo_epi8(high, zero));
  add(sum[3], _mm256_unpackhi_epi8(high, zero));
}

/// The weighted sums of 32 samples of all rows; `row(k)` is where row k has them. One or two
/// rows, which are most, are known to the compiler as `Count`; else it is 0.
template <std::uint32_t Count>
class row_sum {
public:
  explicit row_sum(const source_rows& in)
    : weights_(in.weights),
      count_(in.count),
      // A single weight does not fit into 16 bits: its row is taken twice.
      first_(
        Count == 1 ? two_weights(weight_sum / 2, weight_sum / 2)
                   : two_weights(in.weights[0], in.weights[1])) {}

  template <class Row>
  void operator()(__m256* out, Row row) const {
    const __m256i zero = _mm256_setzero_si256();
    __m256i sum[4] = {zero, zero, zero, zero};
    const __m256i a = samples(row(0));
    add_two(sum, a, Count == 1 ? a : samples(row(1)), first_);
    if constexpr (Count == 0) {
      std::uint32_t k = 2;
      for (; k + 1 < count_; k += 2) {
        const __m256i b = samples(row(k));
        add_two(sum, b, samples(row(k + 1)), two_weights(weights_[k], weights_[k + 1]));
      }
      if (k < count_)
        add_two(sum, samples(row(k)), zero, two_weights(weights_[k], 0));
    }
    for (std::size_t v = 0; v < 4; ++v)
      out[v] = _mm256_cvtepi32_ps(sum[v]);
  }

private:
  const std::int32_t* weights_;
  std::uint32_t count_;
  __m256i first_;
};

template <std::size_t Parts, std::uint32_t Count>
void down_rows(const source_rows& in, float* const* out_rows) {
  // Whole pixels in whole vectors.
  constexpr std::size_t loads = Parts == 3 ? 3 : 1;
  constexpr std::size_t pixels = 32 * loads / Parts;
  // Copied, for the compiler must take it that what is stored below changes what `in` refers to.
  const std::uint8_t* s = in.first;
  const std::size_t stride = in.stride;
  const std::size_t columns = in.columns;
  const row_sum<Count> sum_of(in);
  float* const out[3] = {out_rows[0], out_rows[1], out_rows[2]};
  const auto store = [&out](const __m256* sum, std::size_t at, std::size_t n) {
    for (std::size_t i = 0; i < n; i += 8)
      store_apart<Parts>(sum + i / 8 * Parts, out, at + i);
  };
  std::size_t at = 0;
  for (; at + pixels <= columns; at += pixels, s += pixels * Parts) {
    __m256 sum[4 * loads];
    for (std::size_t v = 0; v < loads; ++v)
      sum_of(sum + 4 * v, [=](std::uint32_t k) { return s + k * stride + 32 * v; });
    store(sum, at, pixels);
  }
  if (at == columns)
    return;
  // Behind the last column may be the end of the memory.
  const std::size_t left = columns - at;
  std::uint8_t copy[2][32 * loads] = {};
  __m256 sum[4 * loads];
  for (std::size_t v = 0; v < loads; ++v)
    sum_of(sum + 4 * v, [&](std::uint32_t k) {
      std::memcpy(copy[k % 2], s + k * stride, left * Parts);
      return copy[k % 2] + 32 * v;
    });
  store(sum, at, left);
}

template <std::size_t Parts>
void down_parts(const source_rows& in, float* const* out) {
  if (in.count == 1)
    down_rows<Parts, 1>(in, out);
  else if (in.count == 2)
    down_rows<Parts, 2>(in, out);
  else
    down_rows<Parts, 0>(in, out);
}

void down(const source_rows& in, float* const* out) {
  if (in.parts == 1)
    down_parts<1>(in, out);
  else if (in.parts == 2)
    down_parts<2>(in, out);
  else
    down_parts<3>(in, out);
}

/// Adds up the columns of eight boxes, at most four each: in each lane the first two columns of
/// four boxes, then the last two.
class box_columns {
public:
  explicit box_columns(std::size_t step) : step_(step) {
    std::uint8_t place[16];
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t column = i / 8 * 2 + i % 2;
      place[i] = static_cast<std::uint8_t>(column < step ? i % 8 / 2 * step + column : 0x80);
    }
    places_ = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(place)));
  }

  /// Bytes that are read from where the boxes begin.
  std::size_t reach() const { return 4 * step_ + 16; }

  __m256i operator()(const std::uint8_t* p) const {
    const auto four = [](const std::uint8_t* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    const __m256i bytes =
      _mm256_inserti128_si256(_mm256_castsi128_si256(four(p)), four(p + 4 * step_), 1);
    return _mm256_maddubs_epi16(_mm256_shuffle_epi8(bytes, places_), _mm256_set1_epi8(1));
  }

private:
  std::size_t step_;
  __m256i places_;
};

/// Rows in pairs as in `row_sum`; `row(k)` is where row k has the first of eight boxes.
template <class Row>
__m256 eight_boxes(const source_rows& in, const box_columns& columns, __m256i first_two, Row row) {
  const auto two = [](__m256i a, __m256i b, __m256i w) {
    return _mm256_add_epi32(
      _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), w),
      _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), w));
  };
  const __m256i a = columns(row(0));
  if (in.count == 1) // its weight does not fit into 16 bits
    return _mm256_cvtepi32_ps(two(a, a, first_two));
  __m256i sum = two(a, columns(row(1)), first_two);
  for (std::uint32_t k = 2; k < in.count; k += 2) {
    const bool last = k + 1 == in.count;
    const __m256i b = columns(row(k));
    const __m256i c = last ? _mm256_setzero_si256() : columns(row(k + 1));
    sum =
      _mm256_add_epi32(sum, two(b, c, two_weights(in.weights[k], last ? 0 : in.weights[k + 1])));
  }
  return _mm256_cvtepi32_ps(sum);
}

void down_boxes(const source_rows& rows, std::uint32_t step, float* out) {
  const source_rows in = rows; // what is stored below might change it
  const box_columns columns(step);
  const __m256i first_two = in.count == 1 ? two_weights(weight_sum / 2, weight_sum / 2)
                                          : two_weights(in.weights[0], in.weights[1]);
  const __m256 part = _mm256_set1_ps(1.0F / static_cast<float>(step));
  const std::size_t eight = rows_block * step;
  std::size_t at = 0;
  for (; at + columns.reach() <= in.columns && at + eight <= in.columns; at += eight, out += 8) {
    const std::uint8_t* s = in.first + at;
    const __m256 sum =
      eight_boxes(in, columns, first_two, [=](std::uint32_t k) { return s + k * in.stride; });
    _mm256_storeu_ps(out, _mm256_mul_ps(sum, part));
  }
  // Behind the last column may be the end of the memory.
  for (; at < in.columns; at += eight, out += 8) {
    const std::size_t left = in.columns - at < eight ? in.columns - at : eight;
    std::uint8_t copy[2][4 * most_box_step + 16] = {};
    const __m256 sum = eight_boxes(in, columns, first_two, [&](std::uint32_t k) {
      std::memcpy(copy[k % 2], in.first + at + k * in.stride, left);
      return copy[k % 2];
    });
    _mm256_storeu_ps(out, _mm256_mul_ps(sum, part));
  }
}

// --- across

void across_pairs(const column_runs& runs, const float* in, float* out) {
  const column_runs r = runs; // what is stored below might change it
  const auto* near = reinterpret_cast<const __m256i*>(r.near);
  for (std::size_t i = 0; i < r.targets; i += rows_block, near += 2) {
    const auto taken = [&](std::size_t from, const __m256i* places) {
      return _mm256_permutevar8x32_ps(
        _mm256_loadu_ps(in + r.first[from]), _mm256_loadu_si256(places));
    };
    const __m256 low = taken(i, near);          // a0 a1 a2 a3 b0 b1 b2 b3
    const __m256 high = taken(i + 4, near + 1); // b4 b5 b6 b7 a4 a5 a6 a7
    const __m256 a = _mm256_blend_ps(low, high, 0xf0);
    const __m256 b = _mm256_permute2f128_ps(low, high, 0x21);
    const __m256 w = _mm256_loadu_ps(r.weights + i);
    _mm256_storeu_ps(out + i, _mm256_add_ps(a, _mm256_mul_ps(w, _mm256_sub_ps(b, a))));
  }
}

__m256 two_fours(const float* low, const float* high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

void across_boxes(const column_runs& runs, const float* in, float* out) {
  const column_runs r = runs; // what is stored below might change it
  const float* w = r.weights;
  for (std::size_t i = 0; i < r.targets; i += rows_block) {
    const std::int32_t* first = r.first + i;
    __m256 sum[4];
    for (std::size_t j = 0; j < 4; ++j, w += 8)
      sum[j] = _mm256_mul_ps(_mm256_loadu_ps(w), two_fours(in + first[j], in + first[j + 4]));
    for (std::size_t g = 4; g < 4 * r.groups; g += 4)
      for (std::size_t j = 0; j < 4; ++j, w += 8)
        sum[j] = _mm256_add_ps(
          sum[j],
          _mm256_mul_ps(_mm256_loadu_ps(w), two_fours(in + first[j] + g, in + first[j + 4] + g)));
    _mm256_storeu_ps(
      out + i, _mm256_hadd_ps(_mm256_hadd_ps(sum[0], sum[1]), _mm256_hadd_ps(sum[2], sum[3])));
  }
}

// --- mix

void store(float* out, __m256 v) {
  _mm256_storeu_ps(out, v);
}
void store(std::uint16_t* out, __m256 v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
void store(std::uint8_t* out, __m256 v) {
  const __m256i whole = _mm256_cvttps_epi32(v);
  const __m128i words =
    _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(words, words));
}

/// One channel's constants in vectors.
struct channel {
  __m256 weight[3], term, low, high;
  channel(const colour_mix& m, std::size_t c)
    : weight{_mm256_set1_ps(m.weight[c][0]), _mm256_set1_ps(m.weight[c][1]), _mm256_set1_ps(m.weight[c][2])},
      term(_mm256_set1_ps(m.term[c])),
      low(_mm256_set1_ps(m.low[c])),
      high(_mm256_set1_ps(m.high[c])) {}
  __m256 cut(__m256 v) const {
    return _mm256_min_ps(_mm256_max_ps(_mm256_add_ps(v, term), low), high);
  }
  __m256 one(std::size_t k, __m256 x) const { return cut(_mm256_mul_ps(weight[k], x)); }
  __m256 two(std::size_t k, __m256 x, __m256 y) const {
    return cut(_mm256_add_ps(_mm256_mul_ps(weight[0], x), _mm256_mul_ps(weight[k], y)));
  }
  __m256 all(__m256 x, __m256 y, __m256 z) const {
    const __m256 xy = _mm256_add_ps(_mm256_mul_ps(weight[0], x), _mm256_mul_ps(weight[1], y));
    return cut(_mm256_add_ps(xy, _mm256_mul_ps(weight[2], z)));
  }
};

/// Calls `values_at(i, v)` for blocks of eight and stores the vectors v of `Channels`; of the last
/// block what is within `n`.
template <class T, std::size_t Channels, class Values>
void each_block(void* const* out_rows, std::size_t n, Values values_at) {
  T* out[Channels];
  for (std::size_t c = 0; c < Channels; ++c)
    out[c] = static_cast<T*>(out_rows[c]);
  __m256 v[Channels];
  std::size_t i = 0;
  for (; i + rows_block <= n; i += rows_block) {
    values_at(i, v);
    for (std::size_t c = 0; c < Channels; ++c)
      store(out[c] + i, v[c]);
  }
  if (i == n)
    return;
  values_at(i, v);
  for (std::size_t c = 0; c < Channels; ++c) {
    T rest[rows_block];
    store(rest, v[c]);
    std::memcpy(out[c] + i, rest, (n - i) * sizeof(T));
  }
}

template <class T>
void mix_row(const colour_mix& m, const float* const* components, void* const* out, std::size_t n) {
  const float* x = components[m.from[0]];
  const float* y = components[m.from[1]];
  const float* z = components[m.from[2]];
  const auto at = [](const float* p, std::size_t i) { return _mm256_loadu_ps(p + i); };
  if (m.what == colour_mix::kind::yuv) {
    const channel first(m, 0), second(m, 1), third(m, 2);
    each_block<T, 3>(out, n, [=](std::size_t i, __m256* v) {
      const __m256 a = at(x, i), b = at(y, i), c = at(z, i);
      v[0] = first.two(2, a, c);
      v[1] = second.all(a, b, c);
      v[2] = third.two(1, a, b);
    });
  } else if (m.what == colour_mix::kind::merged) {
    const channel only(m, 0);
    each_block<T, 1>(
      out, n, [=](std::size_t i, __m256* v) { v[0] = only.all(at(x, i), at(y, i), at(z, i)); });
  } else {
    for (std::size_t c = 0; c < m.channels; ++c) {
      const channel one(m, c);
      const float* from = components[m.from[c]];
      each_block<T, 1>(
        out + c, n, [=](std::size_t i, __m256* v) { v[0] = one.one(c, at(from, i)); });
    }
  }
}

} // namespace

const row_kernels avx2_rows{
  "avx2",       down,         down_boxes,
  across_pairs, across_boxes, {mix_row<float>, mix_row<std::uint16_t>, mix_row<std::uint8_t>}};

} // namespace hyperframes
