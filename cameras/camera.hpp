#pragma once

#include "runtime/description.hpp"
#include "runtime/error.hpp"
#include "runtime/frame.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hyperframes {

/// What is known of a source before it runs.
struct camera_info {
  media_type media;
  double fps = 0;     ///< declared rate; 0 where unknown or variable
  bool live = false;  ///< cannot be held back: drops instead of waiting
  std::optional<std::uint64_t> frame_count{}; ///< where the end is known
  std::optional<duration> length{};           ///< the same in time
  bool knows_truth = false;                   ///< frames carry `truth`
  std::vector<std::string> truth_labels{};    ///< names of the classes of `truth`
  std::size_t frame_bytes = 0;  ///< of one pool slot, padding included
  std::size_t own_frames = 0;   ///< slots that the source itself needs (reference frames, delay)
  bool blocks = false; ///< `read` may take long or wait for a device: give it a thread of its own
  bool simulated = false; ///< depends on nothing but its settings and the time it is given
};

class pool_stats;

/// What a camera gets when it is opened.
struct camera_environment {
  std::string stream;          ///< for messages
  std::size_t frames_ahead = 0; ///< how many frames the graph may hold at once; the camera's pool
                                ///< has `frames_ahead + own_frames` slots
  std::string folder;          ///< that relative paths start from
  std::uint64_t seed = 0;      ///< the graph's: where everything random starts from
  std::shared_ptr<pool_stats> pool{}; ///< where its pools are counted; null: nowhere
};

/// A frame as the source gave it: capture numbers and stamps it.
struct captured_frame {
  capture_time captured{};
  /// The device's own counter. What the device lost has used up its numbers:
  ///   lost before this frame = device_id - last frame's device_id - 1.
  /// It starts anew with each `open`.
  std::uint64_t device_id = 0;
  std::uint16_t flags = 0; ///< `frame_flag` bits
  std::int32_t truth = -1;
  media_type_ptr media;
  buffer_ref buffer; ///< empty only with `frame_no_buffer`, `frame_no_memory` or `frame_corrupt`
};

struct not_before {
  graph_time due = never; ///< ask again then; `never`: when `set_wake` was called
};
struct end_of_stream {};

/// What `camera::read` gives: a frame, when to ask again, the end, or why it cannot go on.
using camera_event = std::variant<captured_frame, not_before, end_of_stream, error>;

class fault_counts;

/// A source of frames. One thread uses it at a time; only `interrupt` may come from another.
///
/// Life: `probe` (once, when the graph is loaded), `open`, `read` again and again, then
/// destruction.
class camera {
public:
  virtual ~camera() = default;

  /// Finds out what the source will give without starting it. May read a file's header.
  virtual expected<camera_info> probe() = 0;

  /// May be called again after an error, to reconnect. Fails with `errc::stopped` once the camera
  /// was interrupted.
  virtual expected<void> open(const camera_environment& environment) = 0;

  /// Gives the next frame if it is due at `now`. Only a camera that `blocks` may wait here, and
  /// then returns soon after `interrupt`. A corrupt frame is an event of its own, not an error.
  virtual camera_event read(graph_time now) = 0;

  /// For sources that other threads feed: what to call when `read` is worth while again.
  virtual void set_wake(std::function<void()>) {}

  /// Ends the camera's work: a waiting `open` or `read` returns, also where it is called only
  /// afterwards. Nothing takes it back. From any thread.
  virtual void interrupt() noexcept {}

  /// The camera that makes the frames, where this one stands around another.
  virtual camera& innermost() noexcept { return *this; }

  /// How often the `faults:` of the graph file have happened here (cameras/faults.hpp); null where it has
  /// none. The counts may be read at any time, from any thread, and outlive the camera.
  virtual std::shared_ptr<const fault_counts> injected() const { return nullptr; }
};

struct camera_description {
  std::string name;    ///< as in `camera: { type: ... }`
  std::string summary; ///< a sentence
  std::vector<parameter> parameters;
  /// Fills in what follows from the stream's id where the file does not say it; called before `check`.
  std::function<void(settings&, const std::string& stream)> complete{};
  std::function<void(const settings&, const source_mark&, std::vector<fault>&)> check{};
  /// @param folder that relative paths start from.
  std::function<std::unique_ptr<camera>(const settings&, const std::string& folder)> make{};
};

using camera_catalogue = catalogue<camera_description>;

/// `synthetic`, `timeline`, `video`, `images`, `push`, each with `faults`.
void add_cameras(camera_catalogue& into);

/// Keeps FFmpeg and OpenCV from printing to standard error; what they find wrong comes as corrupt frames and
/// errors anyway. For the whole process, so only for a program that owns its terminal, never for the library.
void silence_codecs();

} // namespace hyperframes
