#include "graphs/plan_times.hpp"
#include "runtime/written.hpp"

#include <algorithm>

// What the rules of `bundle` cannot do.
namespace hyperframes {

namespace {

/// One `bundle` in its graph.
struct bundle_place {
  planning& p;
  const checked_stage& stage;
  std::size_t index;
  bundle_options options;
  std::vector<bundle_lane> lanes;

  void say(const std::string& sentence) const {
    p.plan.remarks.push_back(stage.name + ": " + sentence);
  }
  bool every_lane(auto holds) const { return std::ranges::all_of(lanes, holds); }
  const stream_facts& facts(stream_index k) const { return p.plan.facts->streams[k]; }
  /// The first stream that is live, or is not; null: there is none.
  const stream_facts* first(bool live) const {
    for (const auto k : stage.streams)
      if (facts(k).live == live)
        return &facts(k);
    return nullptr;
  }
  bool written(const char* rule) const { return value_at(*stage.config, rule) != nullptr; }
};

/// How long `frames` intervals of the lane's fastest stream take.
duration time_of(const bundle_place& b, const bundle_lane& lane, std::uint32_t frames) {
  double fastest = lane.fps;
  for (const auto k : lane.members)
    fastest = std::max(fastest, b.facts(k).fps);
  return duration{static_cast<std::int64_t>(1e9 * frames * b.options.every / fastest)};
}

/// `rule` leaves no lane the time for so many intervals, each at its full rate. Rates must be
/// known.
std::optional<duration>
time_missed(const bundle_place& b, duration rule, bool of_files_too, std::uint32_t intervals) {
  duration longest{};
  for (const auto& lane : b.lanes) {
    const auto needed = time_of(b, lane, intervals);
    if (!lane.paced || (!lane.live && !of_files_too) || rule >= needed)
      return std::nullopt;
    longest = std::max(longest, needed);
  }
  return longest;
}

void count_never_fires(const bundle_place& b) {
  const auto& o = b.options;
  if (o.pre || o.count < 2)
    return;
  const auto own = std::min(o.count, o.stride);
  const auto rule = [&](const char* name, std::optional<duration> time, bool of_files_too) {
    const auto needed = time ? time_missed(b, *time, of_files_too, own - 1) : std::nullopt;
    if (needed)
      b.say(
        std::string{name} + ' ' + write_duration(*time) + " comes before count "
        + std::to_string(o.count)
        + (own < o.count ? " (" + std::to_string(own) + " of them new)" : "") + ", which takes "
        + about_duration(*needed) + ": count never fires on a stream at its full rate");
    return needed.has_value();
  };
  if (!rule("release.timeout", o.timeout, false))
    rule("release.window", o.window, true);
}

/// Of triggers that come at their moments; a frame may fire for a moment that is past.
bool fired_by_messages_only(const bundle_place& b) {
  return std::ranges::all_of(b.stage.inputs, [&](std::size_t e) {
    const auto& edge = b.p.graph.edges[e];
    return edge.type != port_type::trigger || b.p.graph.stages[edge.from].streams.empty();
  });
}

void window_never_full(const bundle_place& b) {
  const auto& o = b.options;
  if (!o.pre || !o.timeout || o.size - *o.pre < 2 || !fired_by_messages_only(b))
    return;
  const auto behind = o.size - *o.pre;
  if (const auto needed = time_missed(b, *o.timeout, false, behind - 1))
    b.say(
      "release.timeout " + write_duration(*o.timeout) + " comes before the "
      + std::to_string(behind) + " frames from a trigger on, which take " + about_duration(*needed)
      + ": hyperframes never get full on a stream at its full rate");
}

void one_moment_is_full(const bundle_place& b) {
  if (b.options.pre || b.options.count > 1)
    return;
  std::vector<std::string> rules;
  for (const auto* rule : {"release.timeout", "release.window"})
    if (b.written(rule))
      rules.emplace_back(rule);
  for (const auto* rule : {"release.late", "release.trigger"})
    if (flag_at(*b.stage.config, rule))
      rules.emplace_back(rule);
  if (!rules.empty())
    b.say(
      "a hyperframe of one moment is full at once: " + join_words(rules)
      + (rules.size() == 1 ? " never fires" : " never fire"));
}

void later_rule_never_fires(const bundle_place& b) {
  const auto& o = b.options;
  if (b.lanes.empty() || o.count < 2)
    return;
  const auto never = [&](const char* rule, const char* first) {
    const auto is_first = [&](const bundle_lane& lane) {
      const auto bounds = release_bounds(o, lane);
      const auto at = [&](const char* name) {
        return std::ranges::find_if(
          bounds, [&](const release_bound& r) { return std::string_view{r.rule} == name; });
      };
      if (at(rule) == bounds.end() || at(first) == bounds.end())
        return false;
      return at(first)->longest < at(rule)->longest;
    };
    if (!b.every_lane(is_first))
      return false;
    b.say(
      std::string{rule} + " is longer than " + first + ", which always comes first: " + rule
      + " never fires");
    return true;
  };
  for (const auto* first : {"release.window", "release.late"})
    if (never("release.timeout", first))
      break;
  for (const auto* first : {"release.window", "release.timeout"})
    if (never("release.late", first))
      break;
}

void files_know_no_time(const bundle_place& b) {
  if (b.first(true) || b.options.count < 2)
    return;
  std::vector<std::string> rules;
  if (b.options.timeout)
    rules.emplace_back("release.timeout");
  if (flag_at(*b.stage.config, "release.late"))
    rules.emplace_back("release.late");
  if (!rules.empty())
    b.say(
      "files that are not read in real time are waited for, and no live stream passes: "
      + join_words(rules) + (rules.size() == 1 ? " never fires" : " never fire"));
}

void waits_for_ever(const bundle_place& b) {
  const auto& o = b.options;
  const auto endless = std::ranges::find_if(
    b.lanes, [&](const bundle_lane& lane) { return lane.live && release_bounds(o, lane).empty(); });
  if (endless == b.lanes.end() || (!o.pre && o.count < 2))
    return;
  const auto live =
    std::ranges::find_if(endless->members, [&](stream_index k) { return b.facts(k).live; });
  const auto name = '\'' + b.facts(*live).id + '\'';
  if (o.pre)
    b.say(
      "when " + name
      + " falls silent, a trigger waits for the frames behind it until it goes on; set "
        "release.timeout, or leave out late: false");
  else if (o.trigger)
    b.say(
      "only a trigger releases hyperframes that are not full: when " + name
      + " falls silent, its last frames wait for one, however long that takes; set "
        "release.timeout");
  else
    b.say(
      "count alone releases its hyperframes: when " + name
      + " falls silent, its last frames wait until it goes on; set release.timeout");
}

/// A frame's trigger stands at the frame's place on the time line: nothing keeps a file's frames in
/// step with those of another stream.
void triggers_race_frames(const bundle_place& b) {
  for (const auto e : b.stage.inputs) {
    const auto& edge = b.p.graph.edges[e];
    const auto& from = b.p.graph.stages[edge.from];
    if (edge.type != port_type::trigger || from.streams.empty())
      continue;
    const stream_facts* file = nullptr;
    for (const auto k : from.streams)
      if (!b.facts(k).live)
        file = &b.facts(k);
    if (!file)
      file = b.first(false);
    if (!file)
      continue;
    b.say(
      "triggers of " + from.name + " come from '" + b.facts(from.streams.front()).id + "', and '"
      + file->id
      + "' is not read in real time: how far one stream is ahead of the other depends on the "
        "machine, so that "
      + (b.options.pre ? "the frames around a trigger may have gone when it comes" : "frames from behind a trigger may be in what it closes")
      + "; set realtime: true for the cameras of both");
  }
}

} // namespace

void add_bundle_remarks(planning& p, std::size_t stage) {
  const auto times = bundle_times_of(p, stage);
  if (!times)
    return;
  const bundle_place b{p, p.graph.stages[stage], stage, times->options, times->lanes};
  for (const auto rule :
       {count_never_fires, window_never_full, one_moment_is_full, later_rule_never_fires,
        files_know_no_time, waits_for_ever, triggers_race_frames})
    rule(b);
}

} // namespace hyperframes
