#include "cameras/fault_entry.hpp"

#include "cameras/random_draw.hpp"
#include "cameras/resized.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hyperframes {

namespace {

/// The nearest whole number of nanoseconds; stops where it would overflow.
duration nanoseconds(double ns) {
  constexpr double limit = 4e18;
  return duration{std::llround(std::clamp(ns, -limit, limit))};
}

/// `t + d` that stops at the ends of time: a table may hold any time, and jumps add up.
capture_time moved(capture_time t, duration d) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(t.time_since_epoch().count(), d.count(), &sum))
    sum = d < duration{0} ? std::numeric_limits<std::int64_t>::min()
                          : std::numeric_limits<std::int64_t>::max();
  return capture_time{duration{sum}};
}

} // namespace

void faulty_camera::entry::prepare(
  const media_type& from, std::size_t slots, std::shared_ptr<pool_stats> counted) {
  if (what_.kind != fault_kind::resize)
    return;
  media_ =
    make_video_type(video_format::packed(from.video.format, what_.size.width, what_.size.height));
  pool_ = buffer_pool{slots, media_->video.size_bytes(), std::move(counted)};
}

void faulty_camera::entry::pass(passing& p, fault_counts& counts) {
  random_draw draw{seed_, p.frame.device_id};
  const bool hit = happens(p.frame.device_id, draw.unit()) && !lasts(p.now);
  if (hit) {
    counts.add(what_.kind);
    begin(p);
  }
  apply(p, hit, draw.unit());
}

bool faulty_camera::entry::happens(std::uint64_t id, double drawn) {
  if (what_.rate)
    return drawn < *what_.rate;
  if (what_.at.empty())
    return !std::exchange(begun_, true);
  if (next_ == what_.at.size() || id < what_.at[next_])
    return false;
  ++next_;
  return true;
}

void faulty_camera::entry::begin(const passing& p) {
  on_ = true;
  first_ = p.frame.captured;
  first_id_ = p.frame.device_id;
  left_ = what_.count > 0 ? what_.count : std::numeric_limits<std::uint64_t>::max();
  if (what_.kind == fault_kind::silence && p.live)
    silent_until_ = later_by(p.now, what_.by);
  if (what_.kind == fault_kind::jump_forward)
    jumped_ = moved(jumped_, what_.by);
  if (what_.kind == fault_kind::jump_back)
    jumped_ = moved(jumped_, -what_.by);
}

/// One frame of those that it lasts.
bool faulty_camera::entry::take_one() {
  if (left_ == 0)
    return false;
  --left_;
  return true;
}

void faulty_camera::entry::apply(passing& p, bool hit, double drawn) {
  auto& f = p.frame;
  switch (what_.kind) {
    case fault_kind::skew:
      if (on_)
        f.captured = moved(
          moved(f.captured, what_.by),
          nanoseconds(static_cast<double>((f.captured - first_).count()) * what_.drift / 1e6));
      break;
    case fault_kind::lying_rate:
      if (on_)
        f.captured = moved(
          first_, nanoseconds(
                    static_cast<double>(static_cast<std::int64_t>(f.device_id - first_id_)) * 1e9
                    / what_.fps));
      break;
    case fault_kind::jitter:
      if (hit)
        p.delay += nanoseconds(static_cast<double>(what_.by.count()) * drawn);
      break;
    case fault_kind::gap:
      p.lost = take_one();
      return;
    case fault_kind::duplicate:
      if (hit)
        p.copies += what_.count;
      break;
    case fault_kind::jump_back:
    case fault_kind::jump_forward:
      f.captured = moved(f.captured, jumped_.time_since_epoch());
      break;
    case fault_kind::corrupt:
      if (take_one())
        f.flags |= frame_corrupt;
      return;
    case fault_kind::resize:
      if (take_one())
        resize(f);
      return;
    case fault_kind::silence:
      p.lost = p.now < silent_until_;
      if (hit && !p.live)
        p.delay += what_.by;
      break;
  }
  left_ = 0;
}

void faulty_camera::entry::resize(captured_frame& f) {
  if (f.media->what != media_type::kind::video || f.media->video.format != media_->video.format)
    return; // the camera itself has changed to something else
  if (f.buffer) {
    auto scaled = pool_.acquire();
    if (scaled)
      resize_picture(f.media->video, f.buffer.data(), media_->video, scaled.data());
    else
      f.flags |= frame_no_buffer;
    f.buffer = std::move(scaled);
  }
  f.media = media_;
}

} // namespace hyperframes
