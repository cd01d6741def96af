#pragma once

#include "runtime/time.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace hyperframes {

/// How long batches take and who is free, found out from nothing but the credit that comes back.
///
/// Batches are taken to come back in the order in which they left. The n-th one was then worked on
/// for
///   service(n) = back(n) - max(left(n), back(n - workers))
/// and the next one will take no longer than
///   mean + 2 deviations, twice that where every worker is busy,
/// with the moving mean and mean deviation of Jacobson, "Congestion avoidance and control" (1988).
/// Single-threaded; knows no clock.
class dispatch_pace {
public:
  explicit dispatch_pace(std::uint32_t workers);

  struct dispatched {
    std::uint32_t slots = 0;
    bool full = false; ///< more was waiting than it could hold
  };
  struct returned {
    dispatched batch;
    duration service{};
  };

  void left(const dispatched& batch, graph_time now);
  /// A batch has come back. @returns which, and how long it was worked on; nothing where none had
  /// left.
  std::optional<returned> back(graph_time now);

  bool worker_free() const { return under_way_.size() < workers_; }
  /// True where batches are known to take less than `defaults::quick_batch`.
  bool quick() const;
  /// From now to the result of a batch that leaves now; 0 where nothing is known.
  duration needed() const;

private:
  std::uint32_t workers_;
  std::deque<std::pair<dispatched, graph_time>> under_way_; ///< and when they left
  std::deque<graph_time> returned_;                         ///< when the last `workers_` came back
  bool known_ = false;
  duration mean_{}, deviation_{};
};

} // namespace hyperframes
