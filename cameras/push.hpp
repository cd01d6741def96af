#pragma once

#include "cameras/camera.hpp"

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

/// Where a program hands frames in from its own threads, as camera SDKs call back. The program
/// keeps it, the runtime owns the camera; either may go first.
///
///   port->push(std::as_bytes(std::span{pixels, size}), capture_time{sdk_time_ns});
///
/// Thread-safe. Frames of several pushing threads come in the order in which `push` returned.
class push_port {
public:
  /// Copies the picture into the camera's pool. Never blocks for longer than that copy.
  /// @param pixels all planes, rows tightly packed: exactly `frame_bytes()`.
  /// @returns true where the frame was taken. false where it was not: before the camera was opened,
  /// after `close`, or because pool or queue are full. In the last case a live stream still counts
  /// it, as a frame without content that ends as dropped; a stream that is not live knows nothing
  /// of it, and the program may push it again. Throws `failure` where the size is wrong.
  bool
  push(std::span<const std::byte> pixels, capture_time captured, const push_details& details = {});

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

  /// @returns what names this opening; `shut` for an earlier one does nothing.
  media_type_ptr open(
    const std::string& stream, const media_type& media, bool live, std::size_t queue,
    std::size_t slots);
  void shut(const media_type_ptr& opening) noexcept;
  camera_event take();
  void set_wake(std::function<void()> wake);
  void add_missed(capture_time captured, std::uint64_t device_id, const push_details& details);

  mutable std::mutex mutex_; ///< guards all below
  std::shared_ptr<const std::function<void()>> wake_;
  std::string stream_;
  media_type_ptr media_; ///< of this opening; none while no camera is open
  bool live_ = true;
  bool closed_ = false;
  std::size_t queue_ = 0;  ///< frames with content that may wait
  std::size_t filled_ = 0; ///< that wait or are being copied
  std::shared_ptr<buffer_pool> pool_;
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
  void attach(std::shared_ptr<push_port> port) { port_ = std::move(port); }

  expected<camera_info> probe() override;
  expected<void> open(const camera_environment& environment) override;
  camera_event read(graph_time now) override;
  void set_wake(std::function<void()> wake) override;

private:
  media_type media_;
  double fps_;
  bool live_;
  std::size_t queue_;
  std::shared_ptr<push_port> port_;
  media_type_ptr opening_;
};

camera_description push_description();

} // namespace hyperframes
