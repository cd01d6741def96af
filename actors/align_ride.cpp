#include "actors/align.hpp"

#include <algorithm>
#include <utility>

namespace hyperframes {

/// The stream that paces the sets: of those that give frames the one with the highest declared
/// rate, of equal ones the first. Who still has frames waiting to form sets goes on until they have
/// left.
std::size_t aligner::fastest() const {
  const member_state* best = nullptr;
  for (const auto& m : members_) {
    const bool pacing = !m.rides && !m.queue.empty();
    if ((m.ended || silent(m)) && !pacing)
      continue;
    if (!best || m.fps > best->fps)
      best = &m;
  }
  return best ? static_cast<std::size_t>(best - members_.data()) : 0;
}

void aligner::assign_roles(output& to) {
  if (!riders_)
    return;
  const bool beside_images =
    options_.match == match_rule::linear
    && std::ranges::any_of(members_, [](const auto& m) { return !m.interpolates; });
  const auto pacing = beside_images ? members_.size() : fastest();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto& m = members_[i];
    const bool rides = beside_images ? m.interpolates : i != pacing;
    if (m.rides && !rides) { // its frames form sets from now on, behind those that have left
      for (auto& w : m.queue)
        if (w.at < last_anchor_)
          settle(m, w, to);
      const auto gone =
        std::ranges::remove_if(m.queue, [](const waiting_frame& w) { return !w.owed; });
      m.queue.erase(gone.begin(), gone.end());
      m.earliest = std::max(m.earliest, last_anchor_);
    }
    m.rides = rides;
  }
}

/// Ends a frame that no set has used.
void aligner::settle(member_state& m, waiting_frame& w, output& to) {
  if (!w.owed)
    return;
  const auto& meta = w.content.meta;
  to.outcomes.push_back(
    {meta.stream, meta.epoch, meta.frame_id, 1, outcome::dropped, reason::unmatched});
  w.owed = false;
  ++m.left;
  --held_;
}

/// The newest frame that counts as taken at or before the moment.
aligner::waiting_frame* aligner::held_by(member_state& m, place anchor) {
  const auto last = options_.match == match_rule::hold_last ? anchor + tolerance_ : anchor;
  waiting_frame* found = nullptr;
  for (auto& w : m.queue) {
    if (w.at > last)
      break;
    found = &w;
  }
  return found;
}

/// Is what the stream can give for the moment there, or must it be waited for?
bool aligner::rider_ready(const member_state& m, place anchor) const {
  if (m.ended || silent(m))
    return true;
  if (options_.match == match_rule::hold_last)
    return options_.live || m.newest > anchor + tolerance_;
  if (m.newest > anchor)
    return true;
  return !m.queue.empty() && m.queue.back().at == anchor;
}

/// No set comes before `first`: forgets what none can use.
void aligner::trim_rider(member_state& m, place first, output& to) {
  const auto* held = held_by(m, first);
  while (held && &m.queue.front() != held) {
    settle(m, m.queue.front(), to);
    m.queue.pop_front();
  }
}

void aligner::expire_riders(graph_time now, output& to) {
  if (!riders_)
    return;
  const bool sets_end = std::ranges::all_of(
    members_, [](const auto& m) { return m.rides || (m.ended && m.queue.empty()); });
  for (auto& m : members_) {
    if (!m.rides)
      continue;
    for (auto& w : m.queue) {
      const auto due = options_.live ? later_by(w.since, options_.wait) : never;
      if (sets_end || due <= now)
        settle(m, w, to);
      else if (w.owed)
        due_ = std::min(due_, due);
    }
    if (sets_end)
      m.queue.clear();
  }
}

/// What the stream has for the set at `anchor`: a frame, two to interpolate between, or nothing.
aligner::ride_choice aligner::choose(member_state& m, place anchor) {
  const auto max_age = options_.max_age.count();
  auto* before = held_by(m, anchor);
  if (options_.match == match_rule::hold_last) {
    if (!before || anchor - before->at > max_age)
      return {};
    const auto& f = before->content;
    const bool whole = !m.ended && f.buffer && !(f.meta.flags & frame_corrupt);
    return before->owed || whole ? ride_choice{before, nullptr} : ride_choice{};
  }
  if (before && before->at == anchor)
    return {before, nullptr};
  const auto next = std::ranges::find_if(m.queue, [&](const auto& w) { return w.at > anchor; });
  auto* after = next == m.queue.end() ? nullptr : &*next;
  if (before && after && anchor - before->at <= max_age && after->at - anchor <= max_age)
    return {before, after};
  const bool near_before = before && anchor - before->at <= tolerance_;
  const bool near_after = after && after->at - anchor <= tolerance_;
  if (near_before && near_after)
    return {anchor - before->at <= after->at - anchor ? before : after, nullptr};
  return {near_before ? before : near_after ? after : nullptr, nullptr};
}

/// @returns what the stream gives for the set at `anchor`; `own` where the frame is new.
std::optional<frame> aligner::ride(member_state& m, place anchor, bool& own) {
  auto [used, other] = choose(m, anchor);
  if (!used)
    return std::nullopt;
  std::optional<frame> made;
  if (other) {
    const auto share =
      static_cast<double>(anchor - used->at) / static_cast<double>(other->at - used->at);
    made = interpolator_.between(used->content, other->content, share);
    if (!made && share > 0.5)
      used = other;
  }
  own = std::exchange(used->owed, false);
  if (own) {
    ++m.left;
    --held_;
  }
  return made ? std::move(made) : used->content;
}

} // namespace hyperframes
