#include "actors/batch_sizer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

namespace hyperframes {

std::uint32_t batch_sizer::largest() const {
  return std::max(1U, options_.most / unit_);
}

std::uint32_t batch_sizer::slots() const {
  return std::min(options_.most, size_ * unit_);
}

/// @returns the next size to try; the same one where there is none.
std::uint32_t batch_sizer::neighbour(bool upwards) const {
  if (!upwards)
    return std::max(1U, std::min(size_ - 1, (size_ * 2 + 2) / 3));
  const auto next = climbing_ ? size_ * 2 : std::max(size_ + 1, size_ * 3 / 2);
  return std::max(size_, std::min({next, largest(), most_that_fit()}));
}

void batch_sizer::saw_hyperframe(std::uint32_t slots) {
  if (slots <= unit_)
    return;
  unit_ = slots;
  known_.clear();
  from_ = 0;
  move_to(1);
}

void batch_sizer::move_to(std::uint32_t size) {
  size_ = size;
  now_ = {};
  misses_ = 0;
}

void batch_sizer::took(std::uint32_t slots, bool full, duration service) {
  const bool mine = slots <= this->slots(); // not one that left before the size shrank
  const auto seconds = std::max(in_seconds(service), 1e-9);
  const bool miss = service > options_.target;
  if (mine) {
    misses_ = (misses_ << 1 | (miss ? 1U : 0U)) & 0xffU;
    if (miss && from_ != 0 && size_ > from_)
      return end_trial_by_miss(slots, seconds);
    if (std::popcount(misses_) >= 2)
      return shrink(seconds * size_ * unit_ / std::max(slots, 1U));
  }
  // One that is nearly full is as full as hyperframes of several sizes can make it.
  if (!full || !mine || slots + unit_ <= this->slots())
    return;
  now_.slots += slots;
  now_.seconds += seconds;
  now_.slowest = std::max(now_.slowest, seconds);
  if (++now_.batches == reading)
    on_reading();
}

void batch_sizer::on_reading() {
  const auto before = known_.find(size_);
  const bool other = from_ == 0 && before != known_.end()
                     && std::abs(now_.each() / before->second.each() - 1) > other_time;
  if (other) {
    known_.clear();
    rest_ = 1;
    rested_ = 0;
  }
  known_[size_] = std::exchange(now_, {});
  if (from_ != 0)
    compare();
  else if (++rested_ >= rest_)
    look_around();
}

/// The trial is over: its size stays, or the old one comes back.
void batch_sizer::compare() {
  if (known_[size_].rate() < (1 + least_gain) * known_[from_].rate())
    return failed();
  from_ = 0;
  rest_ = 1;
  look_around();
}

void batch_sizer::end_trial_by_miss(std::uint32_t slots, double seconds) {
  known_[size_] = {static_cast<double>(slots), seconds, seconds, 1};
  failed();
}

void batch_sizer::failed() {
  move_to(std::exchange(from_, 0));
  climbing_ = false;
  upwards_ = !upwards_;
  rest_ = std::min(2 * rest_, longest_rest);
  rested_ = 0;
}

/// Begins a trial where there is something to try.
void batch_sizer::look_around() {
  rested_ = 0;
  for (int directions = 0; directions < 2; ++directions) {
    if (const auto next = neighbour(upwards_); next != size_) {
      from_ = size_;
      return move_to(next);
    }
    upwards_ = !upwards_;
  }
}

/// @returns the largest size whose slowest batch should meet the target; any where that is not
/// known.
std::uint32_t batch_sizer::most_that_fit() const {
  const auto here = known_.find(size_);
  if (options_.target == duration::max() || here == known_.end() || known_.size() < 2)
    return largest();
  const auto other = here == known_.begin() ? std::next(here) : std::prev(here);
  const double slope = (here->second.each() - other->second.each())
                       / (static_cast<double>(here->first) - static_cast<double>(other->first));
  const double spread = here->second.slowest / here->second.each();
  const double room = in_seconds(options_.target) / spread - here->second.each();
  if (slope <= 0 || room / slope > largest())
    return largest();
  return room <= 0 ? size_ : size_ + static_cast<std::uint32_t>(room / slope);
}

/// @param seconds that a batch of the present size takes.
void batch_sizer::shrink(double seconds) {
  const auto share = in_seconds(options_.target) / seconds;
  const auto wanted = static_cast<std::uint32_t>(size_ * std::min(share, 1.0));
  known_.clear();
  from_ = 0;
  rest_ = 1;
  rested_ = 0;
  upwards_ = true;
  climbing_ = false;
  move_to(std::clamp(wanted, 1U, std::max(1U, size_ - 1)));
}

} // namespace hyperframes
