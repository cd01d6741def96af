#pragma once

#include "runtime/time.hpp"

#include <cstdint>

namespace hyperframes {

/// Judges how full a queue is by the moving average of its depth, so that a burst raises no alarm.
///
/// The average goes after the depth with the time constant `defaults::depth_average`. The alarm is raised
/// when it reaches the share `defaults::depth_alarm` of the capacity and is over below
/// `defaults::depth_alarm_over`. Not thread-safe.
class depth_alarm {
public:
  enum class change : std::uint8_t { none, raised, over };

  explicit depth_alarm(std::uint32_t capacity) : capacity_(capacity) {}

  /// The depth is `depth` from `now` on.
  change at(std::uint32_t depth, graph_time now);
  double average() const { return average_; }
  bool raised() const { return raised_; }

private:
  std::uint32_t capacity_;
  std::uint32_t depth_ = 0;
  double average_ = 0;
  graph_time since_{};
  bool raised_ = false;
};

} // namespace hyperframes
