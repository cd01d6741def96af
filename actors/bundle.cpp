#include "actors/bundle.hpp"

#include "runtime/pool_stats.hpp"

#include <algorithm>
#include <cstring>

namespace hyperframes {

namespace {

bool was_seen(const slot& s) {
  return s.valid || s.absent == reason::corrupt || s.absent == reason::pack;
}

/// Where a moment stands on the time line: its oldest own frame, or, where it has none, its arrival.
graph_time place_of(std::span<const bundler::entry> moment, graph_time arrived) {
  auto oldest = never;
  for (const auto& e : moment)
    if (e.content && e.own)
      oldest = std::min(oldest, e.content->meta.timeline);
  return oldest == never ? arrived : oldest;
}

} // namespace

bundler::bundler(const bundle_options& options, bundle_lane lane, bundle_shared& shared)
  : options_(options),
    lane_(std::move(lane)),
    shared_(shared),
    members_(lane_.members.size()),
    places_(options.size),
    ring_(options.ring(), lane_.members.size()) {
  if (lane_.pack)
    for (auto& m : members_)
      m.packs.emplace(*lane_.pack);
}

void bundler::add(std::span<const entry> moment, graph_time arrived, graph_time now, output& to) {
  if (moment.size() != members_.size())
    throw failure(make_error(
      errc::stage_failed, shared_.stage,
      "a set of " + std::to_string(moment.size()) + " frames came where "
        + std::to_string(members_.size())
        + " streams of the group pass; send all of a group's streams through "
          "one `align`"));
  if (new_epoch(moment))
    flush(now, to);
  note(moment);
  if (options_.every > 1 && passed_++ % options_.every != 0) {
    skip(moment, reason::every, to);
    return;
  }
  const auto at = place_of(moment, arrived);
  if (options_.pre) {
    keep(moment, at, arrived, now, to);
    return;
  }
  if (arrived > due_)
    release(due_for_, now, to);
  else if (past_window(moment))
    release(release_reason::window, now, to);
  else if (cut_before(at))
    release(release_reason::trigger, now, to);
  if (to_skip_ > 0) {
    --to_skip_;
    skip(moment, reason::stride, to);
    return;
  }
  if (!open_)
    open_ = make_next(now);
  const auto own_before = own_;
  for (std::size_t m = 0; m < moment.size(); ++m)
    place(m, moment[m], moment[m].own && std::exchange(members_[m].gap, false), to);
  places_[filled_] = at;
  newest_ = std::max(newest_, at);
  if (own_ > own_before && (own_before + ahead_ == 0 || arrived < open_->descriptor.opened))
    arm(arrived);
  ++filled_;
  send_first(now, to);
  if (filled_ >= options_.count)
    release(release_reason::count, now, to);
}

bool bundler::new_epoch(std::span<const entry> moment) const {
  for (std::size_t m = 0; m < moment.size(); ++m)
    if (
      moment[m].content && moment[m].own && members_[m].last
      && moment[m].content->meta.epoch != members_[m].last->epoch)
      return true;
  return false;
}

void bundler::note(std::span<const entry> moment) {
  for (std::size_t i = 0; i < moment.size(); ++i) {
    if (!moment[i].content || !moment[i].own)
      continue;
    const auto& meta = moment[i].content->meta;
    auto& m = members_[i];
    const bool same_epoch = m.last && m.last->epoch == meta.epoch;
    m.gap = (meta.flags & frame_gap_before) != 0
            || (same_epoch && (m.gap || meta.frame_id != m.last->frame_id + 1));
    m.last = meta.position();
  }
}

void bundler::skip(std::span<const entry> moment, reason why, output& to) {
  for (const auto& e : moment)
    if (e.content && e.own) {
      const auto& meta = e.content->meta;
      to.outcomes.push_back({meta.stream, meta.epoch, meta.frame_id, 1, outcome::skipped, why});
    }
}

/// What the next moment goes into.
std::shared_ptr<hyperframe> bundler::make_next(graph_time now) {
  if (options_.stream_first && filled_ == 0)
    return make(1, shared_.firsts, now);
  auto h = make(options_.size - ahead_, shared_.tensors, now);
  h->descriptor.first_slot = ahead_ * members();
  if (ahead_ > 0)
    h->descriptor.opened = head_.opened;
  return h;
}

std::shared_ptr<hyperframe> bundler::make(std::uint32_t moments, buffer_pool& tensors, graph_time now) {
  auto h = make_recycled<hyperframe>();
  auto& d = h->descriptor;
  d.group = lane_.group;
  d.members = members();
  d.priority = lane_.priority;
  d.slots.resize(std::size_t{moments} * members());
  for (std::size_t i = 0; i < d.slots.size(); ++i)
    d.slots[i].meta.stream = lane_.members[i % members()];
  if (options_.keep_frames)
    h->frames.resize(d.slots.size());
  if (lane_.pack) {
    h->pack = *lane_.pack;
    h->tensor = tensors.acquire();
    if (!h->tensor)
      throw failure(make_error(
        errc::out_of_memory, shared_.stage,
        "all " + std::to_string(tensors.slots())
          + " tensors are in use although the plan says that more cannot be open, queued and "
            "inferred "
            "at once; this is a defect of the plan and not of the graph file"));
    h->tensor.note_taken(held_slot::nobody, now);
  }
  return h;
}

std::span<std::byte> bundler::memory(const hyperframe& h, std::size_t slot) const {
  const auto bytes = lane_.pack->slot_bytes();
  return {h.tensor.data() + slot * bytes, bytes};
}

/// @param gap frames of the stream are missing before this one.
void bundler::place(std::size_t member, const entry& e, bool gap, output& to) {
  const auto index = std::size_t{filled_ - ahead_} * members() + member;
  auto& s = open_->descriptor.slots[index];
  if (!e.content) {
    s.absent = e.absent;
    return;
  }
  s.meta = e.content->meta;
  if (gap)
    s.meta.flags |= frame_gap_before;
  else
    s.meta.flags &= static_cast<std::uint16_t>(~frame_gap_before);
  s.absent = pack(member, *e.content, index);
  if (s.absent != reason::none) {
    if (e.own)
      to.outcomes.push_back(
        {s.meta.stream, s.meta.epoch, s.meta.frame_id, 1, outcome::failed, s.absent});
    return;
  }
  s.valid = true;
  s.own = e.own;
  if (e.own)
    ++own_;
  else if (lane_.pack)
    to.bytes_copied += lane_.pack->slot_bytes();
  if (options_.keep_frames)
    open_->frames[index] = *e.content;
}

/// @returns why the slot must stay masked; `none` when the frame is in it.
reason bundler::pack(std::size_t member, const frame& f, std::size_t slot) {
  if (f.meta.flags & frame_corrupt)
    return reason::corrupt;
  if (!f.buffer)
    return reason::pack;
  if (!lane_.pack)
    return reason::none;
  const auto geometry = members_[member].packs->pack(f, memory(*open_, slot));
  if (!geometry)
    return reason::pack;
  open_->descriptor.slots[slot].geometry = *geometry;
  return reason::none;
}

/// Copies the newest `moments` of the open hyperframe to the head of `next`.
void bundler::carry_over(hyperframe& next, std::uint32_t moments, output& to) {
  const auto slots = std::size_t{moments} * members();
  const auto first = std::size_t{filled_ - moments} * members();
  const auto& from = *open_;
  for (std::size_t i = 0; i < slots; ++i) {
    next.descriptor.slots[i] = from.descriptor.slots[first + i];
    next.descriptor.slots[i].own = false;
    if (options_.keep_frames)
      next.frames[i] = from.frames[first + i];
  }
  if (lane_.pack) {
    const auto bytes = slots * lane_.pack->slot_bytes();
    std::memcpy(next.tensor.data(), memory(from, first).data(), bytes);
    to.bytes_copied += bytes;
  }
}

/// Pads the open hyperframe and writes its descriptor.
void bundler::complete(release_reason why, graph_time now) {
  auto& d = open_->descriptor;
  if (ahead_ > 0) {
    d.sequence = head_.sequence;
  } else {
    d.sequence = shared_.sequence;
    d.sequence.counter = shared_.counter->fetch_add(1, std::memory_order_relaxed);
  }
  d.released_by = why;
  d.released = now;
  if (lane_.pack)
    for (std::size_t i = 0; i < d.slots.size(); ++i)
      if (!d.slots[i].valid)
        members_[i % members()].packs->fill(memory(*open_, i));
  auto oldest = never, newest = graph_time::min();
  for_each_slot([&](std::size_t, const slot& s) {
    if (!s.valid)
      return;
    oldest = std::min(oldest, s.meta.timeline);
    newest = std::max(newest, s.meta.timeline);
  });
  d.span = newest - oldest;
  d.off_pace = off_pace();
  for (auto& m : members_)
    m.seen = false;
  for_each_slot([&](std::size_t member, const slot& s) {
    if (!was_seen(s))
      return;
    auto& seen = members_[member].seen;
    d.consecutive = d.consecutive && (!seen || !(s.meta.flags & frame_gap_before));
    seen = true;
  });
}

/// |place of the last moment - of the first - (moments - 1) * every / fps| > every / (2 fps)
bool bundler::off_pace() const {
  if (!lane_.paced || filled_ < 2)
    return false;
  const auto period = duration{static_cast<std::int64_t>(1e9 * options_.every / lane_.fps)};
  const auto off = places_[filled_ - 1] - places_[0] - (filled_ - 1) * period;
  return std::chrono::abs(off) > period / 2;
}

bool bundler::holds(stream_index stream) const {
  for (auto n = ring_.begin(); n < ring_.end(); ++n)
    for (const auto& e : ring_.at(n).entries)
      if (e.own && e.content->meta.stream == stream)
        return true;
  bool found = false;
  for_each_slot(
    [&](std::size_t, const slot& s) { found = found || (s.own && s.meta.stream == stream); });
  return found;
}

void bundler::clear() {
  open_.reset();
  filled_ = 0;
  ahead_ = 0;
  own_ = 0;
  due_ = never;
}

void bundler::give_up(outcome what, reason why, outcome_batch& into) {
  if (open_)
    for (const auto& s : open_->descriptor.slots)
      if (s.own)
        into.add(s.meta, what, why);
  clear();
  for (; ring_.begin() < ring_.end(); ring_.pop())
    for (const auto& e : ring_.at(ring_.begin()).entries)
      if (e.own)
        into.add(e.content->meta, what, why);
  waiting_ = 0;
  window_ = false;
  requests_.clear();
}

} // namespace hyperframes
