// What a graph says of time before it runs, with the stages and cameras that the project ships.
#include "actors/align.hpp"
#include "graphs/explain.hpp"
#include "graphs/graph.hpp"
#include "graphs/plan.hpp"
#include "runtime/written.hpp"
#include "tests/actors/align_run.hpp"
#include "tests/actors/bundle_run.hpp"
#include "tests/graphs/timed_graphs.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace hyperframes;
using namespace hyperframes::timed;
using namespace std::chrono_literals;

namespace {

/// "bundle.release.timeout 300ms", a line each; "no bound" where there is none.
std::string waits_of(const std::string& text) {
  std::string lines;
  for (const auto& w : plan_of(text).plan.waits)
    lines +=
      w.what + ' ' + (w.longest == duration::max() ? "no bound" : write_duration(w.longest)) + '\n';
  return lines;
}

} // namespace

TEST_CASE("what bundle makes a frame wait") {
  const auto cam = stream("cam", live);
  const row rows[]{
    {"late where nothing else is written", bundled(cam, ""), "bundle.release.late 480ms\n"},
    {"late counts the frames that `every` passes over", bundled(cam, ", every: 3"),
     "bundle.release.late 1440ms\n"},
    {"late at the slowest stream", bundled(cam + stream("slow", ", realtime: true, fps: 5"), ""),
     "bundle.release.late 2400ms\n"},
    {"a file's rate does not count", bundled(stream("film", ", realtime: false, fps: 1"), ""), ""},
    {"a timeout alone", bundled(cam, ", release: { timeout: 3s }"), "bundle.release.timeout 3s\n"},
    {"the shortest of all", bundled(cam, ", release: { timeout: 3s, window: 900ms, late: true }"),
     "bundle.release.late 480ms\n"},
    {"a window", bundled(cam, ", release: { timeout: 3s, window: 400ms, late: true }"),
     "bundle.release.window 400ms\n"},
    {"one moment is full at once", bundled(cam, ", size: 1, release: { timeout: 3s }"), ""},
    {"so is a count of one", bundled(cam, ", release: { timeout: 3s, count: 1 }"), ""},
    {"count alone", bundled(cam, ", release: { late: false }"), "bundle.release no bound\n"},
    {"a trigger alone", fired(cam, ", release: { trigger: true }"), "bundle.release no bound\n"},
    {"a trigger, late", fired(cam, ", release: { trigger: true, late: true }"),
     "bundle.release.late 480ms\n"},
    {"a trigger with a timeout", fired(cam, ", release: { trigger: true, timeout: 2s }"),
     "bundle.release.timeout 2s\n"},
    {"around a trigger", fired(cam, ", release: { trigger: true, pre: 4 }"),
     "bundle.release.pre 320ms\nbundle.release.late 480ms\n"},
    {"all before a trigger: the ring holds one more",
     fired(cam, ", size: 4, release: { trigger: true, pre: 4, timeout: 100ms }"),
     "bundle.release.pre 200ms\nbundle.release.timeout 100ms\n"},
    {"around a trigger, each second frame",
     fired(cam, ", every: 2, release: { trigger: true, pre: 4 }"),
     "bundle.release.pre 640ms\nbundle.release.late 960ms\n"},
    {"around a trigger without a bound",
     fired(cam, ", release: { trigger: true, pre: 4, late: false }"),
     "bundle.release.pre 320ms\nbundle.release no bound\n"},
    {"around a trigger, a film",
     fired(stream("cam", file), ", release: { trigger: true, pre: 4, timeout: 1s }"), ""},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    CHECK(waits_of(r.text) == r.expected);
  }
}

TEST_CASE("what align makes a frame wait") {
  const row rows[]{
    {"live", aligned(pair, ""), "align.wait 40ms\n"},
    {"hold_last too", aligned(pair, ", match: hold_last"), "align.wait 40ms\n"},
    {"one of a group is live", mixed(""), "align.wait 40ms\n"},
    {"files are waited for", aligned(films, ""), ""},
    {"a group of one has nobody to wait for", aligned(stream("cam1", live), ""), ""},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    CHECK(waits_of(r.text) == r.expected);
  }
}

