#include "actors/align.hpp"

#include <algorithm>
#include <limits>

namespace hyperframes {

namespace {

constexpr auto before_all = std::numeric_limits<std::int64_t>::min();

/// Leaves room for sums, whatever a device counts.
constexpr std::uint64_t largest_id = (std::uint64_t{1} << 62) - 1;

std::vector<duration> periods_of(const std::vector<align_member>& members) {
  std::vector<duration> periods;
  for (const auto& m : members)
    periods.push_back(duration{m.fps > 0 ? static_cast<std::int64_t>(1e9 / m.fps) : 0});
  return periods;
}

} // namespace

aligner::aligner(
  const align_options& options, std::uint32_t group, const std::vector<align_member>& members)
  : options_(options),
    group_(group),
    tolerance_(options.match == match_rule::frame_id ? 0 : options.tolerance.count()),
    watch_(options.silent_after, periods_of(members)),
    interpolator_(vector_interpolator::slots_of_a_group),
    riders_(options.match == match_rule::linear || options.match == match_rule::hold_last),
    last_anchor_(before_all) {
  for (const auto& member : members) {
    auto& m = members_.emplace_back();
    m.stream = member.stream;
    m.fps = member.fps;
    m.interpolates = member.interpolates;
    m.newest = before_all;
    m.earliest = before_all;
    // One that rides may have one more waiting, and one that is only held.
    m.queue.set_capacity(options.depth + (riders_ ? 3 : 1));
    m.ended = !member.attached;
    if (m.ended)
      watch_.ended(static_cast<std::uint32_t>(members_.size() - 1));
  }
  output none;
  assign_roles(none);
}

bool aligner::silent(const member_state& m) const {
  return watch_.silent(static_cast<std::uint32_t>(&m - members_.data()));
}

aligner::place aligner::place_of(const member_state& m, const frame_meta& meta) const {
  if (options_.match == match_rule::frame_id)
    return static_cast<place>(meta.device_id & largest_id);
  const auto at = meta.timeline.time_since_epoch().count();
  // A clock model that is still learning may put a frame a little before its predecessor.
  return m.epoch == meta.epoch ? std::max(at, m.newest) : at;
}

void aligner::begin_epoch(member_state& m, std::uint32_t epoch) {
  const bool anew = m.epoch.has_value();
  m.epoch = epoch;
  m.interval_count = 0;
  if (anew && options_.match == match_rule::frame_id) {
    // The device counts anew, and what the others showed says nothing now.
    m.earliest = before_all;
    for (auto& other : members_)
      other.newest = before_all;
  }
}

void aligner::add(std::uint32_t member, frame f, graph_time now, output& to) {
  auto& m = members_.at(member);
  m.ended = false; // a camera may come again
  if (options_.live)
    watch(member, now, to);
  const auto at = place_of(m, f.meta);
  if (m.epoch != f.meta.epoch)
    begin_epoch(m, f.meta.epoch);
  else if (at > m.newest && options_.match != match_rule::frame_id)
    m.intervals[m.interval_count++ % m.intervals.size()] = at - m.newest;
  m.newest = at;
  if (m.rides)
    while (!m.queue.empty() && (m.queue.back().at > at || m.queue.size() > options_.depth + 1)) {
      settle(m, m.queue.front(), to);
      m.queue.pop_front();
    }
  m.queue.push_back({std::move(f), at, now, true});
  ++m.came;
  ++held_;
  advance(now, to);
}

void aligner::end(std::uint32_t member, const stream_end& end, graph_time now, output& to) {
  auto& m = members_.at(member);
  m.ends.push_back({end, m.came});
  ++ends_waiting_;
  if (end.last_epoch || end.away) {
    m.ended = true;
    m.last.reset();
    watch_.ended(member);
  }
  advance(now, to);
}

bool aligner::takes(std::uint32_t member) const {
  const auto& m = members_.at(member);
  // One that rides may have to show the frame behind the one that is used.
  return options_.live || m.queue.size() < options_.depth + (m.rides ? 1 : 0);
}

void aligner::wake(graph_time now, output& to) {
  if (now >= due_)
    advance(now, to);
}

void aligner::advance(graph_time now, output& to) {
  for (;;) {
    assign_roles(to);
    drop_stale(to);
    due_ = never;
    const auto* first = anchor();
    if (!first)
      break;
    const auto at = first->queue.front().at;
    const auto earliest = riders_ ? earliest_set() : at;
    auto oldest = never;
    bool forced = false;
    for (auto& m : members_) {
      if (m.rides)
        trim_rider(m, earliest, to);
      else if (!m.queue.empty()) {
        oldest = std::min(oldest, m.queue.front().since);
        forced = forced || m.queue.size() > options_.depth;
      }
    }
    const auto due = options_.live ? later_by(oldest, options_.wait) : never;
    const auto last = last_of_set(at, forced || now >= due);
    if (!last) {
      due_ = due;
      break;
    }
    leave(at, *last, to);
  }
  expire_riders(now, to);
  send_ends(to);
}

void aligner::watch(std::uint32_t member, graph_time now, output& to) {
  if (const auto back = watch_.came(member, now))
    to.silences.push_back(*back);
  while (const auto change = watch_.next_silent())
    to.silences.push_back(*change);
  assign_roles(to);
}

const aligner::member_state* aligner::anchor() const {
  const member_state* first = nullptr;
  for (const auto& m : members_)
    if (!m.rides && !m.queue.empty() && (!first || m.queue.front().at < first->queue.front().at))
      first = &m;
  return first;
}

/// No set that is still to come stands before it.
aligner::place aligner::earliest_set() const {
  auto earliest = std::numeric_limits<place>::max();
  for (const auto& m : members_)
    if (!m.rides && (!m.queue.empty() || (!m.ended && !silent(m))))
      earliest = std::min(earliest, m.queue.empty() ? m.newest : m.queue.front().at);
  return earliest;
}

void aligner::drop_stale(output& to) {
  for (auto& m : members_)
    while (!m.rides && !m.queue.empty() && m.queue.front().at < m.earliest) {
      const auto meta = take(m).meta;
      to.outcomes.push_back(
        {meta.stream, meta.epoch, meta.frame_id, 1, outcome::dropped, reason::stale});
    }
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
      if (w.owed)
        into.add(w.content.meta, what, why);
    m.queue.clear();
    m.left = m.came;
    m.last.reset();
  }
  held_ = 0;
  due_ = never;
}

} // namespace hyperframes
