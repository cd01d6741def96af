#include "cameras/push.hpp"

#include "cameras/picture.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hyperframes {

push_result push_port::push_for(
  std::span<const std::byte> pixels, capture_time captured, duration patience,
  const push_details& details) {
  buffer_ref slot;
  std::shared_ptr<buffer_pool> pool;
  {
    std::unique_lock lock{mutex_};
    const auto fits = [&] { return pixels.size() == owner_->video.size_bytes(); };
    if (patience > duration{0}) {
      constexpr duration for_ever = std::chrono::years{1}; // so that no clock overflows
      changed_.wait_for(lock, std::min(patience, for_ever), [&] {
        return over() || (pool_ && (filled_ < queue_ || !fits()));
      });
    }
    if (over())
      return push_result::closed;
    if (!pool_)
      return push_result::not_open;
    if (!fits())
      throw failure(make_error(
        errc::camera_failed, stream_,
        "a frame of " + std::to_string(pixels.size()) + " bytes was pushed, but "
          + owner_->to_string() + " has " + std::to_string(owner_->video.size_bytes())
          + "; push tightly packed rows of the size and format that the stream declares"));
    pool = pool_;
    if (filled_ < queue_)
      slot = pool->acquire();
    if (slot)
      ++filled_;
    else if (!live_)
      return push_result::full;
  }
  if (slot)
    std::memcpy(slot.data(), pixels.data(), pixels.size());

  std::shared_ptr<const std::function<void()>> wake;
  const bool taken = static_cast<bool>(slot);
  {
    const std::lock_guard lock{mutex_};
    if (pool_ != pool) // shut or opened anew meanwhile
      return over() ? push_result::closed : push_result::not_open;
    if (over()) {
      filled_ -= taken ? 1 : 0;
      return push_result::closed;
    }
    const auto device_id = details.device_id.value_or(next_device_id_);
    next_device_id_ = device_id + 1;
    if (taken) {
      captured_frame f{captured,      device_id, details.flags,
                       details.truth, owner_,    std::move(slot)};
      waiting_.push_back({std::move(f), 1, captured, device_id});
    } else {
      add_missed(captured, device_id, details);
    }
    wake = wake_;
  }
  if (wake && *wake)
    (*wake)();
  return taken ? push_result::taken : push_result::full;
}

void push_port::add_missed(
  capture_time captured, std::uint64_t device_id, const push_details& details) {
  if (!waiting_.empty() && (waiting_.back().item.flags & frame_no_buffer) != 0) {
    auto& run = waiting_.back();
    ++run.count;
    run.last_captured = captured;
    run.last_device_id = device_id;
    return;
  }
  captured_frame f{
    captured,      device_id, static_cast<std::uint16_t>(details.flags | frame_no_buffer),
    details.truth, owner_,    {}};
  waiting_.push_back({std::move(f), 1, captured, device_id});
}

void push_port::close() {
  std::shared_ptr<const std::function<void()>> wake;
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    wake = wake_;
  }
  changed_.notify_all();
  if (wake && *wake)
    (*wake)();
}

std::size_t push_port::frame_bytes() const {
  const std::lock_guard lock{mutex_};
  return pool_ ? owner_->video.size_bytes() : 0;
}

void push_port::claim(const media_type_ptr& owner) {
  const std::lock_guard lock{mutex_};
  owner_ = owner;
  stopped_ = false;
  wake_.reset();
  pool_.reset();
  waiting_.clear();
  filled_ = 0;
}

expected<void> push_port::open(
  const media_type_ptr& owner, const std::string& stream, bool live, std::size_t queue,
  std::size_t slots, std::shared_ptr<pool_stats> counted) {
  auto pool = std::make_shared<buffer_pool>(slots, owner->video.size_bytes(), std::move(counted));
  {
    const std::lock_guard lock{mutex_};
    if (owner_ != owner || stopped_)
      return make_error(errc::stopped, stream, "the camera was stopped before it was opened");
    stream_ = stream;
    live_ = live;
    queue_ = queue;
    filled_ = 0;
    pool_ = std::move(pool);
    waiting_.clear();
  }
  changed_.notify_all();
  return {};
}

