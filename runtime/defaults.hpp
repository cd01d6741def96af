#pragma once

#include "runtime/time.hpp"

#include <cstdint>

/// Every default that is not a parameter's own. `explain` prints them where they take effect.
namespace hyperframes::defaults {

/// Items that an edge holds, per stream where it carries frames.
inline constexpr std::uint32_t edge_capacity = 8;
/// A file's frames that are read ahead: this much of its time line, at least `edge_capacity`.
inline constexpr duration prefetch = std::chrono::seconds{1};
/// The rate that is assumed where a stream declares none, in frames per second.
inline constexpr double assumed_fps = 30;
/// Hyperframes that wait for a worker.
inline constexpr std::uint32_t schedule_capacity = 16;
/// Batches that wait in front of a worker, beside the one that it works on.
inline constexpr std::uint32_t batches_queued = 2;
/// The same where what waits can expire: dispatch is final, so as much as possible waits in `schedule`.
inline constexpr std::uint32_t batches_queued_live = 1;
/// Where what waits can expire, a busy worker is sent a batch ahead only while batches take less than
/// this: then the hand-over is worth hiding, and the wait behind the other batch is short.
inline constexpr duration quick_batch = std::chrono::milliseconds{10};
/// Batches that each worker may be ahead of one that is not finished, before all wait for it.
inline constexpr std::uint32_t batches_ahead = 8;
/// Slots in a batch before the stage has learned what pays.
inline constexpr std::uint32_t batch_slots = 8;
/// Memory that a graph may take.
inline constexpr std::uint64_t memory = std::uint64_t{4} << 30;
/// How long a drain may take before what is left is stopped.
inline constexpr duration drain_time = std::chrono::seconds{10};
/// A failed stage gets a new logic object at once, then after a pause that doubles from this one
/// on, as long as its pauses take no more than `restart_time` together; then it stays failed. A
/// failure that comes `restart_calm` after the one before begins a new row.
inline constexpr duration restart_pause = std::chrono::milliseconds{100};
inline constexpr duration restart_time = std::chrono::seconds{2};
inline constexpr duration restart_calm = std::chrono::minutes{1};
/// Credit goes back in lots of max(1, min(credit_lot, capacity / 4)), and always when the ring is empty.
inline constexpr std::uint32_t credit_lot = 8;
/// A depth alarm is raised when the moving average reaches this share of the capacity, and is over below
/// the second one; the average goes after the depth with this time constant.
inline constexpr double depth_alarm = 0.8;
inline constexpr double depth_alarm_over = 0.6;
inline constexpr duration depth_average = std::chrono::seconds{2};
/// A live stream that gives no frame for longer than this, and for so many of its periods, is silent.
inline constexpr duration silent_after = std::chrono::seconds{1};
inline constexpr double silent_periods = 3;
/// A worker that is at one batch for longer is replaced.
inline constexpr duration hang_after = std::chrono::seconds{30};
/// A call of a stage or a worker that takes longer than this is named by the watchdog.
inline constexpr duration call_patience = std::chrono::seconds{5};

} // namespace hyperframes::defaults
