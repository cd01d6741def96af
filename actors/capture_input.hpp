#pragma once

#include "actors/camera_reader.hpp"
#include "actors/capture.hpp"
#include "actors/stream_numbering.hpp"
#include "cameras/faults.hpp"

#include <array>
#include <memory>
#include <string>

namespace hyperframes {

/// One stream in `capture`: its camera's reader, its numbers, and whether it is silent.
///
/// A camera may go and come again, also another time: each stay is an epoch of the stream, and the stream
/// ends when the graph does. Single-threaded but for the reader.
class capture_input {
public:
  capture_input(const capture_resource::source& source, std::string id, duration latency_budget);

  /// Makes a reader for a camera. @param on_event called by its thread when something has come.
  std::shared_ptr<camera_reader> attach(const std::string& folder, std::uint64_t seed,
                                        std::function<void()> on_event, graph_time now);
  /// Before its first camera comes: ends the epoch that another process has begun.
  void follow(stage_context& context);
  /// The threads that belong to this input's reader alone; they end with its stay.
  void own_threads(std::unique_ptr<reader_threads> threads) { threads_ = std::move(threads); }
  /// The camera goes: what it has given still counts, then the epoch ends.
  void detach();
  /// No camera comes any more: the stream ends when the last one has given all.
  void drain(stage_context& context);
  /// Ends the stream at once; what comes now was never captured.
  void end_now(stage_context& context);
  /// Names the frames that have come and were not sent, and forgets them.
  void give_up(const std::function<void(const frame_meta&)>& captured, outcome what, reason why, outcome_batch& into);

  /// Sends what has come, as far as there is credit.
  void forward(const std::function<void(const frame_meta&)>& captured, stage_context& context);
  /// Tells of a silence, and what follows. @returns when to look again.
  graph_time watch(stage_context& context);

  const std::shared_ptr<camera_reader>& reader() const { return reader_; } ///< null: no camera
  bool attached() const { return reader_ != nullptr; }
  bool ended() const { return ended_; }
  bool waits() const { return !waiting_.empty(); } ///< something has come that has no credit
  stream_index stream() const { return source_.stream; }
  const capture_resource::source& source() const { return source_; }

private:
  void send(const std::function<void(const frame_meta&)>& captured, arrived_frame& f, stage_context& context);
  void finish_stay(stage_context& context);
  void report(stage_context& context);
  void tell(const std::string& sentence, stage_context& context) const;

  const capture_resource::source& source_;
  std::string id_;
  stream_numbering numbering_;
  std::shared_ptr<camera_reader> reader_;
  std::unique_ptr<reader_threads> threads_;
  std::shared_ptr<const fault_counts> faults_; ///< of this camera; null where it has none
  std::array<std::uint64_t, fault_kinds> reported_{};
  reader_events waiting_; ///< taken from the reader, without credit so far
  bool detaching_ = false, draining_ = false, ended_ = false;
  std::uint64_t skip_ = 0; ///< frames of a file that another process has captured
  graph_time last_arrival_{};
  bool silent_ = false;
};

} // namespace hyperframes
