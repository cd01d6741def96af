#include "actors/delay_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hyperframes {

namespace {

constexpr std::size_t most_windows = 64;
constexpr std::size_t windows_for_slope = 8;
constexpr std::size_t windows_of_shift = 5;
constexpr double least_shift = 20e6;

double fraction(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

template <class Values>
double median(Values first, Values last) {
  const auto middle = first + (last - first) / 2;
  std::nth_element(first, middle, last);
  return *middle;
}

} // namespace

std::int64_t distance_ns(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result))
    return a < b ? std::numeric_limits<std::int64_t>::min()
                 : std::numeric_limits<std::int64_t>::max();
  return result;
}

delay_line::delay_line() : windows_(most_windows) {}

double delay_line::fitted(ns captured) const {
  return value_ + slope_ * static_cast<double>(distance_ns(captured, at_));
}

void delay_line::restart(ns captured, ns delay, bool keep_slope) {
  if (!keep_slope || windows_.size() < windows_for_slope)
    slope_ = 0;
  windows_.clear();
  shifted_ = 0;
  at_ = captured;
  value_ = static_cast<double>(delay);
  spread_ = lowered_ = 0;
}

void delay_line::lower(ns captured, ns delay) {
  lowered_ = std::max(lowered_, fitted(captured) - static_cast<double>(delay));
}

void delay_line::close_window(ns captured, ns delay) {
  const window w{captured, delay};
  forget_before_shift(w);
  windows_.push_back(w);
  fit();
}

void delay_line::keep(std::size_t windows) {
  while (windows_.size() > windows)
    windows_.pop_front();
  shifted_ = 0;
  slope_ = 0;
  if (!windows_.empty())
    fit();
}

void delay_line::forget_before_shift(const window& w) {
  const auto off = static_cast<double>(w.least) - fitted(w.at);
  if (std::abs(off) <= std::max(least_shift, 4 * spread_)) {
    shifted_ = 0;
    return;
  }
  shifted_ = shifted_up_ == (off > 0) ? shifted_ + 1 : 1;
  shifted_up_ = off > 0;
  if (shifted_ < windows_of_shift)
    return;
  while (windows_.size() >= shifted_)
    windows_.pop_front();
  shifted_ = 0;
}

/// Windows that left the line count only where they lie below.
void delay_line::fit() {
  if (shifted_ >= windows_.size())
    shifted_ = 0;
  const auto settled = windows_.size() - shifted_;
  if (settled >= windows_for_slope) {
    slope_ = median_slope(settled);
    slope_known_ = true;
  }
  at_ = windows_.back().at;
  value_ = 0;
  std::array<double, most_windows> above{};
  std::ranges::transform(windows_, above.begin(), [&](const window& w) {
    return static_cast<double>(w.least) - fitted(w.at);
  });
  const auto border = above.begin() + static_cast<std::ptrdiff_t>(settled);
  const auto last = border + static_cast<std::ptrdiff_t>(shifted_);
  value_ = *std::min_element(above.begin(), border);
  lowered_ = value_ - *std::min_element(above.begin(), last);
  spread_ = median(above.begin(), border) - value_;
}

/// Of all pairs of the oldest `count` windows.
double delay_line::median_slope(std::size_t count) const {
  std::array<double, most_windows*(most_windows - 1) / 2> slopes;
  auto last = slopes.begin();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j)
      if (const auto run = distance_ns(windows_[j].at, windows_[i].at); run != 0)
        *last++ = fraction(distance_ns(windows_[j].least, windows_[i].least), run);
  return last == slopes.begin() ? 0 : median(slopes.begin(), last);
}

double delay_line::growth(std::size_t from, std::size_t to) const {
  const auto& older = windows_[windows_.size() - 1 - from];
  const auto& newer = windows_[windows_.size() - 1 - to];
  const auto more = static_cast<double>(distance_ns(newer.least, older.least));
  const auto time =
    static_cast<double>(distance_ns(newer.at, older.at)) + more; // between the arrivals
  return time > 0 ? more / time : 0;
}

} // namespace hyperframes