void push_port::stop(const media_type_ptr& owner) noexcept {
  {
    const std::lock_guard lock{mutex_};
    if (owner_ != owner)
      return;
    stopped_ = true;
  }
  changed_.notify_all();
}

void push_port::shut(const media_type_ptr& owner) noexcept {
  const std::lock_guard lock{mutex_};
  if (owner_ != owner)
    return;
  wake_.reset();
  pool_.reset();
  waiting_.clear();
  filled_ = 0;
}

/// The next frame. Of a run of missed frames, times and counters between the first and the last are
/// spread evenly.
camera_event push_port::take() {
  const std::lock_guard lock{mutex_};
  if (waiting_.empty()) {
    if (over())
      return end_of_stream{};
    return not_before{};
  }
  auto& first = waiting_.front();
  if (first.count == 1) {
    auto f = std::move(first.item);
    if (f.buffer) {
      --filled_;
      changed_.notify_all();
    }
    waiting_.pop_front();
    return f;
  }
  auto f = first.item;
  --first.count;
  first.item.captured +=
    (first.last_captured - first.item.captured) / static_cast<std::int64_t>(first.count);
  first.item.device_id += first.last_device_id > first.item.device_id
                            ? (first.last_device_id - first.item.device_id) / first.count
                            : 1;
  return f;
}

void push_port::set_wake(std::function<void()> wake) {
  const std::lock_guard lock{mutex_};
  wake_ = std::make_shared<const std::function<void()>>(std::move(wake));
}

push_camera::push_camera(const settings& config)
  : fps_(config.number("fps")),
    live_(config.flag("live")),
    queue_(static_cast<std::size_t>(config.integer("queue"))) {
  const auto size = config.size("size");
  media_ = make_video_type(
    video_format::packed(pixel_format_of(config.text("format")), size.width, size.height));
  attach(std::make_shared<push_port>());
}

push_camera::~push_camera() {
  port_->shut(media_);
}

void push_camera::attach(std::shared_ptr<push_port> port) {
  port_ = std::move(port);
  port_->claim(media_);
}

expected<camera_info> push_camera::probe() {
  camera_info info;
  info.media = *media_;
  info.fps = fps_;
  info.live = live_;
  info.frame_bytes = media_->video.size_bytes();
  info.own_frames = queue_;
  return info;
}

expected<void> push_camera::open(const camera_environment& environment) {
  try {
    return port_->open(
      media_, environment.stream, live_, queue_, environment.frames_ahead + queue_,
      environment.pool);
  } catch (const failure& f) {
    if (!live_) // it will not be opened again
      port_->stop(media_);
    return make_error(f.what_failed().code, environment.stream, f.what_failed().message);
  }
}

camera_event push_camera::read(graph_time) {
  return port_->take();
}

void push_camera::set_wake(std::function<void()> wake) {
  port_->set_wake(std::move(wake));
}

camera_description push_description() {
  using enum parameter_type;
  camera_description d;
  d.name = "push";
  d.summary =
    "Takes frames that the program hands in from its own threads, as camera SDKs call back.";
  d.parameters = {
    {.name = "size",
     .type = size,
     .help = "Width and height of the pictures.",
     .required = true,
     .least = 1,
     .most = 16384,
     .unit = "pixels"},
    {.name = "format",
     .type = choice,
     .help = "Pixel format; rows are tightly packed.",
     .initial = initial_value(std::string{"bgr24"}),
     .choices = {"bgr24", "rgb24", "i420", "nv12", "gray8"}},
    {.name = "fps",
     .type = number,
     .help = "Frames in a second, where they come regularly; 0: unknown.",
     .initial = initial_value(0.0),
     .least = 0,
     .most = 100000,
     .unit = "Hz"},
    {.name = "live",
     .type = boolean,
     .help = "true: what finds no room is dropped and counted; false: what finds no room is "
             "refused, and the "
             "program pushes it again.",
     .initial = initial_value(true)},
    {.name = "queue",
     .type = integer,
     .help = "Pushed frames that may wait to be captured.",
     .initial = initial_value(std::int64_t{4}),
     .least = 1,
     .most = 4096,
     .unit = "frames"},
  };
  d.make = [](const settings& config, const std::string&) -> std::unique_ptr<camera> {
    return std::make_unique<push_camera>(config);
  };
  return d;
}

} // namespace hyperframes
