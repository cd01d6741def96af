#pragma once

#include "actors/camera_reader.hpp"
#include "runtime/stage.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace hyperframes {

/// Numbers and stamps the frames of one stream: frame id, epoch, place on the graph's time line,
/// deadline.
///
/// Time line: a file's frames stand at `captured - first captured`, so that recordings line up; a live
/// stream's at `captured + min(arrived - captured)`, which is never after the arrival. Within an epoch
/// capture time runs forward; a step back by more than `max_backstep`, or forward by more than
/// `max_forward_step` on a live stream, begins a new epoch. Not thread-safe.
class stream_numbering {
public:
  static constexpr duration max_backstep = std::chrono::milliseconds{200};
  static constexpr duration max_forward_step = std::chrono::seconds{10};

  stream_numbering(stream_index stream, bool live, duration latency_budget);

  /// @returns the end of the epoch that `f` leaves behind, if it begins a new one.
  std::optional<stream_end> epoch_before(const captured_frame& f);
  /// Takes the next id for `f`.
  frame_meta stamp(const captured_frame& f, arrival_time arrived);
  /// The end of the stream as it stands.
  stream_end end() const { return {stream_, epoch_, next_, true}; }
  /// Frames that the device lost between those that were stamped, of the same epoch each: its counter
  /// has jumped over them. They were never captured.
  std::uint64_t device_lost() const { return device_lost_; }

private:
  stream_index stream_;
  bool live_;
  duration budget_;
  std::uint32_t epoch_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t traced_ = 0;
  std::optional<capture_time> first_, last_;
  std::uint64_t last_device_id_ = 0;
  std::uint64_t device_lost_ = 0;
  duration offset_ = duration::max();
};

/// What the builder hands to `capture`.
struct capture_resource : stage_resource {
  struct source {
    stream_index stream = 0;
    camera_info info;
    std::function<std::unique_ptr<camera>()> make;
    std::size_t frames_ahead = 0;
    std::uint32_t prefetch = 1; ///< frames read ahead of what the graph has taken; files only
  };
  std::vector<source> sources;
  std::function<void(stream_index)> captured; ///< counts a frame in the ledger
};

/// Frames that a stream may have read ahead.
std::uint32_t prefetch_of(const camera_info& info);

stage_description describe_capture();

} // namespace hyperframes
