#pragma once

#include <chrono>
#include <cstdint>

/// The three time lines of the runtime. They never mix by accident: each is a `std::chrono`
/// time point of a clock of its own, and none of these clocks can be asked for the time
/// (only `clock`, in clock.hpp, reads it).
namespace hyperframes {

using duration = std::chrono::nanoseconds;

namespace detail {
template <class Tag>
struct passive_clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<passive_clock, duration>;
  static constexpr bool is_steady = true;
};
} // namespace detail

/// When the sensor took the frame, on the camera's own clock; its zero is the camera's.
using capture_time = detail::passive_clock<struct capture_tag>::time_point;

/// When the frame reached this process; same zero as `graph_time`.
using arrival_time = detail::passive_clock<struct arrival_tag>::time_point;

/// The time line that all stages of a graph share; zero is the graph's start.
using graph_time = detail::passive_clock<struct graph_tag>::time_point;

inline constexpr graph_time never = graph_time::max();

constexpr arrival_time as_arrival(graph_time t) {
  return arrival_time{t.time_since_epoch()};
}
constexpr graph_time as_graph(arrival_time t) {
  return graph_time{t.time_since_epoch()};
}

/// `t + d` that stops at `never` instead of overflowing.
constexpr graph_time later_by(graph_time t, duration d) {
  return d >= never - t && t.time_since_epoch().count() >= 0 ? never : t + d;
}

constexpr double in_ms(duration d) {
  return static_cast<double>(d.count()) / 1e6;
}
constexpr double in_seconds(duration d) {
  return static_cast<double>(d.count()) / 1e9;
}

} // namespace hyperframes
