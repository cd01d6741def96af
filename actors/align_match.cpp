#include "actors/align.hpp"

#include <algorithm>
#include <limits>

namespace hyperframes {

namespace {
constexpr auto past_all = std::numeric_limits<std::int64_t>::max();
}

bool aligner::rate_known(const member_state& m) const {
  return m.interval_count >= m.intervals.size() / 2;
}

/// The first place at which the stream's next frame may stand.
aligner::place aligner::soonest(const member_state& m) const {
  if (options_.match == match_rule::frame_id)
    return m.newest + (m.epoch ? 1 : 0);
  if (!rate_known(m))
    return m.newest;
  const auto last =
    m.intervals.begin() + std::min<std::ptrdiff_t>(m.interval_count, std::ssize(m.intervals));
  auto period = *std::min_element(m.intervals.begin(), last);
  if (m.fps > 0) // what was seen may all have had losses
    period = std::min(period, static_cast<place>(1e9 / m.fps));
  return m.newest + period - period / 8;
}

/// May a stream that has nothing waiting still give a frame for the set that ends at `last`?
bool aligner::may_come(const member_state& m, place last) const {
  return m.queue.empty() && !m.ended && !silent(m) && soonest(m) <= last;
}

bool aligner::candidate::better_than(const candidate& other) const {
  return holds_all && (count > other.count || (count == other.count && span < other.span));
}

/// The set of the first frames from `start` on, within the tolerance.
/// @param expected counts frames that have not come, as early as they may.
aligner::candidate aligner::set_from(place start, place anchor, bool expected) const {
  candidate c{.start = start};
  for (const auto& m : members_) {
    if (m.rides)
      continue;
    const auto found =
      std::ranges::find_if(m.queue, [&](const waiting_frame& w) { return w.at >= start; });
    auto at = past_all;
    if (found != m.queue.end())
      at = found->at;
    // A stream whose rate is not known yet is not waited for: nothing says that it will be nearer.
    else if (expected && !m.ended && !silent(m) && rate_known(m))
      at = std::max(start, soonest(m));
    if (at <= start + tolerance_) {
      ++c.count;
      c.span = std::max(c.span, at - start);
      c.seen = c.seen && found != m.queue.end();
    } else if (!m.queue.empty() && m.queue.front().at <= anchor + tolerance_) {
      c.holds_all = false;
    }
  }
  return c;
}

/// @returns the last place that belongs to the set of the frame at `anchor`; none: a better set may
/// come. `forced`: decides with what is there.
std::optional<aligner::place> aligner::last_of_set(place anchor, bool forced) const {
  const auto last = anchor + tolerance_;
  const auto wanted = [&](const member_state& m) {
    return m.rides ? !rider_ready(m, anchor) : may_come(m, last);
  };
  if (!forced && std::ranges::any_of(members_, wanted))
    return std::nullopt;
  place latest = anchor;
  for (const auto& m : members_)
    if (!m.rides && !m.queue.empty() && m.queue.front().at <= last)
      latest = std::max(latest, m.queue.front().at);
  auto best = set_from(anchor, anchor, false);
  auto expected = best;
  const auto consider = [&](place start) {
    if (start <= anchor || start > latest)
      return;
    if (const auto c = set_from(start, anchor, false); c.better_than(best))
      best = c;
    if (const auto c = set_from(start, anchor, true); !c.seen && c.better_than(expected))
      expected = c;
  };
  for (const auto& m : members_) {
    if (m.rides)
      continue;
    for (const auto& w : m.queue)
      consider(w.at);
    if (rate_known(m) && !m.ended && !silent(m))
      consider(soonest(m));
  }
  if (!forced && !expected.seen && expected.better_than(best))
    return std::nullopt;
  return best.start == anchor ? last : best.start - 1;
}

} // namespace hyperframes
