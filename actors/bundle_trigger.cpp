#include "actors/bundle.hpp"

#include <algorithm>

// Hyperframes of the moments around triggers.
//
// Every moment goes into the ring. A request asks for a window of moments as soon as it is known
// which moment stands first at or after its trigger; the hyperframe is filled from the ring, with
// what is there and then with each moment that comes. As the ring holds `size` moments and windows
// never begin before the one in front of them, none of a window's moments is gone when its turn comes.
namespace hyperframes {

void bundler::keep(
  std::span<const entry> moment, graph_time place, graph_time arrived, graph_time now, output& to) {
  if (arrived > due_)
    wake_ring(now, to);
  if (ring_.full())
    let_oldest_go(to);
  const auto number = ring_.end();
  auto& kept = ring_.push();
  kept.place = place;
  kept.arrived = arrived;
  for (std::size_t m = 0; m < moment.size(); ++m) {
    const auto& e = moment[m];
    auto& into = kept.entries[m];
    into.own = e.content && e.own;
    into.gap = into.own && std::exchange(members_[m].gap, false);
    into.absent = e.absent;
    if (e.content)
      into.content = *e.content;
    waiting_ += into.own ? 1 : 0;
  }
  for (auto& r : requests_)
    if (!r.first && r.moment <= place)
      r.first = number;
  serve(now, to);
}

/// The oldest moment leaves the ring; triggers for it come too late from now on.
void bundler::let_oldest_go(output& to) {
  gone_ = std::max(gone_, ring_.at(ring_.begin()).place);
  skip_oldest(to);
}

/// What no trigger has asked for is skipped.
void bundler::skip_oldest(output& to) {
  for (auto& e : ring_.at(ring_.begin()).entries)
    if (std::exchange(e.own, false)) {
      const auto& meta = e.content->meta;
      to.outcomes.push_back(
        {meta.stream, meta.epoch, meta.frame_id, 1, outcome::skipped, reason::untriggered});
      --waiting_;
    }
  ring_.pop();
}

void bundler::ask(const trigger& t, graph_time now, output& to) {
  const bool placed = lane_.live || t.of_frame; // otherwise it counts where it comes
  if (placed && t.moment <= gone_) {
    ++to.triggers_late;
    return;
  }
  if (requests_.size() >= max_triggers) {
    ++to.triggers_lost;
    return;
  }
  request r{t.moment, now, {}};
  if (!placed) {
    r.first = ring_.end();
    r.moment = ring_.begin() < ring_.end() ? ring_.at(ring_.end() - 1).place : graph_time::min();
  } else if (const auto first = ring_.first_from(t.moment); first < ring_.end()) {
    r.first = first;
  }
  requests_.insert(std::ranges::upper_bound(requests_, r.moment, {}, &request::moment), r);
  serve(now, to);
}

/// Fills the open window from the ring, and opens the next one where it is known what that needs.
void bundler::serve(graph_time now, output& to) {
  while (window_ || open_next(to)) {
    fill_window(now, to);
    if (next_ < window_end_)
      break;
    close_window(release_reason::trigger, now, to);
  }
  rearm();
}

/// @returns false where no trigger waits whose moments are known.
bool bundler::open_next(output& to) {
  if (requests_.empty() || !requests_.front().first)
    return false;
  const auto& r = requests_.front();
  const auto before = *r.first - std::min<std::uint64_t>(*r.first, *options_.pre);
  window_end_ = std::max(window_end_, *r.first + options_.size - *options_.pre);
  window_first_ = std::max({window_first_, before, ring_.begin()});
  window_t0_ = r.came;
  next_ = window_first_;
  window_ = true;
  requests_.erase(requests_.begin());
  // No later trigger gets what stands before: whose results follow must not wait for it.
  while (ring_.begin() < window_first_)
    skip_oldest(to);
  return true;
}

void bundler::fill_window(graph_time now, output& to) {
  for (; next_ < std::min(window_end_, ring_.end()); ++next_) {
    auto& m = ring_.at(next_);
    if (!open_)
      open_ = make_next(m.arrived);
    const auto own_before = own_;
    for (std::size_t i = 0; i < m.entries.size(); ++i) {
      auto& e = m.entries[i];
      place(i, {e.content ? &*e.content : nullptr, e.own, e.absent}, e.gap, to);
      waiting_ -= std::exchange(e.own, false) ? 1 : 0;
    }
    if (own_before + ahead_ == 0 && own_ > 0)
      window_t0_ = std::max(window_t0_, m.arrived);
    open_->descriptor.opened = window_t0_;
    places_[filled_++] = m.place;
    send_first(now, to);
  }
}

void bundler::close_window(release_reason why, graph_time now, output& to) {
  if (own_ > 0) {
    complete(why, now);
    to.released.push_back(std::move(open_));
  }
  clear();
  window_ = false;
  window_end_ = next_; // where time closed it, it asked for no more
}

void bundler::rearm() {
  due_ = never;
  if (!window_ && requests_.empty())
    return;
  const auto b = bound_after(window_ ? window_t0_ : requests_.front().came);
  due_ = b.due;
  due_for_ = b.why;
}

/// The time is up for the window that is open, or for a trigger whose moment has not come: what
/// stands before that is all that it gets.
void bundler::wake_ring(graph_time now, output& to) {
  while (now >= due_) {
    const auto why = due_for_;
    if (!window_) {
      requests_.front().first = ring_.end();
      open_next(to);
      fill_window(now, to);
    }
    close_window(why, now, to);
    serve(now, to);
  }
}

void bundler::flush_ring(graph_time now, output& to) {
  for (auto& r : requests_)
    if (!r.first)
      r.first = ring_.end();
  while (window_ || open_next(to)) {
    fill_window(now, to);
    close_window(
      next_ < window_end_ ? release_reason::flush : release_reason::trigger, now, to);
  }
  while (ring_.begin() < ring_.end())
    let_oldest_go(to);
  gone_ = graph_time::min();
}

} // namespace hyperframes
