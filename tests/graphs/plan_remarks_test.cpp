#include "tests/graphs/timed_graphs.hpp"

using namespace hyperframes;
using namespace hyperframes::timed;

namespace {

std::string remarks_of(const std::string& text) {
  std::string lines;
  for (const auto& r : plan_of(text).plan.remarks)
    lines += r + '\n';
  return lines;
}

} // namespace

TEST_CASE("remarks on rules of time") {
  const auto cam = stream("cam", live);
  const auto film = stream("cam", file);
  const auto button = stream("button", live);
  const std::string from_button = ", from: buttons }\n  buttons: { type: capture, streams: button";
  const row rows[]{
    {"count can be reached", bundled(cam, ", release: { timeout: 280ms }"), ""},
    {"a timeout before count", bundled(cam, ", release: { timeout: 279ms }"),
     "bundle: release.timeout 279ms comes before count 8, which takes 280ms: count never fires on "
     "a "
     "stream at its full rate\n"},
    {"count takes `every`", bundled(cam, ", every: 2, release: { timeout: 300ms }"),
     "bundle: release.timeout 300ms comes before count 8, which takes 560ms: count never fires on "
     "a "
     "stream at its full rate\n"},
    {"only the new frames of an overlap take their time",
     bundled(cam, ", stride: 4, release: { timeout: 200ms }"), ""},
    {"an overlap, and still too short", bundled(cam, ", stride: 4, release: { timeout: 100ms }"),
     "bundle: release.timeout 100ms comes before count 8 (4 of them new), which takes 120ms: count "
     "never fires on a stream at its full rate\n"},
    {"the fastest stream reaches count",
     bundled(
       stream("cam", ", realtime: true, fps: 5") + stream("fast", ", realtime: true, fps: 50"),
       ", release: { timeout: 200ms }"),
     ""},
    {"so does the fastest of a group",
     with_sets(
       stream("cam", ", realtime: true, fps: 5", "g")
         + stream("fast", ", realtime: true, fps: 40", "g"),
       ", over: both, release: { timeout: 200ms }"),
     ""},
    {"a window goes by a film's times, too", bundled(film, ", release: { window: 200ms }"),
     "bundle: release.window 200ms comes before count 8, which takes 280ms: count never fires on a "
     "stream at its full rate\n"},
    {"a film is waited for", bundled(film, ", release: { timeout: 200ms }"),
     "bundle: files that are not read in real time are waited for, and no live stream passes: "
     "release.timeout never fires\n"},
    {"by both rules", bundled(film, ", release: { timeout: 200ms, late: true }"),
     "bundle: files that are not read in real time are waited for, and no live stream passes: "
     "release.timeout and release.late never fire\n"},
    {"one moment", bundled(cam, ", size: 1, release: { timeout: 1s, late: true }"),
     "bundle: a hyperframe of one moment is full at once: release.timeout and release.late never "
     "fire\n"},
    {"a count of one", bundled(cam, ", release: { count: 1, window: 1s }"),
     "bundle: a hyperframe of one moment is full at once: release.window never fires\n"},
    {"one moment and a trigger", fired(cam, ", size: 1, release: { trigger: true }"),
     "bundle: a hyperframe of one moment is full at once: release.trigger never fires\n"},
    {"one moment around a trigger", fired(cam, ", size: 1, release: { trigger: true, pre: 0 }"),
     ""},
    {"late is shorter", bundled(cam, ", release: { timeout: 1s, late: true }"),
     "bundle: release.timeout is longer than release.late, which always comes first: "
     "release.timeout "
     "never fires\n"},
    {"timeout is shorter", bundled(cam, ", release: { timeout: 400ms, late: true }"),
     "bundle: release.late is longer than release.timeout, which always comes first: release.late "
     "never fires\n"},
    {"a window is shorter", bundled(cam, ", release: { timeout: 1s, window: 400ms }"),
     "bundle: release.timeout is longer than release.window, which always comes first: "
     "release.timeout never fires\n"},
    {"a window may come first or not", bundled(cam, ", release: { timeout: 400ms, window: 1s }"),
     ""},
    {"late of one stream is shorter",
     bundled(
       cam + stream("slow", ", realtime: true, fps: 5"), ", release: { timeout: 1s, late: true }"),
     ""},
    {"count alone", bundled(cam, ", release: { late: false }"),
     "bundle: count alone releases its hyperframes: when 'cam' falls silent, its last frames wait "
     "until it goes on; set release.timeout\n"},
    {"count alone, of a film", bundled(film, ", release: { late: false }"), ""},
    {"a trigger alone", fired(cam, ", release: { trigger: true }"),
     "bundle: only a trigger releases hyperframes that are not full: when 'cam' falls silent, its "
     "last "
     "frames wait for one, however long that takes; set release.timeout\n"},
    {"a trigger with a timeout", fired(cam, ", release: { trigger: true, timeout: 1s }"), ""},
    {"around a trigger", fired(cam, ", release: { trigger: true, pre: 4 }"), ""},
    {"around a trigger without a bound",
     fired(cam, ", release: { trigger: true, pre: 4, late: false }"),
     "bundle: when 'cam' falls silent, a trigger waits for the frames behind it until it goes on; "
     "set "
     "release.timeout, or leave out late: false\n"},
    {"count says nothing around a trigger",
     fired(cam, ", release: { trigger: true, pre: 4, timeout: 120ms }"), ""},
    {"the frames from a trigger on take longer",
     fired(cam, ", release: { trigger: true, pre: 4, timeout: 100ms }"),
     "bundle: release.timeout 100ms comes before the 4 frames from a trigger on, which take 120ms: "
     "hyperframes never get full on a stream at its full rate\n"},
    {"a frame may fire for what is past",
     fired(cam + button, ", release: { trigger: true, pre: 4, timeout: 100ms }", from_button), ""},
    {"a film fires among the frames of a film",
     fired(film + stream("button", file), ", release: { trigger: true, pre: 4 }", from_button),
     "bundle: triggers of barrier come from 'button', and 'button' is not read in real time: how "
     "far "
     "one stream is ahead of the other depends on the machine, so that the frames around a trigger "
     "may "
     "have gone when it comes; set realtime: true for the cameras of both\n"},
    {"a camera fires among the frames of a film",
     fired(film + button, ", release: { trigger: true }", from_button),
     "bundle: triggers of barrier come from 'button', and 'cam' is not read in real time: how far "
     "one "
     "stream is ahead of the other depends on the machine, so that frames from behind a trigger "
     "may be "
     "in what it closes; set realtime: true for the cameras of both\n"},
    {"the program fires among the frames of a film", fired(film, ", release: { trigger: true }"),
     ""},
    {"a camera fires among the frames of a camera",
     fired(cam + button, ", release: { trigger: true, pre: 4 }", from_button), ""},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    CHECK(remarks_of(r.text) == r.expected);
  }
}

