#pragma once

#include "runtime/recycled.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <map>
#include <vector>

namespace hyperframes {

/// Threads for work that blocks: one per lane, started when the lane is first used; each runs its
/// jobs in order.
///
/// A job that hangs cannot be ended: `close` leaves its thread behind with what the job holds.
class work_lanes {
public:
  using job = recycled_function<void>;
  work_lanes() = default;
  work_lanes(const work_lanes&) = delete;
  work_lanes& operator=(const work_lanes&) = delete;
  /// Waits without bound for the jobs that run, drops those that wait.
  ~work_lanes();

  void submit(std::uint64_t lane, job work);

  /// A lane that has been in one job since then.
  struct busy_lane {
    std::uint64_t lane = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<busy_lane> busy() const;

  /// Ends every lane. Threads that are not idle within `patience` are left behind.
  /// @param late is told once of each lane that is still in a job after `usual_end`.
  /// @returns the lanes that were left behind.
  std::vector<std::uint64_t>
  close(std::chrono::milliseconds patience, const std::function<void(const busy_lane&)>& late = {});
  static constexpr std::chrono::seconds usual_end{1};

private:
  struct lane;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<lane>> lanes_;
};

} // namespace hyperframes
