#include "graphs/parameters.hpp"
#include "graphs/plan.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

namespace {

using wait = graph_plan::wait_line;

duration sum_of(const std::vector<wait>& waits) {
  duration sum{};
  for (const auto& w : waits)
    sum = w.longest > duration::max() - sum ? duration::max() : sum + w.longest;
  return sum;
}

/// The longest that a hyperframe stays open: its release rules, whichever comes first; where none
/// names a time, the rule `late`, t0 + 1.5 B / fps, at the slowest stream's rate. One of a single
/// moment is full at once.
void keep_shortest(const planning& p, std::size_t i, std::vector<wait>& waits) {
  const auto& s = p.graph.stages[i];
  const auto slots = p.bundlers[i].own_slots;
  if (slots < 2 || s.streams.empty()) {
    waits.clear();
    return;
  }
  const bool written = value_at(*s.config, "release.late") != nullptr;
  if (written ? flag_at(*s.config, "release.late") : waits.empty()) {
    double slowest = fps_of(p.graph, s.streams.front());
    for (const auto stream : s.streams)
      slowest = std::min(slowest, fps_of(p.graph, stream));
    waits.push_back(
      {s.name + ".release.late", duration{static_cast<std::int64_t>(1.5 * slots / slowest * 1e9)},
       "1.5 times " + counted(slots, "frame") + " at "
         + write_number(std::round(slowest * 100) / 100) + " per second."});
  }
  if (!waits.empty())
    waits = {*std::ranges::min_element(waits, {}, &wait::longest)};
}

/// What a stage's parameters may make a frame wait. A `ttl` ends a frame instead of passing it on:
/// it stands apart, as it is bounded by the deadline where that comes first.
std::vector<wait> waits_of(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  std::vector<wait> waits;
  for_each_value(
    s.kind->parameters, *s.config, s.name,
    [&](const std::string& path, const parameter& kind, const setting& value) {
      const auto* time = std::get_if<duration>(&value.value);
      if (kind.causes_wait && time && kind.name != "ttl")
        waits.push_back({path, *time, kind.help});
    });
  if (p.bundlers[i].makes_hyperframes)
    keep_shortest(p, i, waits);
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
    auto ttl = ttl_of(p.graph.stages[i]);
    if (!ttl || (budget && ttl->longest > *budget - p.plan.longest_wait))
      continue;
    p.plan.longest_wait += ttl->longest;
    p.plan.waits.push_back(std::move(*ttl));
  }
}

// --- remarks

std::string written_time(double seconds) {
  return write_number(std::round(seconds * 1e4) / 10) + "ms";
}

/// Each looks at one stage and says what will never happen there; an empty text says nothing.
using remark_rule = std::string (*)(const planning&, std::size_t stage);

/// Seconds until `count` fires after a hyperframe was opened, at the fastest stream's rate.
double seconds_to_count(const planning& p, std::size_t i, double& count) {
  const auto& s = p.graph.stages[i];
  const auto* written = integer_at(*s.config, "release.count");
  const auto* every = integer_at(*s.config, "every");
  count = written ? static_cast<double>(*written) : p.bundlers[i].own_slots;
  double fastest = 0;
  for (const auto stream : s.streams)
    fastest = std::max(fastest, fps_of(p.graph, stream));
  return fastest > 0 ? (count - 1) * (every ? static_cast<double>(*every) : 1) / fastest : 0;
}

std::string count_never_fires(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  double count = 0;
  const auto needed = p.bundlers[i].makes_hyperframes ? seconds_to_count(p, i, count) : 0;
  for (const auto* rule : {"release.timeout", "release.window"}) {
    const auto* time = duration_at(*s.config, rule);
    if (time && in_seconds(*time) < needed)
      return s.name + ": " + rule + ' ' + write_duration(*time) + " comes before count "
             + write_number(count) + ", which takes " + written_time(needed)
             + ": count never fires on a stream at its full rate";
  }
  return {};
}

std::string timeout_never_fires(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  if (!p.bundlers[i].makes_hyperframes || p.bundlers[i].own_slots != 1)
    return {};
  for (const auto* rule : {"release.timeout", "release.window"})
    if (duration_at(*s.config, rule))
      return s.name + ": a hyperframe of one moment is full at once: " + rule + " never fires";
  return {};
}