TEST_CASE("remarks on the time of align") {
  const auto fast = stream("cam1", ", realtime: true, fps: 50", "g")
                    + stream("cam2", ", realtime: true, fps: 100", "g");
  const std::string no_film = " is never used: files that are not read in real time are waited "
                              "for, and no live stream passes\n";
  const row rows[]{
    {"nothing is wrong", aligned(pair, ""), ""},
    {"max_age without hold_last", aligned(pair, ", max_age: 2s"),
     "align: max_age is never used: it bounds what hold_last repeats and linear interpolates, and "
     "neither is set\n"},
    {"max_age of what stands in", aligned(pair, ", max_age: 2s, missing: hold_last"), ""},
    {"max_age of what is held", aligned(pair, ", max_age: 2s, match: hold_last"), ""},
    {"max_age of a period", aligned(pair, ", max_age: 40ms, match: hold_last"), ""},
    {"max_age below a period", aligned(pair, ", max_age: 39ms, missing: hold_last"),
     "align: max_age 39ms is below the period of 'cam1' (40ms): its frames are too old before its "
     "next one comes\n"},
    {"max_age of neighbours", aligned(pair, ", max_age: 2s, match: linear"), ""},
    {"counters have no tolerance", aligned(pair, ", tolerance: 5ms, match: frame_id"),
     "align: tolerance is never used: match: frame_id compares counters, not times\n"},
    {"a film is waited for", aligned(films, ", wait: 1s, silent_after: 5s"),
     "align: wait" + no_film + "align: silent_after" + no_film},
    {"one of a group is live", mixed(", wait: 50ms, silent_after: 5s"), ""},
    {"silence takes three periods", aligned(pair, ", silent_after: 119ms"),
     "align: silent_after 119ms is never used: it is below three periods of each stream, which "
     "must "
     "pass too (120ms for the fastest)\n"},
    {"and no more", aligned(pair, ", silent_after: 120ms"), ""},
    {"half a period", aligned(pair, ", tolerance: 20ms"),
     "align: tolerance 20ms is not below half the period of 'cam1' (20ms): two of its frames may "
     "fit "
     "the same frame of another stream, and the match is ambiguous\n"},
    {"below half a period", aligned(pair, ", tolerance: 19ms"), ""},
    {"half a period of the default", aligned(fast, ", wait: 40ms"),
     "align: tolerance 10ms is not below half the period of 'cam2' (5ms): two of its frames may "
     "fit "
     "the same frame of another stream, and the match is ambiguous\n"},
    {"who is held has no tolerance to be ambiguous in", aligned(fast, ", match: hold_last"), ""},
    {"shorter than the tolerance", aligned(pair, ", wait: 5ms"),
     "align: wait 5ms is below tolerance 10ms: frames that lie further apart than wait come too "
     "late "
     "for their set\n"},
    {"shorter than the pace", aligned(pair, ", wait: 39ms, match: hold_last"),
     "align: wait 39ms is below the period of 'cam1' (40ms), which paces the sets: frames of the "
     "others that come longer before its next one are dropped (unmatched)\n"},
    {"a depth that comes first", aligned(pair, ", wait: 500ms, depth: 8"),
     "align: depth 8 is reached by 'cam1' in 320ms: its sets leave then, before wait 500ms is "
     "over\n"},
    {"a depth that is derived holds the wait", aligned(pair, ", wait: 500ms"), ""},
    {"at least one", aligned(pair, ", missing: at_least, least: 1"),
     "align: missing: at_least with least: 1 acts as partial\n"},
    {"at least more than there are", aligned(pair, ", missing: at_least, least: 3"),
     "align: least 3 is more than any group has: missing: at_least acts as strict, as the largest "
     "has "
     "2 streams\n"},
    {"at least two", aligned(pair, ", missing: at_least, least: 2"), ""},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    CHECK(remarks_of(r.text) == r.expected);
  }
}

