#pragma once

#include "runtime/description.hpp"
#include "runtime/hyperframe.hpp"
#include "runtime/stage.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hyperframes {

enum class schedule_order : std::uint8_t {
  fifo,     ///< as they came
  deadline, ///< the earliest deadline first
  priority, ///< the highest priority first, then by deadline
  fair,     ///< groups take turns, by slots: deficit round robin (Shreedhar and Varghese, 1995)
};

struct schedule_options {
  schedule_order order = schedule_order::fifo;
  std::optional<duration> ttl;   ///< the longest that a hyperframe may be queued
  std::uint32_t batch_slots = 8; ///< a batch is filled up to this
};

/// The queue of hyperframes in front of a worker: in which order they leave, in what batches, and
/// when they have waited too long.
///
/// A hyperframe that came at t expires at min(deadline of its own slots, t + ttl), whether or not
/// anybody can take it. A batch is the first hyperframe by the order, and further ones by the order
/// as long as all slots together fit `batch_slots` and the tensors have the same shape. A
/// hyperframe is never cut: one above `batch_slots` is a batch of its own, and infer runs it in
/// parts, in order, on one worker.
///
/// Within the order, hyperframes that are equal leave as they came. Not thread-safe. Never blocks.
class scheduler {
public:
  struct expired {
    std::uint32_t hyperframes = 0;
    std::vector<outcome_range> outcomes;
  };

  explicit scheduler(const schedule_options& options);

  void add(hyperframe_ptr h, graph_time now);
  /// Removes what has expired. Call it before `next`.
  void expire(graph_time now, expired& to);
  /// @returns when `expire` has something to do; `never` where nothing can expire.
  graph_time due() const { return due_; }
  /// @returns the next batch, or null when nothing is queued.
  batch_ptr next(graph_time now);
  /// Removes one hyperframe to make room: `drop_newest` the newest; otherwise the oldest one, by
  /// `priority` of those with the lowest, by `fair` of the group that takes the most room. Throws
  /// std::logic_error when nothing is queued.
  hyperframe_ptr evict(overflow_policy policy);

  std::size_t size() const { return queue_.size(); }
  std::uint64_t held_frames() const { return held_; }
  void give_up(outcome what, reason why, outcome_batch& into);

private:
  struct entry {
    hyperframe_ptr content;
    graph_time deadline = never;
    graph_time expires = never;
    std::uint32_t slots = 0;
    std::uint32_t own = 0;
  };
  using queue = std::vector<entry>;
  struct share {
    std::uint64_t slots = 0; ///< queued
    std::int64_t deficit = 0;
  };
  bool before(const entry& a, const entry& b) const;
  queue::iterator first(const hyperframe* like, std::uint32_t room);
  queue::iterator first_fair(const hyperframe* like, std::uint32_t room);
  queue::iterator first_of_group(std::uint32_t group, const hyperframe* like, std::uint32_t room);
  hyperframe_ptr remove(queue::iterator at);
  void find_due();

  schedule_options options_;
  queue queue_;               ///< in the order of arrival
  std::vector<share> shares_; ///< by group; `fair` only
  std::size_t turn_ = 0;      ///< group whose turn it is
  std::uint32_t quantum_ = 1; ///< slots of the largest hyperframe so far
  graph_time due_ = never;
  std::uint64_t held_ = 0;
  std::uint64_t batches_ = 0;
};

/// `schedule`: hyperframe -> batch.
stage_description describe_schedule();

} // namespace hyperframes