std::string waits_for_ever(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  const auto* late = value_at(*s.config, "release.late");
  const auto live =
    std::ranges::find_if(s.streams, [&](stream_index k) { return p.graph.streams[k].info->live; });
  if (
    p.bundlers[i].own_slots < 2 || live == s.streams.end() || !late
    || flag_at(*s.config, "release.late") || duration_at(*s.config, "release.timeout")
    || duration_at(*s.config, "release.window"))
    return {};
  return s.name + ": count alone releases its hyperframes: when '" + p.graph.streams[*live].id
         + "' falls silent, its last frames wait until it goes on; set release.timeout";
}

std::string ttl_never_fires(const planning& p, std::size_t i) {
  const auto ttl = ttl_of(p.graph.stages[i]);
  const auto* budget = std::get_if<duration>(&p.graph.latency_budget.value);
  if (!ttl || !budget || ttl->longest < *budget)
    return {};
  return ttl->what + ' ' + write_duration(ttl->longest) + " is not below latency_budget "
         + write_duration(*budget) + ": the deadline always comes first, ttl never fires";
}

std::string deadline_order_without_deadlines(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  if (text_at(*s.config, "order") != "deadline")
    return {};
  const bool budget = std::holds_alternative<duration>(p.graph.latency_budget.value);
  const bool live =
    std::ranges::any_of(s.streams, [&](stream_index k) { return p.graph.streams[k].info->live; });
  if (budget && live)
    return {};
  return s.name + ": order: deadline acts as fifo, as "
         + (budget ? "files have no deadline" : "the graph has no latency_budget");
}

std::string equal_priorities(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  if (text_at(*s.config, "order") != "priority" || s.streams.empty())
    return {};
  const auto first = p.graph.streams[s.streams.front()].priority;
  if (std::ranges::any_of(
        s.streams, [&](stream_index k) { return p.graph.streams[k].priority != first; }))
    return {};
  return s.name + ": order: priority acts as fifo, as all streams have the priority "
         + std::to_string(first);
}

std::string group_of_one(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  const bool aligns = std::ranges::any_of(
    s.outputs, [&](std::size_t e) { return p.graph.edges[e].type == port_type::aligned_set; });
  const bool alone = std::ranges::all_of(
    p.plan.facts->groups, [](const group_facts& g) { return g.streams.size() == 1; });
  if (!aligns || !alone)
    return {};
  return s.name
         + ": every group has one stream, so every set has one member: give streams a common "
           "`group`";
}

std::string drops_of_files(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  std::string text;
  for (const auto e : s.outputs) {
    const auto& policy = std::get<std::string>(p.graph.edges[e].overflow.value);
    const auto file = std::ranges::find_if(
      s.streams, [&](stream_index k) { return !p.graph.streams[k].info->live; });
    if (policy != "block" && file != s.streams.end() && s.inputs.empty())
      text = "the edge " + s.name + " -> " + p.graph.stages[p.graph.edges[e].to].name
             + " has overflow: " + policy
             + ": a file is read faster than it is worked on, so most frames of '"
             + p.graph.streams[*file].id + "' will be dropped";
  }
  return text;
}

std::string other_batches(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  if (!s.resource || s.resource->fixed_batch == 0 || s.resource->batch_slots == 0)
    return {};
  const auto run = s.resource->fixed_batch, wanted = s.resource->batch_slots;
  if (wanted % run == 0)
    return {};
  return s.name + ": batch.max " + std::to_string(wanted)
         + " is no multiple of the model's batch of " + std::to_string(run) + ": batches have "
         + counted(std::max(run, wanted / run * run), "slot");
}

constexpr remark_rule remark_rules[]{
  count_never_fires,
  timeout_never_fires,
  waits_for_ever,
  ttl_never_fires,
  deadline_order_without_deadlines,
  equal_priorities,
  group_of_one,
  drops_of_files,
  other_batches};

} // namespace

void plan_waits(planning& p) {
  std::vector<std::vector<wait>> waits;
  std::vector<duration> sums;
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    waits.push_back(waits_of(p, i));
    sums.push_back(sum_of(waits.back()));
  }
  const auto path = longest_path(p, sums);
  for (const auto i : path)
    p.plan.waits.insert(p.plan.waits.end(), waits[i].begin(), waits[i].end());
  p.plan.longest_wait = sum_of(p.plan.waits);
  check_budget(p);
  if (p.faults.empty())
    add_ttls(p, path);
}

void plan_remarks(planning& p) {
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i)
    for (const auto rule : remark_rules)
      if (auto text = rule(p, i); !text.empty())
        p.plan.remarks.push_back(std::move(text));
}

} // namespace hyperframes
