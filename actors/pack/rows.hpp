#pragma once

#include <cstddef>
#include <cstdint>

/// The loops of `packer` over one target row. There is one portable set and, for x86, one for AVX2;
/// both give the same bits: the arithmetic below is single precision, in the order that is written,
/// and never fused. Their sources are compiled with instructions that not every machine has, so
/// this header defines nothing that needs a linker and includes nothing that does.
///
/// Rows of floats are as long as whole blocks of `rows_block`, and those that are read across as
/// long as `column_table::reach` says; what stands behind a row's own values is finite and changes
/// no result.
namespace hyperframes {

inline constexpr std::size_t rows_block = 8; ///< pixels that are worked on together

constexpr std::size_t whole_blocks(std::size_t n) {
  return (n + rows_block - 1) / rows_block * rows_block;
}

/// What the weights of rows add up to: components are samples times this. A power of two with which
/// every sum of `down` is a whole number that single precision holds.
inline constexpr std::int32_t weight_sum = 1 << 15;

/// Boxes of so many columns at most are added up before rows are: their sums fit 32 bits.
inline constexpr std::uint32_t most_box_step = 4;

/// Source rows of 8-bit samples, `parts` interleaved components each, that one target row sees.
struct source_rows {
  const std::uint8_t* first;   ///< of the first row, at the first column that is used
  std::size_t stride;          ///< bytes from one row to the next
  const std::int32_t* weights; ///< one for each row, 1 to `weight_sum`
  std::uint32_t count;         ///< rows, at least 1
  std::uint32_t parts;         ///< 1 to 3
  std::size_t columns;         ///< samples of each component; nothing behind them is read
};

/// The columns that each target pixel sees, from `first[i]` on. All arrays are padded to whole
/// blocks of `rows_block` pixels.
struct column_runs {
  const std::int32_t* first;
  /// Pairs: of the second column. Boxes: groups of four columns; the weights of a block come group
  /// by group, those of its pixels in the order 0 4 1 5 2 6 3 7, four each.
  const float* weights;
  /// Pairs: for the first four pixels of a block the columns from the first one's `first` on, first
  /// and second columns, then for the last four second and first columns. None is above 7.
  const std::int32_t* near;
  std::size_t targets;
  std::size_t groups; ///< boxes
};

/// How three components become the channels of a tensor: each channel is a weighted sum of
/// components and a term, cut off at `low` and `high`. Scale, mean and deviation are part of it.
struct colour_mix {
  enum class kind : std::uint8_t {
    each,  ///< channel c = w[c][c] a[c]
    yuv,   ///< w[0][0] a[0] + w[0][2] a[2]; all three, in order; w[2][0] a[0] + w[2][1] a[1]
    merged ///< channel 0 = w[0][0] a[0] + w[0][1] a[1] + w[0][2] a[2]
  };
  kind what = kind::each;
  std::uint8_t channels = 3;     ///< 1 or 3; 1 where merged
  std::uint8_t from[3]{0, 1, 2}; ///< a[i] is the frame's component from[i]
  float weight[3][3]{};
  float term[3]{}, low[3]{}, high[3]{};
};

struct row_kernels {
  const char* name; ///< "portable" or "avx2"

  /// out[c][i] = w[0] s[0] + w[1] s[1] + ..., s[k] = component c of column i in row k.
  void (*down)(const source_rows& in, float* const* out);

  /// out[i] = (w[0] s[0] + w[1] s[1] + ...) (1 / step), s[k] = the sum of the `step` columns from
  /// i * step on in row k. For one part, whole runs of columns, and 2 to `most_box_step`.
  void (*down_boxes)(const source_rows& in, std::uint32_t step, float* out);

  /// out[i] = a + w (b - a), a = in[first], b = in[first + 1].
  void (*across_pairs)(const column_runs& runs, const float* in, float* out);

  /// out[i] = (p[0] + p[1]) + (p[2] + p[3]), p[j] = the sum of w[k] in[first + k] for k = j, j + 4,
  /// ...
  void (*across_boxes)(const column_runs& runs, const float* in, float* out);

  /// out[c][i] = min(max(weighted sum + term, low), high), stored as float32, float16 (rounded to
  /// nearest even) or uint8 (cut off: `term` contains 0.5); by the value of `data_type`. Writes
  /// `n` values of each channel and no more.
  using mix_row =
    void (*)(const colour_mix& mix, const float* const* a, void* const* out, std::size_t n);
  mix_row mix[3];
};

extern const row_kernels portable_rows;

/// What a machine can do beyond what this is compiled for.
struct instruction_sets {
  bool avx2, f16c;
};

/// The fastest set for a machine that has these.
const row_kernels& rows_for(instruction_sets machine) noexcept;

/// That for this machine.
const row_kernels& fastest_rows() noexcept;

} // namespace hyperframes
