#include "actors/pack/axis.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

axis::axis(std::uint32_t samples, double begin, double length, std::uint32_t targets)
  : low_(samples) {
  const double step = length / targets;
  for (std::uint32_t i = 0; i < targets; ++i) {
    if (step >= 2)
      add_box(samples, begin + i * step, begin + (i + 1) * step);
    else
      add_pair(samples, begin + (i + 0.5) * step - 0.5);
    const auto& r = runs_.back();
    low_ = std::min(low_, r.first);
    high_ = std::max(high_, r.first + r.count);
    copies_ = copies_ && r.count == 1 && r.first == runs_.front().first + i;
    pairs_ = pairs_ && r.count <= 2;
  }
}

std::uint32_t axis::box_step() const {
  const auto step = runs_.front().count;
  if (step < 2 || step > most_box_step)
    return 0;
  // Boxes of whole samples lie side by side.
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const auto r = (*this)[i];
    if (r.count != step)
      return 0;
    for (std::uint32_t k = 0; k < step; ++k)
      if (r.weights[k] != 1.0F / static_cast<float>(step))
        return 0;
  }
  return step;
}

void axis::add_box(std::uint32_t samples, double from, double to) {
  from = std::clamp(from, 0.0, samples - 1e-6);
  to = std::clamp(to, from + 1e-6, double(samples));
  const auto first = static_cast<std::uint32_t>(from);
  const auto last = std::min(samples - 1, static_cast<std::uint32_t>(std::ceil(to - 1e-9)) - 1);
  runs_.push_back({first, last - first + 1, static_cast<std::uint32_t>(weights_.size())});
  for (auto s = first; s <= last; ++s)
    weights_.push_back(
      static_cast<float>((std::min(to, s + 1.0) - std::max(from, double(s))) / (to - from)));
}

void axis::add_pair(std::uint32_t samples, double centre) {
  centre = std::clamp(centre, 0.0, samples - 1.0);
  const auto first = static_cast<std::uint32_t>(centre);
  const double part = centre - first;
  const std::uint32_t count = part > 1e-6 && first + 1 < samples ? 2 : 1;
  runs_.push_back({first, count, static_cast<std::uint32_t>(weights_.size())});
  weights_.push_back(count == 2 ? static_cast<float>(1 - part) : 1.0F);
  if (count == 2)
    weights_.push_back(static_cast<float>(part));
}

row_table::row_table(const axis& y) {
  for (std::size_t i = 0; i < y.targets(); ++i) {
    const auto from = y[i];
    place to{from.first, 0, static_cast<std::uint32_t>(weights_.size())};
    // Sums are rounded, not weights, so that the weights' errors cancel out.
    double sum = 0;
    std::int32_t given = 0;
    for (std::uint32_t k = 0; k < from.count; ++k) {
      sum += from.weights[k];
      const auto upto =
        k + 1 == from.count
          ? weight_sum
          : std::min(static_cast<std::int32_t>(std::lround(sum * weight_sum)), weight_sum);
      if (upto == given && to.count == 0) {
        ++to.first;
      } else {
        weights_.push_back(upto - given);
        ++to.count;
      }
      given = upto;
    }
    for (; weights_.back() == 0; --to.count)
      weights_.pop_back();
    runs_.push_back(to);
  }
}

column_table::column_table(const axis& x) : targets_(x.targets()) {
  first_.resize(whole_blocks(targets_));
  for (std::size_t i = 0; i < targets_; ++i)
    first_[i] = static_cast<std::int32_t>(x[i].first - x.low());
  for (std::size_t i = targets_; i < first_.size(); ++i)
    first_[i] = first_[targets_ - 1];
  // Boxes of one or two samples may lie further apart than the loop over pairs looks.
  bool near = x.pairs();
  for (std::size_t i = 0; i < first_.size(); ++i)
    near = near && first_[i] - first_[i / 4 * 4] < 7;
  if (near)
    add_pairs(x);
  else
    add_boxes(x);
  reach_ = static_cast<std::size_t>(first_.back()) + (near ? rows_block : 4 * groups_);
}

void column_table::add_pairs(const axis& x) {
  weights_.resize(first_.size());
  for (std::size_t i = 0; i < targets_; ++i)
    weights_[i] = x[i].count == 2 ? x[i].weights[1] : 0.0F;
  for (std::size_t i = 0; i < first_.size(); i += 4)
    for (std::int32_t k = 0; k < 2; ++k)
      for (std::size_t j = i; j < i + 4; ++j)
        near_.push_back(first_[j] - first_[i] + (i % rows_block == 0 ? k : 1 - k));
}

void column_table::add_boxes(const axis& x) {
  constexpr std::size_t place[rows_block] = {0, 2, 4, 6, 1, 3, 5, 7};
  std::uint32_t most = 1;
  for (std::size_t i = 0; i < targets_; ++i)
    most = std::max(most, x[i].count);
  groups_ = (most + 3) / 4;
  weights_.resize(first_.size() * groups_ * 4);
  for (std::size_t i = 0; i < targets_; ++i)
    for (std::uint32_t k = 0; k < x[i].count; ++k)
      weights_
        [((i / rows_block * groups_ + k / 4) * rows_block + place[i % rows_block]) * 4 + k % 4] =
          x[i].weights[k];
}

} // namespace hyperframes
