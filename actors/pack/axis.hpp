#pragma once

#include "actors/pack/rows.hpp"

#include <cstdint>
#include <vector>

namespace hyperframes {

/// For each target pixel along one side, a run of source samples and their weights, which add up
/// to 1: two samples, weighted by distance; the box that the pixel covers where a side shrinks by
/// 2 or more.
class axis {
public:
  axis() = default;

  /// `targets` pixels see [begin, begin + length) of `samples` source samples.
  axis(std::uint32_t samples, double begin, double length, std::uint32_t targets);

  struct run {
    std::uint32_t first, count;
    const float* weights;
  };
  run operator[](std::size_t target) const {
    const auto& r = runs_[target];
    return {r.first, r.count, weights_.data() + r.weights};
  }
  std::size_t targets() const { return runs_.size(); }

  std::uint32_t low() const { return low_; } ///< source samples that are used: [low, high)
  std::uint32_t high() const { return high_; }
  bool copies() const { return copies_; } ///< target pixel i is source sample low + i
  bool pairs() const { return pairs_; }   ///< no run has more than two samples
  /// n where target pixel i is the plain average of the n samples from low + i * n on, n from 2 to
  /// `most_box_step`; else 0.
  std::uint32_t box_step() const;

private:
  struct place {
    std::uint32_t first, count, weights; // `weights`: index of the first one
  };
  void add_box(std::uint32_t samples, double from, double to);
  void add_pair(std::uint32_t samples, double centre);

  std::vector<place> runs_;
  std::vector<float> weights_;
  std::uint32_t low_ = 0, high_ = 0;
  bool copies_ = true;
  bool pairs_ = true;
};

/// An axis with weights that are whole numbers of `weight_sum`.
class row_table {
public:
  row_table() = default;
  explicit row_table(const axis& y);

  struct run {
    std::uint32_t first, count;
    const std::int32_t* weights;
  };
  run operator[](std::size_t target) const {
    const auto& r = runs_[target];
    return {r.first, r.count, weights_.data() + r.weights};
  }

private:
  struct place {
    std::uint32_t first, count, weights;
  };
  std::vector<place> runs_;
  std::vector<std::int32_t> weights_;
};

/// An axis in the order in which the loops over columns read it; columns count from `low`.
class column_table {
public:
  column_table() = default;
  explicit column_table(const axis& x);
  bool pairs() const { return groups_ == 0; } ///< which of the two loops reads it
  column_runs runs() const {
    return {first_.data(), weights_.data(), near_.data(), targets_, groups_};
  }
  /// Floats that a row must have to be read across, which is more than `high - low`.
  std::size_t reach() const { return reach_; }

private:
  void add_pairs(const axis& x);
  void add_boxes(const axis& x);

  std::vector<std::int32_t> first_;
  std::vector<float> weights_;
  std::vector<std::int32_t> near_;
  std::size_t targets_ = 0;
  std::size_t groups_ = 0; // 0: pairs
  std::size_t reach_ = 0;
};

} // namespace hyperframes
