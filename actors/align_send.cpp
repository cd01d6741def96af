#include "actors/align.hpp"

#include <algorithm>

namespace hyperframes {

void aligner::leave(place anchor, place last, output& to) {
  last_anchor_ = anchor;
  const auto in_set = [&](member_state& m) {
    return m.rides ? choose(m, anchor).used != nullptr
                   : !m.queue.empty() && m.queue.front().at <= last;
  };
  const auto present = static_cast<std::size_t>(std::ranges::count_if(members_, in_set));
  const auto wanted = options_.missing == missing_rule::strict ? members_.size()
                      : options_.missing == missing_rule::at_least
                        ? std::min<std::size_t>(options_.least, members_.size())
                        : 1;
  for (auto& m : members_) {
    if (m.rides)
      continue;
    // Who was waited for in vain has missed this set; who was not may still come behind its anchor.
    const bool missed = m.queue.empty() && may_come(m, last);
    m.earliest = std::max(m.earliest, missed ? last + 1 : anchor);
  }
  if (present < wanted)
    drop(last, present == 1 ? reason::unmatched : reason::incomplete_set, to);
  else
    send(anchor, last, to);
}

void aligner::drop(place last, reason why, output& to) {
  for (auto& m : members_)
    if (!m.rides && !m.queue.empty() && m.queue.front().at <= last) {
      const auto meta = take(m).meta;
      to.outcomes.push_back({meta.stream, meta.epoch, meta.frame_id, 1, outcome::dropped, why});
    }
}

void aligner::send(place anchor, place last, output& to) {
  auto set = std::make_shared<aligned_set>();
  set->group = group_;
  for (const auto& m : members_)
    if (!m.rides && !m.queue.empty() && m.queue.front().at == anchor) {
      set->moment = options_.match == match_rule::frame_id ? m.queue.front().content.meta.timeline
                                                           : graph_time{duration{anchor}};
      break;
    }
  set->arrived = never;
  set->members.reserve(members_.size());
  for (auto& m : members_) {
    auto& entry = set->members.emplace_back();
    entry.stream = m.stream;
    if (m.rides) {
      entry.item = ride(m, anchor, entry.own);
    } else if (!m.queue.empty() && m.queue.front().at <= last) {
      entry.item = take(m);
      entry.own = true;
    }
    fill(entry, m, set->moment);
    if (entry.own)
      set->arrived = std::min(set->arrived, as_graph(entry.item->meta.arrived));
  }
  to.sent.emplace_back(std::move(set));
}

/// By the rule for missing members.
void aligner::fill(aligned_set::member& entry, member_state& m, graph_time moment) {
  const bool holds =
    options_.missing == missing_rule::hold_last || options_.match == match_rule::hold_last;
  if (entry.item) {
    const auto& f = *entry.item;
    if (holds && entry.own && !m.ended && f.buffer && !(f.meta.flags & frame_corrupt))
      m.last = f;
    return;
  }
  if (m.last && moment - m.last->meta.timeline <= options_.max_age)
    entry.item = m.last;
  else
    entry.absent = reason::unmatched;
}

/// Takes the first waiting frame out; its outcome is the caller's.
frame aligner::take(member_state& m) {
  auto f = std::move(m.queue.front().content);
  m.queue.pop_front();
  ++m.left;
  --held_;
  return f;
}

} // namespace hyperframes
