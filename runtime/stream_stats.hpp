#pragma once

#include "runtime/time_histogram.hpp"

#include <atomic>
#include <cstdint>

namespace hyperframes {

/// What capture, bundle and unbundle know of a stream. Written by one stage each, read by anyone.
struct stream_stats {
  std::atomic<std::int64_t> first_arrival_ns{-1}; ///< graph time; -1 before it
  std::atomic<std::uint64_t> device_lost{0}; ///< frames that the device's own counter jumped over
  std::atomic<std::int64_t> offset_ns{0};    ///< graph time minus the camera's
  std::atomic<double> drift_ppm{0};          ///< of the camera's clock against the graph's
  std::atomic<std::int64_t> jitter_ns{0};    ///< of the arrivals
  std::atomic<double> fps{0};                ///< measured
  std::atomic<double> confidence{0};         ///< in the camera's clock: 0 to 1
  std::atomic<bool> by_arrival{false};       ///< its clock is not credible: frames are placed by arrival
  std::atomic<bool> attached{false}; ///< it has a camera
  std::atomic<bool> silent{false};
  std::atomic<std::uint32_t> silences{0};
  std::atomic<std::uint32_t> epochs{1};
  std::atomic<std::uint64_t> off_pace{0}; ///< hyperframes of it whose span does not fit its frame rate
  std::atomic<std::int64_t> longest_gap_ns{0}; ///< without a delivery, from its first frame to its last
  time_histogram lag; ///< from capture to arrival, beyond the least of the stream
};

} // namespace hyperframes
