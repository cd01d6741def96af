#pragma once

#include "cameras/camera.hpp"
#include "runtime/clock.hpp"
#include "runtime/recycled.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace hyperframes {

/// What a reader found: a frame, a sentence for the user, or the end.
struct arrived_frame {
  captured_frame captured;
  graph_time arrived{};
  duration cpu{}; ///< that its reading took
};
struct reader_note {
  std::string sentence;
};
struct reader_finished {};
using reader_event = std::variant<arrived_frame, reader_note, reader_finished>;
using reader_events = recycled_deque<reader_event>;

/// Reads one camera into an inbox.
///
/// A source that can be held back is read only while it has permits: one is used for each frame and
/// comes back when the frame has left `capture`. A live source is never held back; its inbox is bounded
/// by its pool: what meets an empty pool has no content.
/// After an error a live source is opened again after 1, 2, 4 … 30 s; a file ends.
///
/// `step` is for one thread, the rest for any.
class camera_reader {
public:
  struct place {
    std::string stream;
    std::string folder;
    std::size_t frames_ahead = 0;
    std::uint32_t permits = 1;
    std::uint64_t seed = 0;
    std::shared_ptr<pool_stats> pool{}; ///< where the camera's pools are counted
  };
  camera_reader(std::unique_ptr<camera> source, const camera_info& info, place where,
                std::function<void()> on_event);

  /// Reads until nothing is due. @returns when to come back; `never`: when woken, or finished.
  /// Reads `most` frames at the most and then returns `now`.
  graph_time step(const clock& time, std::uint32_t most);
  bool finished() const { return finished_.load(std::memory_order_acquire); }

  /// Moves what has arrived behind what is in `into`, oldest first.
  void take(reader_events& into);
  void give_permits(std::uint32_t n);
  /// Makes the next `step` end the stream.
  void finish();
  /// Called when `step` is worth while again: permits, pushed frames, `finish`.
  void set_wake(std::function<void()> wake);

private:
  void put(reader_event e);
  /// Of the camera's code only an error comes back, whatever it throws.
  expected<void> open_camera();
  camera_event read_camera(graph_time now);
  graph_time fail(const error& e, graph_time now);
  void end();

  std::unique_ptr<camera> camera_;
  camera_info info_;
  place where_;
  std::function<void()> on_event_;
  std::function<void()> wake_;
  std::mutex mutex_;
  reader_events inbox_; ///< guarded by `mutex_`
  std::atomic<std::int64_t> permits_;
  std::atomic<bool> finish_{false};
  std::atomic<bool> finished_{false};
  bool open_ = false;
  graph_time retry_at_{};
  duration back_off_ = std::chrono::seconds{1};
};

/// Threads that drive readers: one for each camera that blocks, and a few for all others.
class reader_threads {
public:
  reader_threads(std::shared_ptr<const clock> time, std::vector<std::shared_ptr<camera_reader>> shared,
                 std::vector<std::shared_ptr<camera_reader>> blocking);
  /// Makes the readers finish and waits for the threads, two seconds for all; one that hangs in its
  /// camera is left behind with its readers.
  ~reader_threads();

private:
  void end();
  struct crew;
  std::vector<std::shared_ptr<crew>> crews_;
};

} // namespace hyperframes
