#include "actors/align.hpp"

#include <algorithm>
#include <limits>

namespace hyperframes {

namespace {
constexpr auto before_all = std::numeric_limits<std::int64_t>::min();
}

aligner::aligner(
  const align_options& options, std::uint32_t group, const std::vector<stream_index>& streams)
  : options_(options),
    group_(group),
    tolerance_(options.match == match_rule::nearest ? options.tolerance.count() : 0) {
  for (auto s : streams) {
    auto& m = members_.emplace_back();
    m.stream = s;
    m.newest = before_all;
    m.earliest = before_all;
    m.queue.set_capacity(options.depth + 1);
  }
}

std::int64_t aligner::place_of(const member_state& m, const frame_meta& meta) const {
  if (options_.match == match_rule::frame_id)
    return static_cast<std::int64_t>(meta.device_id);
  const auto place = meta.timeline.time_since_epoch().count();
  // A clock model that is still learning may put a frame a little before its predecessor.
  return m.epoch == meta.epoch ? std::max(place, m.newest) : place;
}

void aligner::add(std::uint32_t member, frame f, graph_time now, output& to) {
  auto& m = members_.at(member);
  const auto place = place_of(m, f.meta);
  if (m.epoch != f.meta.epoch) {
    const bool anew = m.epoch.has_value();
    m.epoch = f.meta.epoch;
    if (anew && options_.match == match_rule::frame_id) {
      m.earliest =
        before_all; // the device counts anew, and what the others showed says nothing now
      for (auto& other : members_)
        other.newest = before_all;
    }
  }
  m.newest = place;
  m.queue.push_back({std::move(f), place, now});
  ++m.came;
  ++held_;
  advance(now, to);
}

void aligner::end(std::uint32_t member, const stream_end& end, graph_time now, output& to) {
  auto& m = members_.at(member);
  m.ends.push_back({end, m.came});
  ++ends_waiting_;
  if (end.last_epoch) {
    m.ended = true;
    m.last.reset();
  }
  advance(now, to);
}

bool aligner::takes(std::uint32_t member) const {
  return options_.live || members_.at(member).queue.size() < options_.depth;
}

void aligner::wake(graph_time now, output& to) {
  if (now >= due_)
    advance(now, to);
}

void aligner::advance(graph_time now, output& to) {
  for (;;) {
    drop_stale(to);
    const member_state* anchor = nullptr;
    auto oldest = never;
    bool full = false;
    for (const auto& m : members_) {
      if (m.queue.empty())
        continue;
      if (!anchor || m.queue.front().place < anchor->queue.front().place)
        anchor = &m;
      oldest = std::min(oldest, m.queue.front().since);
      full = full || m.queue.size() > options_.depth;
    }
    due_ = never;
    if (!anchor)
      break;
    const auto place = anchor->queue.front().place;
    const auto may_come = [&](const member_state& m) {
      return m.queue.empty() && !m.ended && m.newest <= place + tolerance_;
    };
    if (std::ranges::any_of(members_, may_come)) {
      const auto due = options_.live ? later_by(oldest, options_.wait) : never;
      if (now < due && !full) {
        due_ = due;
        break;
      }
    }
    leave(anchor->queue.front().content.meta, place, to);
  }
  send_ends(to);
}

void aligner::drop_stale(output& to) {
  for (auto& m : members_)
    while (!m.queue.empty() && m.queue.front().place < m.earliest) {
      const auto meta = take(m).meta;
      to.outcomes.push_back(
        {meta.stream, meta.epoch, meta.frame_id, 1, outcome::dropped, reason::stale});
    }
}

void aligner::leave(const frame_meta& first, std::int64_t place, output& to) {
  const auto anchor = first; // its frame is about to leave
  const auto last = place + tolerance_;
  const auto present = static_cast<std::size_t>(std::ranges::count_if(
    members_, [&](const auto& m) { return !m.queue.empty() && m.queue.front().place <= last; }));
  const auto wanted = options_.missing == missing_rule::strict ? members_.size()
                      : options_.missing == missing_rule::at_least
                        ? std::min<std::size_t>(options_.least, members_.size())
                        : 1;
  for (auto& m : members_) {
    const bool in = !m.queue.empty() && m.queue.front().place <= last;
    m.earliest = std::max(m.earliest, in ? place : last + 1);
  }
  if (present < wanted)
    drop(last, present == 1 ? reason::unmatched : reason::incomplete_set, to);
  else
    send(anchor, place, to);
}

void aligner::drop(std::int64_t last, reason why, output& to) {
  for (auto& m : members_)
    if (!m.queue.empty() && m.queue.front().place <= last) {
      const auto meta = take(m).meta;
      to.outcomes.push_back({meta.stream, meta.epoch, meta.frame_id, 1, outcome::dropped, why});
    }
}

void aligner::send(const frame_meta& anchor, std::int64_t place, output& to) {
  const auto last = place + tolerance_;
  auto set = std::make_shared<aligned_set>();
  set->group = group_;
  set->moment =
    options_.match == match_rule::nearest ? graph_time{duration{place}} : anchor.timeline;
  set->arrived = never;
  set->members.reserve(members_.size());
  for (auto& m : members_) {
    auto& entry = set->members.emplace_back();
    entry.stream = m.stream;
    if (!m.queue.empty() && m.queue.front().place <= last) {
      entry.item = take(m);
      entry.own = true;
      set->arrived = std::min(set->arrived, as_graph(entry.item->meta.arrived));
      if (
        options_.missing == missing_rule::hold_last && !m.ended && entry.item->buffer
        && !(entry.item->meta.flags & frame_corrupt))
        m.last = entry.item;
    } else if (m.last) {
      entry.item = m.last;
    } else {
      entry.absent = reason::unmatched;
    }
  }
  to.sent.emplace_back(std::move(set));
}

frame aligner::take(member_state& m) {
  auto f = std::move(m.queue.front().content);
  m.queue.pop_front();
  ++m.left;
  --held_;
  return f;
}

void aligner::send_ends(output& to) {
  if (ends_waiting_ == 0)
    return;
  for (auto& m : members_)
    while (!m.ends.empty() && m.left >= m.ends.front().behind) {
      to.sent.emplace_back(m.ends.front().end);
      m.ends.erase(m.ends.begin());
      --ends_waiting_;
    }
}

void aligner::give_up(outcome what, reason why, outcome_batch& into) {
  for (auto& m : members_) {
    for (const auto& w : m.queue)
      into.add(w.content.meta, what, why);
    m.queue.clear();
    m.left = m.came;
    m.last.reset();
  }
  held_ = 0;
  due_ = never;
}

} // namespace hyperframes
