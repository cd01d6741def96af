#include "actors/stream_numbering.hpp"

#include <utility>

namespace hyperframes {

stream_numbering::stream_numbering(
  stream_index stream, bool live, duration latency_budget, double declared_fps)
  : stream_(stream), live_(live), budget_(latency_budget) {
  if (live)
    model_.emplace(declared_fps);
  file_clock_.declared_fps = declared_fps;
  file_clock_.confidence = 1;
}

void stream_numbering::follow(const captured_position& at) {
  epoch_ = at.epoch;
  next_ = at.frames;
  traced_ = at.before + at.frames;
}

std::optional<stream_end>
stream_numbering::epoch_before(const captured_frame& f, arrival_time arrived) {
  const bool jumps = model_ ? model_->jump_at(f.captured, arrived) != clock_model::jump::none
                            : last_ && f.captured < *last_ - clock_model::max_backstep;
  if (!jumps)
    return std::nullopt;
  stream_end end{stream_, epoch_, next_, false};
  ++epoch_;
  next_ = 0;
  if (!model_) {
    base_ += *last_ - *first_ + interval_;
    first_.reset();
    ++file_clock_.jumps_back;
  }
  return end;
}

stream_end stream_numbering::end_epoch() {
  const stream_end end{stream_, epoch_++, std::exchange(next_, 0), false, true};
  if (live_)
    model_.emplace(file_clock_.declared_fps);
  else if (first_)
    base_ += *last_ - *first_ + interval_;
  first_.reset();
  return end;
}

frame_meta stream_numbering::stamp(const captured_frame& f, arrival_time arrived) {
  frame_meta meta;
  meta.stream = stream_;
  meta.epoch = epoch_;
  meta.frame_id = next_++;
  meta.device_id = f.device_id;
  meta.trace_id = (std::uint64_t{stream_} + 1) << 40 | traced_++;
  meta.captured = f.captured;
  meta.arrived = arrived;
  meta.flags = f.flags;
  meta.truth = f.truth;
  std::uint64_t lost = 0;
  const bool again = (f.flags & frame_duplicate) != 0 && f.device_id == last_device_id_;
  if (meta.frame_id > 0 && !again && f.device_id != last_device_id_ + 1) {
    meta.flags |= frame_gap_before;
    lost = f.device_id > last_device_id_ ? f.device_id - last_device_id_ - 1 : 0;
    device_lost_ += lost;
  }
  last_device_id_ = f.device_id;
  if (!model_) {
    meta.timeline = place_in_file(f.captured);
    return meta;
  }
  meta.timeline = model_->add(f.captured, arrived, lost);
  if (budget_ != duration::max())
    meta.deadline = later_by(meta.timeline, budget_);
  return meta;
}

graph_time stream_numbering::place_in_file(capture_time captured) {
  if (!first_) {
    first_ = last_ = captured;
  } else if (captured > *last_) {
    interval_ = captured - *last_;
    last_ = captured;
    if (next_ > 1)
      file_clock_.fps = static_cast<double>(next_ - 1) / in_seconds(*last_ - *first_);
  }
  return graph_time{base_ + (captured - *first_)};
}

} // namespace hyperframes
