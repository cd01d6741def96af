#pragma once

#include "runtime/stage.hpp"

#include <functional>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace hyperframes {

/// Puts one stream's results back in order, with a gap for each frame that has none.
///
/// A frame leaves when every frame before it, in (epoch, frame id), has left. The first outcome of
/// a frame counts; a later one is discarded. An epoch is complete when its end is known and every id
/// below has left; then the next one begins. Not thread-safe.
class stream_order {
public:
  /// @param first_epoch those before it have left in an earlier run.
  explicit stream_order(stream_index stream, std::uint32_t first_epoch = 0)
    : stream_(stream), next_{first_epoch, 0} {}

  /// @returns frames that already had an outcome: 0 or 1.
  std::uint64_t add(std::shared_ptr<frame_result> r);
  /// @returns how many of the range already had an outcome.
  std::uint64_t add(const outcome_range& range);
  void add(const stream_end& end);

  /// @returns the next frame's result if it is there: a delivered one, or a gap with stream, epoch,
  /// id, outcome and reason.
  std::shared_ptr<frame_result> next();
  /// @returns the ends of the epochs that were completed since the last call, in order.
  std::vector<stream_end> take_completed();
  bool closed() const { return closed_; }
  std::uint64_t held_frames() const { return waiting_; } ///< frames with an outcome that have not left
  std::uint64_t results_waiting() const { return results_waiting_; } ///< of these, with a result
  /// Gives up on the frame that all others wait for: everything missing before the first frame that
  /// is there becomes `lost (reorder)`. @returns how many frames.
  std::uint64_t skip_missing();
  /// Names the frames that have not left: gaps with the outcome that they have, results as told.
  void give_up(outcome what, reason why, outcome_batch& into);

private:
  using entry = std::variant<std::shared_ptr<frame_result>, outcome_range>;
  static std::uint64_t count_of(const entry& e);
  std::uint64_t insert(frame_position at, std::uint64_t count, entry e);
  void advance_epoch();

  stream_index stream_;
  frame_position next_{};
  recycled_map<frame_position, entry> entries_; ///< by first frame; they do not overlap
  std::map<std::uint32_t, stream_end> ends_;
  std::vector<stream_end> completed_; ///< not taken so far
  std::uint64_t waiting_ = 0;
  std::uint64_t results_waiting_ = 0;
  bool closed_ = false;
};

/// `unbundle`: results by frame, in order.
stage_description describe_unbundle();

} // namespace hyperframes
