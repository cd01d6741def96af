#include "cameras/push.hpp"

#include "cameras/picture.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hyperframes {

bool push_port::push(
  std::span<const std::byte> pixels, capture_time captured, const push_details& details) {
  buffer_ref slot;
  media_type_ptr media;
  {
    const std::lock_guard lock{mutex_};
    if (!media_ || closed_)
      return false;
    if (pixels.size() != media_->video.size_bytes())
      throw failure(make_error(
        errc::camera_failed, stream_,
        "a frame of " + std::to_string(pixels.size()) + " bytes was pushed, but "
          + media_->to_string() + " has " + std::to_string(media_->video.size_bytes())
          + "; push tightly packed rows of the size and format that the stream declares"));
    if (filled_ < queue_)
      slot = pool_->acquire();
    if (slot)
      ++filled_;
    media = media_;
  }
  if (slot)
    std::memcpy(slot.data(), pixels.data(), pixels.size());

  std::shared_ptr<const std::function<void()>> wake;
  bool taken = false;
  {
    const std::lock_guard lock{mutex_};
    if (media_ != media || closed_) { // shut, closed or opened anew meanwhile
      if (slot && media_ == media)
        --filled_;
      return false;
    }
    taken = static_cast<bool>(slot);
    if (taken || live_) {
      const auto device_id = details.device_id.value_or(next_device_id_);
      next_device_id_ = device_id + 1;
      if (taken) {
        captured_frame f{captured,      device_id, details.flags,
                         details.truth, media_,    std::move(slot)};
        waiting_.push_back({std::move(f), 1, captured, device_id});
      } else {
        add_missed(captured, device_id, details);
      }
      wake = wake_;
    }
  }
  if (wake && *wake)
    (*wake)();
  return taken;
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
    details.truth, media_,    {}};
  waiting_.push_back({std::move(f), 1, captured, device_id});
}

void push_port::close() {
  std::shared_ptr<const std::function<void()>> wake;
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    wake = wake_;
  }
  if (wake && *wake)
    (*wake)();
}

std::size_t push_port::frame_bytes() const {
  const std::lock_guard lock{mutex_};
  return media_ ? media_->video.size_bytes() : 0;
}

media_type_ptr push_port::open(
  const std::string& stream, const media_type& media, bool live, std::size_t queue,
  std::size_t slots) {
  auto pool = std::make_shared<buffer_pool>(slots, media.video.size_bytes());
  const std::lock_guard lock{mutex_};
  stream_ = stream;
  media_ = make_video_type(media.video);
  live_ = live;
  queue_ = queue;
  filled_ = 0;
  pool_ = std::move(pool);
  waiting_.clear();
  return media_;
}

void push_port::shut(const media_type_ptr& opening) noexcept {
  const std::lock_guard lock{mutex_};
  if (media_ != opening)
    return;
  media_.reset();
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
    if (closed_)
      return end_of_stream{};
    return not_before{};
  }
  auto& first = waiting_.front();
  if (first.count == 1) {
    auto f = std::move(first.item);
    if (f.buffer)
      --filled_;
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
    queue_(static_cast<std::size_t>(config.integer("queue"))),
    port_(std::make_shared<push_port>()) {
  const auto size = config.size("size");
  media_.video =
    video_format::packed(pixel_format_of(config.text("format")), size.width, size.height);
}

push_camera::~push_camera() {
  if (opening_)
    port_->shut(opening_);
}

expected<camera_info> push_camera::probe() {
  camera_info info;
  info.media = media_;
  info.fps = fps_;
  info.live = live_;
  info.frame_bytes = media_.video.size_bytes();
  info.own_frames = queue_;
  return info;
}

expected<void> push_camera::open(const camera_environment& environment) {
  try {
    opening_ =
      port_->open(environment.stream, media_, live_, queue_, environment.frames_ahead + queue_);
  } catch (const failure& f) {
    return make_error(f.what_failed().code, environment.stream, f.what_failed().message);
  }
  return {};
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
