#pragma once

#include "actors/clock_model.hpp"
#include "cameras/camera.hpp"
#include "runtime/message.hpp"
#include "runtime/stage.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace hyperframes {

/// Numbers and stamps the frames of one stream: frame id, epoch, place on the graph's time line,
/// deadline.
///
/// Time line: a file's frames stand at `captured - first captured`, so that recordings line up, and a
/// later epoch of it one frame interval behind the last one's end; a live stream's frames stand where
/// `clock_model` puts them, never after their arrival. A new epoch begins where a file's time steps
/// back by more than `clock_model::max_backstep`, and where a live stream's clock jumps. Not
/// thread-safe.
class stream_numbering {
public:
  /// @param declared_fps 0: unknown or variable.
  stream_numbering(stream_index stream, bool live, duration latency_budget, double declared_fps = 0);

  /// Goes on where another one is gone that has numbered the stream so far. Before the first frame.
  void follow(const captured_position& at);
  /// A frame of a file that the other one has numbered.
  void pass(const captured_frame& f) { place_in_file(f.captured); }
  /// @returns the end of the epoch that `f` leaves behind, if it begins a new one.
  std::optional<stream_end> epoch_before(const captured_frame& f, arrival_time arrived);
  /// Takes the next id for `f`.
  frame_meta stamp(const captured_frame& f, arrival_time arrived);
  /// The end of the stream as it stands.
  stream_end end() const { return {stream_, epoch_, next_, true}; }
  /// The end of the epoch that stands, where another camera takes over: a new one begins.
  stream_end end_epoch();
  std::uint32_t epoch() const { return epoch_; }
  /// Frames that the device lost between those that were stamped, of the same epoch each: its counter
  /// has jumped over them. They were never captured.
  std::uint64_t device_lost() const { return device_lost_; }

  /// Of a file: its rate and its steps back.
  const clock_estimate& clock() const { return model_ ? model_->estimate() : file_clock_; }
  /// What to tell of the stream since the last call; see `clock_model::take_news`.
  std::optional<std::string> take_news() { return model_ ? model_->take_news() : std::nullopt; }

private:
  graph_time place_in_file(capture_time captured);

  stream_index stream_;
  bool live_;
  duration budget_;
  std::optional<clock_model> model_; ///< of a live stream
  std::uint32_t epoch_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t traced_ = 0;
  std::uint64_t last_device_id_ = 0;
  std::uint64_t device_lost_ = 0;
  // of a file
  clock_estimate file_clock_;
  std::optional<capture_time> first_, last_; ///< of the epoch
  duration base_{};                          ///< place of `first_`
  duration interval_{};                      ///< between the last two frames
};

} // namespace hyperframes
