#pragma once

#include "cameras/camera.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>

namespace hyperframes {

/// What a program may say of a frame besides its pixels and its time.
struct push_details {
  std::optional<std::uint64_t>
    device_id{};           ///< the device's counter; by default one more than the last
  std::uint16_t flags = 0; ///< `frame_corrupt` and the like
  std::int32_t truth = -1;
};

/// What became of a frame that a program handed in.
enum class push_result {
  taken, ///< copied, and on its way
  /// The queue or the camera's pool is full. A live stream counts the frame, as one without content
  /// that ends as dropped; a stream that is not live knows nothing of it: it may be pushed again.
  full,
  not_open, ///< the camera is not open yet: it may be pushed again
  closed,   ///< no frame is taken any more: the program has closed the port, or the graph captures no more
};

/// Where a program hands frames in from its own threads, as camera SDKs call back. The program
/// keeps it, the runtime owns the camera; either may go first.
///
///   port->push(std::as_bytes(std::span{pixels, size}), capture_time{sdk_time_ns}); // from a callback
///   while (port->push_for(pixels, time, 1s) != push_result::closed) ...            // from a loop
///
/// Thread-safe. Frames of several pushing threads come in the order in which `push` returned. What
/// waits in the queue when the graph is drained or stopped is not captured.
class push_port {
public:
  /// Copies the picture into the camera's pool. Never blocks for longer than that copy.
  /// @param pixels all planes, rows tightly packed: exactly `frame_bytes()`.
  /// Throws `failure` where the size is wrong.
  push_result
  push(std::span<const std::byte> pixels, capture_time captured, const push_details& details = {}) {
    return push_for(pixels, captured, duration{0}, details);
  }

  /// The same, but waits for the camera to open and for room in its queue, for `patience` at the
  /// most; returns at once when the port closes. A stream that is not live then finds a buffer too;
  /// for a live one an empty pool is an overflow, which it does not wait for.
  push_result push_for(
    std::span<const std::byte> pixels, capture_time captured, duration patience,
    const push_details& details = {});

  /// No frame follows: the stream ends behind what was pushed. Later pushes are not taken.
  void close();

  /// Bytes of one frame; 0 while no camera is open.
  std::size_t frame_bytes() const;

private:
  friend class push_camera;

  /// A frame, or `count` frames in a row that found no room.
  struct entry {
    captured_frame item;
    std::uint64_t count = 1;
    capture_time last_captured{};
    std::uint64_t last_device_id = 0;
  };

  /// The camera that has `owner` takes the port over: it is open for no other any more.
  void claim(const media_type_ptr& owner);
  /// Opens it for frames of the owner's type; not where `stop` came first.
  expected<void> open(
    const media_type_ptr& owner, const std::string& stream, bool live, std::size_t queue,
    std::size_t slots, std::shared_ptr<pool_stats> counted);
  /// Takes no frame any more. Nothing happens where another camera has the port, as with `shut`.
  void stop(const media_type_ptr& owner) noexcept;
  void shut(const media_type_ptr& owner) noexcept;
  bool over() const { return closed_ || stopped_; }
  camera_event take();
  void set_wake(std::function<void()> wake);
  void add_missed(capture_time captured, std::uint64_t device_id, const push_details& details);

  mutable std::mutex mutex_; ///< guards all below
  std::condition_variable changed_; ///< there is room, it was opened, or it is over
  std::shared_ptr<const std::function<void()>> wake_;
  std::string stream_;
  media_type_ptr owner_; ///< what the camera gives that has the port; names the camera, too
  bool live_ = true;
  bool closed_ = false;  ///< by the program, for good
  bool stopped_ = false; ///< by the camera that has it
  std::size_t queue_ = 0;  ///< frames with content that may wait
  std::size_t filled_ = 0; ///< that wait or are being copied
  std::shared_ptr<buffer_pool> pool_; ///< of this opening; none while no camera is open
  std::deque<entry> waiting_; ///< missed frames in a row share an entry: at most 2 * queue + 1
  std::uint64_t next_device_id_ = 0;
};

/// Camera `push`: gives what a program pushes. Its clock is the program's.
class push_camera final : public camera {
public:
  explicit push_camera(const settings& config);
  ~push_camera() override;

  /// The end for the program.
  std::shared_ptr<push_port> port() const { return port_; }
  /// Takes another port, so that one port outlives the cameras of a stream that is started anew.
  /// Before `open` only.
  void attach(std::shared_ptr<push_port> port);

  expected<camera_info> probe() override;
  expected<void> open(const camera_environment& environment) override;
  camera_event read(graph_time now) override;
  void set_wake(std::function<void()> wake) override;
  void interrupt() noexcept override { port_->stop(media_); }

private:
  media_type_ptr media_;
  double fps_;
  bool live_;
  std::size_t queue_;
  std::shared_ptr<push_port> port_;
};

camera_description push_description();

} // namespace hyperframes