namespace {

/// Plays `frames` frames of the graph's only camera, 40 ms apart, and then nothing any more; with a
/// trigger for the moment of frame `fires`, or for now, just before the next one would come.
/// @returns the longest that an own frame of a hyperframe waited in `bundle`.
duration longest_in_bundle(const planned& p, int frames, std::optional<int> fires) {
  const auto bundle =
    std::ranges::find(p.graph.stages, std::string{"bundle"}, &checked_stage::name);
  test::frame_source source;
  test::bundle_run run{*bundle->config, p.plan.facts, false};
  for (int i = 0; i < frames; ++i)
    run.take(source(0, static_cast<std::uint64_t>(i), 40 * i));
  if (fires) {
    run.at(40 * frames - 1);
    run.fire(std::min(40 * *fires, 40 * frames - 1));
  }
  run.at(3'600'000);
  duration longest{};
  for (const auto& h : run.sent())
    for (const auto& s : h->descriptor.slots)
      if (s.own)
        longest = std::max(longest, h->descriptor.released - as_graph(s.meta.arrived));
  return longest;
}

} // namespace

TEST_CASE("what explain says of bundle is what bundle does") {
  struct rule {
    std::string settings{};
    bool trigger = false;
    std::optional<int> pre = std::nullopt;
  };
  const rule rules[]{
    {""},
    {", every: 3"},
    {", size: 5, every: 2"},
    {", size: 4, stride: 2"},
    {", release: { timeout: 700ms }"},
    {", release: { timeout: 50ms, late: true }"},
    {", release: { window: 300ms }"},
    {", release: { window: 2s, late: true }"},
    {", release: { count: 3 }"},
    {", release: { trigger: true, late: true }", true},
    {", release: { trigger: true, timeout: 1s }", true},
    {", release: { trigger: true, pre: 4 }", true, 4},
    {", release: { trigger: true, pre: 4, timeout: 1s }", true, 4},
    {", size: 6, every: 2, release: { trigger: true, pre: 2 }", true, 2},
    {", size: 4, release: { trigger: true, pre: 3, timeout: 300ms }", true, 3},
  };
  for (const auto& r : rules) {
    CAPTURE(r.settings);
    const auto cam = stream("cam", live);
    const auto p = plan_of(r.trigger ? fired(cam, r.settings) : bundled(cam, r.settings));
    const auto every = *integer_at(*p.graph.stages[r.trigger ? 2 : 1].config, "every");
    duration longest{};
    for (int frames = 1; frames < 40; ++frames)
      if (!r.pre)
        longest = std::max(longest, longest_in_bundle(p, frames, std::nullopt));
      else
        for (int fires = 0; fires <= frames; ++fires)
          longest = std::max(longest, longest_in_bundle(p, frames, fires));
    CHECK(longest <= p.plan.longest_wait);
    // Around a trigger the bound holds for one that comes just before the ring lets the frame go.
    CHECK(longest >= p.plan.longest_wait - (r.pre ? every * 40ms + 1ms : 0ms));
  }
}

namespace {

/// Frames of two streams that come so, and the longest that one waited in `align`.
struct align_play {
  align_options options;
  std::vector<align_member> members;
  std::vector<arrival> arrivals{}; ///< in the order of time

  duration longest() {
    aligner a{options, 0, members};
    aligner::output out;
    std::map<std::pair<stream_index, std::uint64_t>, graph_time> came;
    duration longest{};
    const auto left = [&](stream_index stream, std::uint64_t id, graph_time now) {
      const auto at = came.find({stream, id});
      REQUIRE(at != came.end());
      longest = std::max(longest, now - at->second);
      came.erase(at);
    };
    const auto take = [&](graph_time now) {
      for (const auto& sent : out.sent)
        if (const auto* set = std::get_if<aligned_set_ptr>(&sent))
          for (const auto& m : (*set)->members)
            if (m.item && m.own)
              left(m.stream, m.item->meta.frame_id, now);
      for (const auto& r : out.outcomes)
        for (std::uint64_t k = 0; k < r.count; ++k)
          left(r.stream, r.first + k, now);
      out = {};
    };
    const auto wake_before = [&](graph_time t) {
      while (a.due() < t) {
        const auto due = a.due();
        a.wake(due, out);
        take(due);
      }
    };
    for (const auto& f : arrivals) {
      const graph_time now{std::chrono::milliseconds{f.at}};
      wake_before(now);
      came[{f.member, f.id}] = now;
      a.add(f.member, make_frame(f), now, out);
      take(now);
    }
    wake_before(graph_time{1h});
    CHECK(came.empty()); // nothing waits for ever
    return longest;
  }
};

} // namespace