TEST_CASE("remarks on what a simulated device cannot manage") {
  const auto inferring = [](
                           const std::string& streams, const std::string& bundle,
                           const std::string& schedule, const std::string& infer) {
    return "hyperframes: 1\nlatency_budget: 10s\nstreams:\n" + streams
           + "stages:\n  capture: { type: capture }\n  bundle: { type: bundle, from: capture"
           + bundle + " }\n  schedule: { type: schedule, from: bundle" + schedule
           + " }\n  infer: { type: infer, from: schedule, backend: simulated" + infer
           + " }\n  unbundle: { type: unbundle, from: infer }\n"
             "  out: { type: callback, from: unbundle }\n";
  };
  const auto cam = stream("cam", live); // 25 a second
  const std::string slow = ", batch: { max: 8 }, simulated: { fixed: 160ms, per_slot: 20ms }";
  const row rows[]{
    {"as much as it manages: 25 / 8 batches of 320 ms", inferring(cam, ", size: 8", "", slow), ""},
    {"more", inferring(stream("cam", ", realtime: true, fps: 25.1"), ", size: 8", "", slow),
     "infer: live streams at their full rates take 1 s of device time a second, 1 worker has 1 s: "
     "hyperframes will be dropped or expire; add workers, take fewer frames (every), or make "
     "batches larger\n"},
    {"two workers have twice the time",
     inferring(cam + stream("other", live), ", size: 8", "", slow + ", workers: 2"), ""},
    {"each second frame", inferring(cam + stream("other", live), ", size: 8, every: 2", "", slow),
     ""},
    {"files wait", inferring(stream("cam", file) + stream("other", file), ", size: 8", "", slow),
     ""},
    {"two hyperframes share a batch",
     inferring(
       cam, ", size: 4", "", ", batch: { max: 8 }, simulated: { fixed: 160ms, per_slot: 20ms }"),
     ""},
    {"one frame pays for 64 slots",
     inferring(
       cam, ", size: 64, release: { timeout: 33ms }", "",
       ", batch: { max: 64 }, simulated: { fixed: 4ms, per_slot: 1ms }"),
     "bundle: release.timeout 33ms comes before count 64, which takes 2520ms: count never fires on "
     "a stream at its full rate\n"
     "infer: live streams at their full rates take 1.7 s of device time a second, 1 worker has 1 "
     "s: hyperframes will be dropped or expire; add workers, take fewer frames (every), or let "
     "hyperframes fill: their time is over with 1 of 64 moments, and empty slots cost as full ones "
     "do\n"},
    {"a ttl of a batch", inferring(cam, ", size: 8", ", ttl: 320ms", slow), ""},
    {"a ttl below a batch", inferring(cam, ", size: 8", ", ttl: 319ms", slow),
     "schedule.ttl 319ms is shorter than a batch of 8 slots in infer, 320ms: what comes while its "
     "workers are busy may expire before one is free\n"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    CHECK(remarks_of(r.text) == r.expected);
  }
}

TEST_CASE("the shipped graphs deserve no remark") {
  for (const auto* name : {"drill", "inspection"}) {
    CAPTURE(std::string{name});
    auto r =
      read_graph_file(HYPERFRAMES_SOURCE_DIR "/graphs/" + std::string{name} + ".yaml", built_in());
    REQUIRE_MESSAGE(r.graph, to_string(r.faults));
    const auto p = plan_graph(*r.graph);
    if (!p.plan) // without a backend for the model
      continue;
    CHECK(p.plan->remarks.empty());
  }
}
