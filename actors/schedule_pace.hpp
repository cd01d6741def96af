#pragma once

#include "runtime/time.hpp"

#include <cstdint>
#include <deque>

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

  void left(graph_time now);
  /// `batches` have come back; what never left is not counted.
  void back(std::uint32_t batches, graph_time now);

  bool worker_free() const { return under_way_.size() < workers_; }
  /// True where batches are known to take less than `defaults::quick_batch`.
  bool quick() const;
  /// From now to the result of a batch that leaves now; 0 where nothing is known.
  duration needed() const;

private:
  std::uint32_t workers_;
  std::deque<graph_time> under_way_; ///< when they left
  std::deque<graph_time> returned_;  ///< when the last `workers_` came back
  bool known_ = false;
  duration mean_{}, deviation_{};
};

} // namespace hyperframes
