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
/// A hyperframe whose deadline comes before the result of a batch that leaves now is passed over
/// while another one can be in time, and expires at its time: working on it would make the next one
/// late too. Where none can be in time, the one with the latest deadline leaves. Behind a younger
/// one of its lane, a stream or a group that shares its hyperframes, none leaves that was passed
/// over.
///
/// Cameras in step have equal claims, and the first one in the queue would always win. Two
/// hyperframes of different lanes stand equal where their times of arrival, or the deadlines where
/// the order goes by these, are nearer than half the time between two hyperframes of either lane;
/// then the lane leaves whose last one left longest ago, and the lane makes room that has not made
/// room for longest. Apart from that, equal ones leave as they came.
///
/// Not thread-safe. Never blocks.
class scheduler {
public:
  struct expired {
    std::uint32_t hyperframes = 0;
    std::vector<outcome_range> outcomes;
  };

  explicit scheduler(const schedule_options& options);

  /// Fills the next batches up to so many slots.
  void set_batch_slots(std::uint32_t slots) { options_.batch_slots = slots; }
  void add(hyperframe_ptr h, graph_time now);
  /// Removes what has expired. Call it before `next`.
  void expire(graph_time now, expired& to);
  /// @returns when `expire` has something to do; `never` where nothing can expire.
  graph_time due() const { return due_; }
  /// @param needed from now to the result of this batch, as far as is known.
  /// @returns the next batch, or null when nothing is queued that may leave.
  batch_ptr next(graph_time now, duration needed = {});
  /// Removes one hyperframe to make room: `drop_newest` the newest; otherwise the oldest one, by
  /// `priority` of those with the lowest, by `fair` of the group with the most hyperframes in the
  /// queue (of several, of the one that has not made room for longest). Throws std::logic_error
  /// when nothing is queued.
  hyperframe_ptr evict(overflow_policy policy);

  std::size_t size() const { return queue_.size(); }
  std::uint64_t held_frames() const { return held_; }
  void give_up(outcome what, reason why, outcome_batch& into);

private:
  struct entry {
    hyperframe_ptr content;
    graph_time deadline = never;
    graph_time expires = never;
    graph_time came{};
    std::uint32_t slots = 0;
    std::uint32_t own = 0;
    stream_index lane = 0;    ///< its first stream, which no other lane has
    bool passed_over = false; ///< a younger one of its lane has left
  };
  using queue = std::vector<entry>;
  struct lane {
    graph_time came{};                     ///< the last one
    duration period{};                     ///< between two of them, smoothed; 0 while unknown
    bool known = false;                    ///< one has come
    std::uint64_t left = 0, made_room = 0; ///< turn of the last one; 0: never
  };
  struct share {
    std::uint64_t slots = 0; ///< queued
    std::uint32_t hyperframes = 0;
    std::int64_t deficit = 0;
    std::uint64_t left = 0, made_room = 0; ///< as in `lane`
  };
  /// Which hyperframes may be chosen.
  struct choice {
    const hyperframe* like = nullptr; ///< of whose shape it must be; null: any
    std::uint32_t room = 0;           ///< slots that it may have
    graph_time reach{}; ///< the earliest deadline that can be met; the least where none can
    bool late = false;  ///< none can be in time: the latest deadline leaves first
  };
  bool before(const entry& a, const entry& b, bool late) const;
  bool admits(const choice& c, const entry& e) const;
  bool equal(const entry& a, const entry& b, bool by_deadline) const;
  queue::iterator first(const choice& c);
  template <class Of>
  queue::iterator first_of(const choice& c, Of of);
  queue::iterator first_fair(const choice& c);
  template <class Of>
  queue::iterator oldest_of(Of of);
  std::uint32_t fullest_group() const;
  void pass_over(queue::iterator chosen, graph_time reach);
  hyperframe_ptr remove(queue::iterator at);
  void find_due();

  schedule_options options_;
  queue queue_;               ///< in the order of arrival
  std::vector<lane> lanes_;   ///< by first stream
  std::vector<share> shares_; ///< by group; `fair` only
  std::size_t turn_ = 0;      ///< group whose turn it is
  std::uint32_t quantum_ = 1; ///< slots of the largest hyperframe so far
  graph_time due_ = never;
  std::uint64_t held_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t turns_ = 0; ///< hyperframes that left or made room
};

/// `schedule`: hyperframe -> batch.
stage_description describe_schedule();

} // namespace hyperframes
