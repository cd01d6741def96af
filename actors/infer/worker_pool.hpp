#pragma once

#include "actors/infer/model.hpp"
#include "runtime/hyperframe.hpp"
#include "runtime/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

struct worker_pool_options {
  std::uint32_t workers = 1;
  std::uint32_t depth = 2;         ///< batches that a worker has at once: one that runs, the rest behind it
  duration patience = duration::max(); ///< a batch that takes longer hangs
  std::uint32_t tries = 2;         ///< what brings so many workers down is quarantined
  std::uint32_t nodes = 3;         ///< and what was being run on so many nodes when they were lost
  std::uint32_t replacements = 8;  ///< workers that may be replaced before the stage fails
  std::uint64_t ahead = ~std::uint64_t{0}; ///< batches that may be started past one that is not finished
};

/// Who works on which batch, and what becomes of a batch whose worker is lost.
///
/// A worker sits on a lane, on which its batches run one after the other. One that hangs or vanishes gets
/// a new lane, to be warmed up like the first one; the batch that it was at is tried again, before all
/// others, until it has brought `tries` workers down; what was queued behind it on the lane is handed out
/// again without blame. What the lost lane still says is not heard.
///
/// Who loses a node cannot tell whether a batch has crashed it or somebody has killed it, nor which of the
/// batches there did. So a batch is quarantined that was being run on `nodes` of them when they were lost,
/// the last time alone: after `nodes - 1` it is a suspect, and a suspect starts when nothing else is under
/// way, and nothing starts beside it. What crashes nodes ends that way, and takes no batch along that ran
/// beside it; a batch that had bad luck twice is finished alone, and forgiven.
///
/// While a batch is not finished, none is started whose number is higher by more than `ahead`: who puts
/// results back in order has room for so many.
///
/// Single-threaded; knows no threads and no clock.
class worker_pool {
public:
  struct assignment {
    std::uint32_t lane = 0;
    batch_ptr work;
    std::uint32_t tries = 0; ///< workers and nodes that were lost at it before
  };
  /// What the loss of a worker leads to.
  struct loss {
    std::uint32_t worker = 0;
    std::uint32_t new_lane = 0; ///< to be warmed up
    duration taken{};           ///< by the batch that it was at
    batch_ptr quarantined;      ///< its batch, where it is not tried again; may be null
  };

  explicit worker_pool(const worker_pool_options& options);

  std::uint32_t workers() const { return static_cast<std::uint32_t>(workers_.size()); }
  /// Lanes to be warmed up at the start: 0 to `workers() - 1`.
  /// @returns true when every worker is warm.
  bool warmed(std::uint32_t lane);
  bool knows(std::uint32_t lane) const { return find(lane) != nullptr; }
  /// @returns the worker that sits on a lane that `knows`.
  std::uint32_t worker_on(std::uint32_t lane) const;

  void add(batch_ptr work) { queue_.push_back({std::move(work), 0}); }
  /// @returns what is to be started now, in order.
  recycled_vector<assignment> assign(graph_time now);
  /// The lane has finished its batch. @returns the batch.
  batch_ptr finished(std::uint32_t lane, graph_time now);
  /// The lane's worker is gone, or is given up. Throws `failure` after too many.
  loss lost(std::uint32_t lane, graph_time now, lost_by cause = lost_by::batch);
  /// Gives up the workers that hang.
  std::vector<loss> look(graph_time now);
  /// @returns when `look` may have something to do.
  graph_time due() const;

  /// Removes the batch that has waited longest for a worker; null where none waits.
  batch_ptr evict();
  /// Workers that have less than `depth` batches, and are warm, times what they lack.
  std::uint32_t room() const;
  /// Takes every batch out, waiting or under way.
  std::vector<batch_ptr> take_all();

private:
  struct job {
    batch_ptr work;
    std::uint32_t brought_down = 0; ///< workers
    std::uint32_t nodes_lost = 0;   ///< while it was being run on them
  };
  struct worker {
    std::uint32_t lane = 0;
    bool warm = false;
    recycled_deque<job> under_way;
    graph_time since = never; ///< the first of them runs since then
  };
  bool too_far_ahead() const;
  bool suspect(const job& j) const { return j.nodes_lost > 0 && j.nodes_lost + 1 >= options_.nodes; }
  bool must_wait_alone() const; ///< the next one or one that is under way is a suspect
  worker* find(std::uint32_t lane);
  const worker* find(std::uint32_t lane) const;

  worker_pool_options options_;
  std::vector<worker> workers_;
  recycled_deque<job> queue_;
  std::uint32_t next_lane_;
  std::uint32_t replaced_ = 0;
};

} // namespace hyperframes
