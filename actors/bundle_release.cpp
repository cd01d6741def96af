#include "actors/bundle.hpp"

#include <algorithm>

// When a hyperframe is closed.
namespace hyperframes {

namespace {

/// The first multiple of `window` after `t`.
graph_time next_edge(graph_time t, duration window) {
  return graph_time{(t.time_since_epoch() / window + 1) * window};
}

} // namespace

duration late_after(const bundle_options& options, const bundle_lane& lane) {
  return duration{static_cast<std::int64_t>(1.5e9 * options.size * options.every / lane.fps)};
}

/// A file's window goes by its frames' times: `moment` is the first one behind its edge.
bool bundler::past_window(std::span<const entry> moment) const {
  if (lane_.live || !options_.window || own_ + ahead_ == 0)
    return false;
  auto oldest = never;
  for_each_slot([&](std::size_t, const slot& s) {
    if (s.own)
      oldest = std::min(oldest, s.meta.timeline);
  });
  return std::ranges::any_of(moment, [&](const entry& e) {
    return e.content && e.own && e.content->meta.timeline >= next_edge(oldest, *options_.window);
  });
}

/// @returns true where a trigger waited for the moments before `place`; it has been met.
bool bundler::cut_before(graph_time place) {
  return std::erase_if(requests_, [&](const request& r) { return r.moment <= place; }) > 0;
}

/// The earliest time by which a hyperframe that was opened at `t0` is closed, whatever comes.
bundler::bound bundler::bound_after(graph_time t0) const {
  bound b;
  if (!lane_.live)
    return b;
  const auto offer = [&b](graph_time t, release_reason why) {
    if (t < b.due)
      b = {t, why};
  };
  if (options_.timeout)
    offer(later_by(t0, *options_.timeout), release_reason::timeout);
  if (options_.late)
    offer(later_by(t0, late_after(options_, lane_)), release_reason::late);
  if (options_.window)
    offer(next_edge(t0, *options_.window), release_reason::window);
  return b;
}

void bundler::arm(graph_time t0) {
  open_->descriptor.opened = t0;
  const auto b = bound_after(t0);
  due_ = b.due;
  due_for_ = b.why;
}

void bundler::wake(graph_time now, output& to) {
  if (now < due_)
    return;
  if (options_.pre)
    wake_ring(now, to);
  else
    release(due_for_, now, to);
}

void bundler::fire(const trigger& t, graph_time now, output& to) {
  if (!options_.trigger)
    return;
  if (options_.pre)
    return ask(t, now, to);
  // Frames of a file that stand before the moment may still come; a live stream's have come.
  if (lane_.live || !t.of_frame || newest_ >= t.moment)
    release(release_reason::trigger, now, to);
  else if (requests_.size() < max_triggers)
    requests_.push_back({t.moment, now, {}});
  else
    ++to.triggers_lost;
}

void bundler::flush(graph_time now, output& to) {
  if (options_.pre)
    flush_ring(now, to);
  if (own_ > 0) {
    complete(release_reason::flush, now);
    to.released.push_back(std::move(open_));
  }
  clear();
  requests_.clear();
  newest_ = graph_time::min();
  to_skip_ = 0;
  passed_ = 0;
}

void bundler::end(stream_index stream, bool last_epoch, graph_time now, output& to) {
  const auto at = std::ranges::find(lane_.members, stream);
  if (at == lane_.members.end())
    return;
  auto& m = members_[static_cast<std::size_t>(at - lane_.members.begin())];
  m.last.reset(); // its next frame begins an epoch and must not close a second hyperframe
  m.ended = last_epoch;
  if (members_.size() == 1 || holds(stream) || std::ranges::all_of(members_, &member_state::ended))
    flush(now, to);
}

void bundler::release(release_reason why, graph_time now, output& to) {
  if (ahead_ == 0 && (!open_ || (own_ == 0 && filled_ < options_.count)))
    return; // nobody waits for context alone
  const auto overlap = options_.stride < options_.size ? options_.size - options_.stride : 0;
  const auto carried = std::min(overlap, filled_);
  // First what can throw, so that `open_` still owns its frames then.
  auto next = carried > 0 ? make_next(now) : nullptr;
  if (next)
    carry_over(*next, carried, to);
  if (own_ > 0) {
    complete(why, now);
    to.released.push_back(std::move(open_));
  }
  std::copy_n(places_.begin() + (filled_ - carried), carried, places_.begin());
  clear();
  open_ = std::move(next);
  filled_ = carried;
  to_skip_ = options_.stride > options_.size ? options_.stride - options_.size : 0;
}

} // namespace hyperframes
