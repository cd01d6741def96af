#include "actors/align_parameters.hpp"
#include "graphs/plan_times.hpp"
#include "runtime/written.hpp"

#include <algorithm>

// What the settings of `align` cannot do, and what they cost.
namespace hyperframes {

namespace {

/// One `align` in its graph.
struct align_place {
  planning& p;
  const checked_stage& stage;
  std::size_t index;
  std::vector<matched_group> groups;
  std::string match, missing; ///< as they are written

  void say(const std::string& sentence) const {
    p.plan.remarks.push_back(stage.name + ": " + sentence);
  }
  const stream_facts& facts(stream_index k) const { return p.plan.facts->streams[k]; }
  /// The value where the user has set it; null: it is the default.
  const duration* written(const char* name) const {
    const auto* s = value_at(*stage.config, name);
    return s && s->source != value_source::built_in ? std::get_if<duration>(&s->value) : nullptr;
  }
  bool any_live() const { return std::ranges::any_of(groups, &matched_group::live); }
};

void settings_without_use(const align_place& a) {
  const auto never = [&](const char* name, const std::string& why) {
    if (a.written(name))
      a.say(std::string{name} + " is never used: " + why);
  };
  if (a.missing != "hold_last" && a.match != "hold_last" && a.match != "linear")
    never(
      "max_age", "it bounds what hold_last repeats and linear interpolates, and neither is set");
  if (a.match == "frame_id")
    never("tolerance", "match: frame_id compares counters, not times");
  if (a.any_live())
    return;
  const std::string files =
    "files that are not read in real time are waited for, and no live stream passes";
  never("wait", files);
  never("silent_after", files);
}

/// What is held, or is the older neighbour, is too old before the stream's next frame comes.
void age_is_below_a_period(const align_place& a) {
  const auto* age = a.written("max_age");
  if (!age || (a.missing != "hold_last" && a.match != "hold_last" && a.match != "linear"))
    return;
  for (const auto& g : a.groups)
    for (const auto k : g.members)
      if (const auto period = period_of(a.p, k); period && *age < *period) {
        a.say(
          "max_age " + write_duration(*age) + " is below the period of '" + a.facts(k).id + "' ("
          + about_duration(*period) + "): its frames are too old before its next one comes");
        return;
      }
}

void silence_is_longer(const align_place& a) {
  const auto* after = a.written("silent_after");
  if (!after || !a.any_live())
    return;
  std::optional<duration> shortest;
  for (const auto& g : a.groups)
    for (const auto k : g.members) {
      if (!g.live)
        break;
      const auto period = period_of(a.p, k);
      if (!period || *after >= 3 * *period)
        return;
      shortest = shortest ? std::min(*shortest, 3 * *period) : 3 * *period;
    }
  if (shortest)
    a.say(
      "silent_after " + write_duration(*after)
      + " is never used: it is below three periods of each stream, which must pass too ("
      + about_duration(*shortest) + " for the fastest)");
}

/// The fastest stream of those that form sets together; none where that is one, or a rate is
/// unknown.
std::optional<stream_index> fastest_of_sets(const align_place& a, const matched_group& g) {
  const auto forming = set_forming(a.p, a.index, g);
  if (forming.size() < 2)
    return std::nullopt;
  return *std::ranges::max_element(forming, {}, [&](stream_index k) { return a.facts(k).fps; });
}

void match_is_ambiguous(const align_place& a) {
  const auto* tolerance = duration_at(*a.stage.config, "tolerance");
  if (!tolerance || a.match == "frame_id")
    return;
  for (const auto& g : a.groups) {
    const auto fastest = fastest_of_sets(a, g);
    const auto period = fastest ? period_of(a.p, *fastest) : std::nullopt;
    if (!period || 2 * *tolerance < *period)
      continue;
    return a.say(
      "tolerance " + write_duration(*tolerance) + " is not below half the period of '"
      + a.facts(*fastest).id + "' (" + about_duration(*period / 2)
      + "): two of its frames may fit the same frame of another stream, and the match is "
        "ambiguous");
  }
}

void wait_is_short(const align_place& a) {
  const auto* wait = duration_at(*a.stage.config, "wait");
  const auto* tolerance = duration_at(*a.stage.config, "tolerance");
  if (!wait || !tolerance)
    return;
  for (const auto& g : a.groups) {
    if (!g.live)
      continue;
    if (a.match == "hold_last") {
      const auto paces = set_forming(a.p, a.index, g).front();
      const auto period = period_of(a.p, paces);
      if (period && *wait < *period)
        return a.say(
          "wait " + write_duration(*wait) + " is below the period of '" + a.facts(paces).id + "' ("
          + about_duration(*period)
          + "), which paces the sets: frames of the others that come longer before its next one "
            "are "
            "dropped (unmatched)");
    } else if (a.match != "frame_id" && *wait < *tolerance) {
      return a.say(
        "wait " + write_duration(*wait) + " is below tolerance " + write_duration(*tolerance)
        + ": frames that lie further apart than wait come too late for their set");
    }
  }
}

void wait_never_fires(const align_place& a) {
  const auto* wait = duration_at(*a.stage.config, "wait");
  if (!wait || a.match == "hold_last" || !value_at(*a.stage.config, "match"))
    return;
  const auto depth = align_depth(*a.stage.config);
  for (const auto& g : a.groups) {
    const auto fastest = fastest_of_sets(a, g);
    const auto period = fastest ? period_of(a.p, *fastest) : std::nullopt;
    if (!g.live || !period || depth * *period >= *wait || !a.facts(*fastest).live)
      continue;
    return a.say(
      "depth " + std::to_string(depth) + " is reached by '" + a.facts(*fastest).id + "' in "
      + about_duration(depth * *period) + ": its sets leave then, before wait "
      + write_duration(*wait) + " is over");
  }
}

void least_is_another_rule(const align_place& a) {
  const auto* least = integer_at(*a.stage.config, "least");
  if (!least || a.missing != "at_least" || a.groups.empty())
    return;
  std::size_t most = 0;
  for (const auto& g : a.groups)
    most = std::max(most, g.members.size());
  if (*least == 1)
    a.say("missing: at_least with least: 1 acts as partial");
  else if (static_cast<std::uint64_t>(*least) > most)
    a.say(
      "least " + std::to_string(*least) + " is more than any group has: missing: at_least acts as "
      + "strict, as the largest has " + counted(most, "stream"));
}

} // namespace

void add_align_remarks(planning& p, std::size_t stage) {
  auto groups = matched_groups(p, stage);
  if (groups.empty())
    return;
  const auto& s = p.graph.stages[stage];
  const align_place a{
    p, s, stage, std::move(groups), text_at(*s.config, "match"), text_at(*s.config, "missing")};
  for (const auto rule :
       {settings_without_use, age_is_below_a_period, silence_is_longer, match_is_ambiguous,
        wait_is_short, wait_never_fires, least_is_another_rule})
    rule(a);
}

} // namespace hyperframes