TEST_CASE("what explain says of align is what align does, by every rule") {
  const std::pair<match_rule, const char*> matches[]{
    {match_rule::nearest, "nearest"},
    {match_rule::linear, "linear"},
    {match_rule::frame_id, "frame_id"},
    {match_rule::hold_last, "hold_last"}};
  const std::pair<missing_rule, const char*> rules[]{
    {missing_rule::strict, "strict"},
    {missing_rule::at_least, "at_least, least: 2"},
    {missing_rule::hold_last, "hold_last"},
    {missing_rule::partial, "partial"}};
  for (const auto& [match, match_name] : matches)
    for (const auto& [missing, missing_name] : rules) {
      const auto text =
        std::string{", wait: 90ms, match: "} + match_name + ", missing: " + missing_name;
      CAPTURE(text);
      const auto stated = plan_of(aligned(pair, text)).plan.longest_wait;
      align_options o;
      o.match = match;
      o.missing = missing;
      o.least = 2;
      o.wait = 90ms;
      // The second stream falls silent; the first does; both give frames that do not match.
      duration longest{};
      for (const auto& [first, second] : {std::pair{30, 3}, {3, 30}, {30, 30}}) {
        align_play play{o, {{0, 25, false}, {1, 20, match == match_rule::linear}}};
        for (int t = 0; t < 1500; ++t) {
          if (t % 40 == 0 && t / 40 < first)
            play.arrivals.push_back(
              {t, 0, static_cast<std::uint64_t>(t / 40), t, 0, static_cast<std::uint64_t>(t / 40)});
          if (t % 50 == 23 && t / 50 < second)
            play.arrivals.push_back(
              {t, 1, static_cast<std::uint64_t>(t / 50), t, 0,
               1000 + static_cast<std::uint64_t>(t / 50)});
        }
        longest = std::max(longest, play.longest());
      }
      CHECK(longest == stated);
    }
}

TEST_CASE("explain writes what has no bound, and what files have no budget for") {
  const auto explained = [](const std::string& text) {
    const auto p = plan_of(text);
    return explain(p.graph, p.plan, 2);
  };
  const auto budget = std::string{"latency_budget: 1s\n"};
  CHECK(
    explained(budget + fired(stream("cam", live), ", release: { trigger: true }"))
      .find(
        "  no bound  bundle.release  When frames cease, only a trigger closes what is not full.\n"
        "  together 0s and what has no bound, leaves 1s of the latency budget for the work "
        "itself\n")
    != std::string::npos);
  CHECK(
    explained(budget + bundled(stream("cam", file), ""))
      .find(
        "  no rule makes a frame wait\n  together 0s; the latency budget holds for live streams, "
        "and there are none\n")
    != std::string::npos);
  CHECK(
    explained(bundled(stream("cam", live), ", every: 2"))
      .find(
        "  960ms  bundle.release.late  1.5 times 16 frames (every 2 of which 1 is taken) at 25 per "
        "second.\n")
    != std::string::npos);
}

TEST_CASE("what goes ahead waits for nothing, the others as before") {
  const auto cam = stream("cam", live);
  struct {
    const char* what;
    std::string text;
    const char* said;
  } const rows[]{
    {"live", bundled(cam, ", stream_first: true"),
     "goes ahead as it comes; the others wait for at most 480ms (bundle.release.late)"},
    {"a file", bundled(stream("film", ", realtime: false"), ", stream_first: true"),
     "goes ahead as it comes; the others wait until it is closed"},
    {"a trigger", fired(cam, ", stream_first: true, release: { trigger: true }"),
     "goes ahead as it comes; the others wait until it is closed"},
    {"frames from before it",
     fired(cam, ", stream_first: true, release: { trigger: true, pre: 2 }"),
     "goes ahead when its trigger has come; the others wait for at most "},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    const auto firsts = plan_of(r.text).plan.first_waits;
    REQUIRE(firsts.size() == 1);
    INFO(firsts[0]);
    CHECK(firsts[0].starts_with(
      std::string{"bundle.stream_first: the first frame of a hyperframe "} + r.said));
  }
  CHECK(plan_of(bundled(cam, "")).plan.first_waits.empty());
}
