#include "graphs/parameters.hpp"
#include "graphs/plan_times.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

namespace {

using wait = graph_plan::wait_line;

constexpr auto no_bound = duration::max();

/// Of those that are bounded.
duration sum_of(const std::vector<wait>& waits) {
  duration sum{};
  for (const auto& w : waits)
    if (w.longest != no_bound)
      sum = w.longest > no_bound - sum ? no_bound : sum + w.longest;
  return sum;
}

/// Every duration of a stage that may make a frame wait. A `ttl` ends a frame instead of passing it
/// on: it stands apart, as it is bounded by the deadline where that comes first.
std::vector<wait> written_waits(const checked_stage& s) {
  std::vector<wait> waits;
  for_each_value(
    s.kind->parameters, *s.config, s.name,
    [&](const std::string& path, const parameter& kind, const setting& value) {
      const auto* time = std::get_if<duration>(&value.value);
      if (kind.causes_wait && time && kind.name != "ttl")
        waits.push_back({path, *time, kind.help});
    });
  return waits;
}

std::string rate_in_words(double fps) {
  return write_number(std::round(fps * 100) / 100) + " per second";
}

/// The rule that closes a lane's hyperframes in the end.
wait last_rule(const checked_stage& s, const bundle_options& options, const bundle_lane& lane) {
  const auto bounds = release_bounds(options, lane);
  if (bounds.empty())
    return {
      s.name + ".release", no_bound,
      options.pre       ? "A trigger waits for all its frames."
      : options.trigger ? "When frames cease, only a trigger closes what is not full."
                        : "When frames cease, nothing closes what is not full."};
  const auto& b = bounds.front();
  const auto path = s.name + '.' + b.rule;
  for (auto& w : written_waits(s))
    if (w.what == path)
      return w;
  const auto frames = options.size * options.every;
  return {
    path, b.longest,
    "1.5 times " + counted(frames, "frame")
      + (options.every > 1 ? " (every " + std::to_string(options.every) + " of which 1 is taken)" : "")
      + " at " + rate_in_words(lane.fps) + '.'};
}

/// With `pre`, how long a frame may be in the ring before the last trigger that can ask for it.
wait in_ring(const checked_stage& s, const bundle_options& options, const bundle_lane& lane) {
  const auto frames = options.ring() * options.every;
  return {
    s.name + ".release.pre", duration{static_cast<std::int64_t>(1e9 * frames / lane.fps)},
    "A frame waits for a trigger until " + counted(frames, "newer frame") + " have come, at "
      + rate_in_words(lane.fps) + "; where they cease, until they go on."};
}

void keep_longest(std::optional<wait>& longest, wait w) {
  if (!longest || w.longest > longest->longest)
    longest = std::move(w);
}

/// Of the live lanes: files that are not read in real time are waited for, and have no deadline.
std::vector<wait> bundle_waits(const checked_stage& s, const bundle_times& times) {
  std::optional<wait> ring, open;
  for (const auto& lane : times.lanes) {
    if (!lane.live)
      continue;
    if (times.options.pre)
      keep_longest(ring, in_ring(s, times.options, lane));
    else if (times.options.count < 2)
      continue; // full at once
    keep_longest(open, last_rule(s, times.options, lane));
  }
  std::vector<wait> waits;
  for (auto* w : {&ring, &open})
    if (*w)
      waits.push_back(std::move(**w));
  return waits;
}

/// What a stage's rules may make a frame wait, one after the other.
std::vector<wait> waits_of(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  if (const auto times = bundle_times_of(p, i))
    return bundle_waits(s, *times);
  auto waits = written_waits(s);
  if (s.kind->name == "align") {
    const auto groups = matched_groups(p, i);
    if (!std::ranges::any_of(groups, &matched_group::live))
      waits.clear();
  }
  if (p.bundlers[i].makes_hyperframes && !waits.empty()) // one of another kind
    waits = {*std::ranges::min_element(waits, {}, &wait::longest)};
  return waits;
}

std::optional<wait> ttl_of(const checked_stage& s) {
  std::optional<wait> found;
  for_each_value(
    s.kind->parameters, *s.config, s.name,
    [&](const std::string& path, const parameter& kind, const setting& value) {
      const auto* time = std::get_if<duration>(&value.value);
      if (kind.causes_wait && kind.name == "ttl" && time)
        found = wait{path, *time, kind.help};
    });
  return found;
}

/// With `stream_first` the first moment does not wait for the others; with `pre` it waits in the
/// ring.
void add_first_wait(planning& p, std::size_t i, const std::vector<wait>& others) {
  if (p.bundlers[i].first_slots == 0)
    return;
  const auto& s = p.graph.stages[i];
  const std::string what = p.bundlers[i].per_stream ? "frame" : "set";
  auto text = s.name + ".stream_first: the first " + what + " of a hyperframe ";
  text += integer_at(*s.config, "release.pre") ? "goes ahead when its trigger has come"
                                               : "goes ahead as it comes";
  text += "; the others wait ";
  if (others.empty() || others.back().longest == duration::max())
    text += "until it is closed";
  else
    text +=
      "for at most " + write_duration(others.back().longest) + " (" + others.back().what + ")";
  p.plan.first_waits.push_back(std::move(text));
}

/// The stages of the path whose waits add up to the most.
std::vector<std::size_t> longest_path(const planning& p, const std::vector<duration>& own) {
  const auto count = p.graph.stages.size();
  std::vector<duration> longest(own);
  std::vector<std::size_t> above(count, count);
  for (const auto i : p.order)
    for (const auto e : p.graph.stages[i].inputs) {
      const auto from = p.graph.edges[e].from;
      if (above[i] == count || longest[from] > longest[above[i]]) {
        above[i] = from;
        longest[i] =
          longest[from] > duration::max() - own[i] ? duration::max() : longest[from] + own[i];
      }
    }
  std::size_t last = p.order.front();
  for (const auto i : p.order)
    if (longest[i] >= longest[last])
      last = i;
  std::vector<std::size_t> path;
  for (auto i = last; i != count; i = above[i])
    path.insert(path.begin(), i);
  return path;
}

void check_budget(planning& p) {
  const auto* budget = std::get_if<duration>(&p.graph.latency_budget.value);
  if (!budget || p.plan.longest_wait <= *budget)
    return;
  std::vector<std::string> parts;
  for (const auto& w : p.plan.waits)
    if (w.longest != no_bound)
      parts.push_back(w.what + ' ' + write_duration(w.longest));
  p.fail(
    p.graph.latency_budget.mark, "latency_budget is " + write_duration(*budget)
                                   + ", but the waits alone may take "
                                   + write_duration(p.plan.longest_wait) + ": " + join_words(parts)
                                   + "; raise the budget or lower a wait");
}

/// The shorter of what the ttl and what the deadline leaves: the ttl counts where it is the
/// smaller.
void add_ttls(planning& p, const std::vector<std::size_t>& path) {
  const auto* budget = std::get_if<duration>(&p.graph.latency_budget.value);
  for (const auto i : path) {
    const auto& s = p.graph.stages[i];
    auto ttl = ttl_of(s);
    const bool live =
      std::ranges::any_of(s.streams, [&](stream_index k) { return p.plan.facts->streams[k].live; });
    if (!ttl || (budget && live && ttl->longest > *budget - p.plan.longest_wait))
      continue;
    p.plan.longest_wait += ttl->longest;
    p.plan.waits.push_back(std::move(*ttl));
  }
}

} // namespace

void plan_waits(planning& p) {
  std::vector<std::vector<wait>> waits;
  std::vector<duration> sums;
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    waits.push_back(waits_of(p, i));
    sums.push_back(sum_of(waits.back()));
    add_first_wait(p, i, waits.back());
  }
  const auto path = longest_path(p, sums);
  for (const auto i : path)
    p.plan.waits.insert(p.plan.waits.end(), waits[i].begin(), waits[i].end());
  p.plan.longest_wait = sum_of(p.plan.waits);
  check_budget(p);
  if (p.faults.empty())
    add_ttls(p, path);
}

} // namespace hyperframes
