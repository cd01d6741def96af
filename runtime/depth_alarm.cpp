#include "runtime/depth_alarm.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

depth_alarm::change depth_alarm::at(std::uint32_t depth, graph_time now) {
  const auto elapsed = std::max(0.0, in_seconds(now - since_));
  const auto x = elapsed / in_seconds(defaults::depth_average);
  // Most changes follow each other within microseconds, where two terms of the series are exact enough.
  average_ += (depth_ - average_) * (x < 1e-3 ? x - x * x / 2 : -std::expm1(-x));
  since_ = now;
  depth_ = depth;
  const auto share = average_ / std::max(1U, capacity_);
  if (raised_ ? share >= defaults::depth_alarm_over : share < defaults::depth_alarm)
    return change::none;
  raised_ = !raised_;
  return raised_ ? change::raised : change::over;
}

} // namespace hyperframes
