#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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
  using job = std::function<void()>;
  work_lanes() = default;
  work_lanes(const work_lanes&) = delete;
  work_lanes& operator=(const work_lanes&) = delete;
  /// Waits for the jobs that run, drops those that wait.
  ~work_lanes();

  void submit(std::uint64_t lane, job work);

  /// A lane that has been in one job since then.
  struct busy_lane {
    std::uint64_t lane = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<busy_lane> busy() const;

  /// Ends every lane. Threads that are not idle within `patience_ms` are left behind.
  /// @returns how many.
  std::size_t close(std::int64_t patience_ms);

private:
  struct lane;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<lane>> lanes_;
};

} // namespace hyperframes
