#include "runtime/depth_alarm.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

depth_alarm::change depth_alarm::at(std::uint32_t depth, graph_time now) {
  const auto elapsed = std::max(0.0, in_seconds(now - since_));
  average_ += (depth_ - average_) * (1 - std::exp(-elapsed / in_seconds(defaults::depth_average)));
  since_ = now;
  depth_ = depth;
  const auto share = average_ / std::max(1U, capacity_);
  if (raised_ ? share >= defaults::depth_alarm_over : share < defaults::depth_alarm)
    return change::none;
  raised_ = !raised_;
  return raised_ ? change::raised : change::over;
}

} // namespace hyperframes
