#include "tests/actors/bundle_run.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

settings triggered(const settings& more = {}) {
  auto r = more;
  return release(r.with("trigger", true));
}
settings around(std::int64_t pre, const settings& more = {}) {
  auto r = more;
  auto s = triggered(r.with("pre", pre));
  return s.with("size", std::int64_t{4});
}

/// A frame that comes at its place on the time line, or a trigger.
struct event {
  char what;      ///< f, t
  int at;         ///< ms
  int moment = 0; ///< of a trigger
};
event f(int at) {
  return {'f', at};
}
event t(int at, int moment) {
  return {'t', at, moment};
}
event t(int at) {
  return t(at, at);
}

void play(const std::vector<event>& events, frame_source& frames, bundle_run& run) {
  std::uint64_t id = 0;
  for (const auto& e : events) {
    run.at(e.at);
    if (e.what == 'f')
      run.take(frames(0, id++, e.at));
    else
      run.fire(e.moment);
  }
}

} // namespace

TEST_CASE("a trigger closes what is open, of all streams or of the one that it names") {
  frame_source frames;
  auto options = triggered().with("size", std::int64_t{4});
  bundle_run run{options, cameras(1, 2, true)};
  run.take(frames(0, 0, 0));
  run.take(frames(1, 0, 0));
  run.take(frames(0, 1, 33));
  run.at(40);
  run.fire(40, false, 1);
  CHECK(run.words() == words{"trigger 1:0 - - -"});
  run.fire(40, false, 7); // a stream that another stage bundles
  run.fire(40);
  CHECK(run.words() == words{"trigger 1:0 - - -", "trigger 0:0 0:1 - -"});
  CHECK(run.sent().back()->descriptor.released == 40_ms);
  run.fire(40); // nothing is open
  CHECK(run.words().size() == 2);
  // It is waited for without bound, but not beyond the size.
  run.take(frames(0, 2, 66));
  run.at(60'000);
  CHECK(run.words().size() == 2);
  for (int i = 3; i < 6; ++i)
    run.take(frames(0, static_cast<std::uint64_t>(i), 60'000));
  CHECK(run.words().back() == "count 0:2 0:3 0:4 0:5");
  CHECK(run.outcomes().empty());
}

TEST_CASE("without `trigger` a trigger releases nothing; with a timeout beside it, whichever is first") {
  frame_source frames;
  {
    bundle_run run{with_size(4), cameras(1, 1, true)};
    run.take(frames(0, 0, 0));
    run.fire(0);
    CHECK(run.words().empty());
  }
  auto options = triggered(settings{}.with("timeout", duration{50ms}));
  bundle_run run{options.with("size", std::int64_t{4}), cameras(1, 1, true)};
  run.take(frames(0, 0, 0));
  run.at(100);
  run.take(frames(0, 1, 100));
  run.at(120);
  run.fire(120);
  CHECK(run.words() == words{"timeout 0:0 - - -", "trigger 0:1 - - -"});
}

TEST_CASE("a file's frames before the trigger's moment are waited for; a message counts where it comes") {
  frame_source frames;
  auto options = triggered();
  bundle_run run{options.with("size", std::int64_t{8}), cameras(1, 1, false)};
  const auto take = [&](std::uint64_t id, int place) {
    auto next = frames(0, id, 0);
    next.meta.timeline = ms(place);
    run.take(std::move(next));
  };
  take(0, 0);
  run.fire(70);
  take(1, 40);
  CHECK(run.words().empty());
  take(2, 80);
  CHECK(run.words() == words{"trigger 0:0 0:1 - - - - - -"});
  run.fire(60); // what stands there has come
  CHECK(run.words().back() == "trigger 0:2 - - - - - - -");
  take(3, 120);
  run.fire(999'999, false);
  CHECK(run.words().back() == "trigger 0:3 - - - - - - -");
}

TEST_CASE("what stands before a trigger's hyperframe is skipped as it begins: results need not wait") {
  frame_source frames;
  bundle_run run{around(1), cameras(1, 1, true)};
  play({f(0), f(10), f(20), f(30), t(35)}, frames, run);
  CHECK(run.outcomes().empty());
  run.at(60'000); // the stream is silent
  CHECK(run.words() == words{"late 0:3 - - -"});
  CHECK(
    run.outcomes()
    == words{"0:0 skipped (untriggered)", "0:1 skipped (untriggered)", "0:2 skipped (untriggered)"});
  CHECK(run.tested().held_frames() == 0);
}

TEST_CASE("frames from before the trigger: the hyperframe holds those around it") {
  struct row {
    const char* what;
    settings options;
    std::vector<event> events;
    words expected;
    words outcomes;
  };
  const auto skipped = [](int id) { return "0:" + std::to_string(id) + " skipped (untriggered)"; };
  const std::vector<row> rows{
    {"two before, two from it on; the others are skipped",
     around(2),
     {f(0), f(10), f(20), f(30), t(35), f(40), f(50), f(60)},
     {"trigger 0:2 0:3 0:4 0:5"},
     {skipped(0), skipped(1), skipped(6)}},
    {"the frame at the moment itself is none from before",
     around(2),
     {f(0), f(10), t(20), f(20), f(30), f(40)},
     {"trigger 0:0 0:1 0:2 0:3"},
     {skipped(4)}},
    {"the trigger comes behind frames that stand after it",
     around(2),
     {f(0), f(10), f(20), f(30), t(32, 15)},
     {"trigger 0:0 0:1 0:2 0:3"},
     {}},
    {"so late that a frame from before is gone: the tail is padded",
     around(2),
     {f(0), f(10), f(20), f(30), f(40), t(45, 15), f(50)},
     {"trigger 0:1 0:2 0:3 -"},
     {skipped(0), skipped(4), skipped(5)}},
    {"so late that the first one from it on is gone",
     around(2),
     {f(0), f(10), f(20), f(30), f(40), f(50), t(55, 5), t(55, 10)},
     {},
     {skipped(0), skipped(1), skipped(2), skipped(3), skipped(4), skipped(5)}},
    {"fewer came before: the tail is padded",
     around(2),
     {f(0), t(5), f(10), f(20), f(30)},
     {"trigger 0:0 0:1 0:2 -"},
     {skipped(3)}},
    {"a frame that two triggers ask for is own in the first and context in the second",
     around(2),
     {f(0), f(10), f(20), t(25), f(30), f(40), t(45), f(50), f(60), f(70)},
     {"trigger 0:1 0:2 0:3 0:4", "trigger (0:3) (0:4) 0:5 0:6"},
     {skipped(0), skipped(7)}},
    {"the second trigger comes while the first waits",
     around(2),
     {f(0), f(10), f(20), t(25), f(30), t(35), f(40), f(50), f(60)},
     {"trigger 0:1 0:2 0:3 0:4", "trigger (0:2) (0:3) (0:4) 0:5"},
     {skipped(0), skipped(6)}},
    {"triggers that come in another order than their moments",
     around(2),
     {f(0), f(10), f(20), t(22, 45), t(24, 25), f(30), f(40), f(50), f(60)},
     {"trigger 0:1 0:2 0:3 0:4", "trigger (0:3) (0:4) 0:5 0:6"},
     {skipped(0)}},
    {"behind a later one, a trigger gets nothing older than that one got",
     around(2),
     {f(0), f(10), f(20), f(30), t(32, 25), t(33, 5), f(40)},
     {"trigger 0:1 0:2 0:3 0:4"},
     {skipped(0)}},
    {"two triggers for the same frames make one hyperframe",
     around(2),
     {f(0), f(10), t(15), t(16), f(20), f(30)},
     {"trigger 0:0 0:1 0:2 0:3"},
     {}},
    {"none from before",
     around(0),
     {f(0), f(10), t(15), f(20), f(30), f(40), f(50)},
     {"trigger 0:2 0:3 0:4 0:5"},
     {skipped(0), skipped(1)}},
    {"all from before: complete when a frame from the moment on comes",
     around(4),
     {f(0), f(10), f(20), f(30), f(40), t(45), f(50)},
     {"trigger 0:1 0:2 0:3 0:4"},
     {skipped(0), skipped(5)}},
    {"the stream ends behind the trigger's moment",
     around(2),
     {f(0), f(10), t(15), f(20)},
     {"flush 0:0 0:1 0:2 -"},
     {}},
    {"the stream ends before the trigger's moment",
     around(2),
     {f(0), f(10), f(20), t(25)},
     {"flush 0:1 0:2 - -"},
     {skipped(0)}},
    {"no trigger: everything is skipped",
     around(2),
     {f(0), f(10), f(20), f(30), f(40)},
     {},
     {skipped(0), skipped(1), skipped(2), skipped(3), skipped(4)}},
    {"every second frame",
     around(1).with("every", std::int64_t{2}),
     {f(0), f(10), f(20), f(30), t(35), f(40), f(50), f(60), f(70), f(80)},
     {"trigger 0:2 0:4 0:6 0:8"},
     {"0:1 skipped (every)", "0:3 skipped (every)", skipped(0), "0:5 skipped (every)",
      "0:7 skipped (every)"}},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    frame_source frames;
    bundle_run run{r.options, cameras(1, 1, true)};
    play(r.events, frames, run);
    run.end(0);
    CHECK(run.words() == r.expected);
    CHECK(run.outcomes() == r.outcomes);
    CHECK(run.tested().held_frames() == 0);
    CHECK(frames.pool.in_use() == 0);
  }
}

TEST_CASE("frames from before the trigger: times bound what comes after it") {
  struct row {
    const char* what;
    settings options;
    std::vector<event> events;
    int released;
    words expected;
  };
  const settings timeout = settings{}.with("timeout", duration{50ms});
  const std::vector<row> rows{
    {"the timeout runs from the trigger on, not from the old frames",
     around(2, timeout), {f(0), f(10), t(200), f(210)}, 250, {"timeout 0:0 0:1 0:2 -"}},
    {"no frame from the moment on comes",
     around(2, timeout), {f(0), f(10), t(200)}, 250, {"timeout 0:0 0:1 - -"}},
    {"without frames from before it runs from the first one on",
     around(0, timeout), {f(0), t(10), f(30)}, 80, {"timeout 0:1 - - -"}},
    {"lateness is the default: 1.5 * 4 / 30 Hz",
     around(2), {f(0), f(10), t(15), f(20)}, 215, {"late 0:0 0:1 0:2 -"}},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    frame_source frames;
    bundle_run run{r.options, cameras(1, 1, true)};
    play(r.events, frames, run);
    run.at(5000);
    REQUIRE(run.words() == r.expected);
    CHECK(run.sent()[0]->descriptor.released == ms(r.released));
  }
}

TEST_CASE("frames from before the trigger: sets, and a frame that is missing") {
  frame_source frames;
  {
    auto options = around(1);
    bundle_run run{
      options.with("over", std::string{"both"}).with("size", std::int64_t{2}), cameras(1, 2, true)};
    run.take(make_set(frames, {0, 0}, 0), 0);
    run.take(make_set(frames, {1, -1}, 33), 33);
    run.at(40);
    run.fire(40);
    run.take(make_set(frames, {2, 1}, 66), 66);
    CHECK(run.words() == words{"trigger 0:1 unmatched 0:2 1:1"});
    run.end(1);
    run.end(0);
    CHECK(run.outcomes() == words{"0:0 skipped (untriggered)", "1:0 skipped (untriggered)"});
  }
  {
    bundle_run run{around(2), cameras(1, 1, true)};
    run.take(frames(0, 0, 0));
    run.take(frames(0, 2, 20));
    run.take(frames(0, 3, 30, 0, frame_corrupt));
    run.at(35);
    run.fire(35);
    run.take(frames(0, 4, 40));
    run.take(frames(0, 5, 50));
    CHECK(run.words() == words{"trigger 0:2 corrupt 0:4 0:5"});
    CHECK((run.sent()[0]->descriptor.slots[0].meta.flags & frame_gap_before) != 0);
    CHECK(run.sent()[0]->descriptor.consecutive);
    CHECK(run.outcomes() == words{"0:0 skipped (untriggered)", "0:3 failed (corrupt)"});
    run.take(frames(0, 7, 70));
    run.at(75);
    run.fire(75);
    run.take(frames(0, 8, 80));
    run.take(frames(0, 9, 90));
    CHECK(run.words().back() == "trigger (0:5) 0:7 0:8 0:9");
    CHECK_FALSE(run.sent()[1]->descriptor.consecutive);
  }
}

TEST_CASE("a new epoch gives a waiting trigger what there is") {
  frame_source frames;
  bundle_run run{around(2), cameras(1, 1, true)};
  play({f(0), f(10), f(20), t(25)}, frames, run);
  run.take(frames(0, 0, 30, 1));
  CHECK(run.words() == words{"flush 0:1 0:2 - -"});
  CHECK(run.outcomes() == words{"0:0 skipped (untriggered)"});
  CHECK(run.tested().held_frames() == 1);
}

TEST_CASE("more triggers than can wait, and one that comes too late, are told of once") {
  frame_source frames;
  bundle_run run{around(2), cameras(1, 1, true)};
  play({f(0), f(10), f(20), f(30), f(40)}, frames, run);
  for (int i = 0; i < 80; ++i)
    run.fire(1000 + i);
  run.fire(0);
  run.fire(0);
  CHECK(
    run.context.alarms
    == words{
      "a trigger was lost: 64 of them waited for their moments already; this is said once",
      "a trigger came too late: the frames at its moment had gone; a larger `size` keeps them for "
      "longer; this is said once"});
}

TEST_CASE("what does not go with triggers is a fault") {
  const auto d = describe_bundle();
  const auto with = [&](const settings& r) { return faults_of(d, release(r)); };
  CHECK(with(settings{}.with("trigger", true).with("pre", std::int64_t{8})).empty());
  CHECK(
    with(settings{}.with("pre", std::int64_t{2}))
    == words{
      "`pre: 2` counts the frames from before a trigger; add `trigger: true`, or leave `pre` out"});
  CHECK(
    with(settings{}.with("trigger", true).with("pre", std::int64_t{9}))
    == words{"`pre: 9` is more than a hyperframe of 8 can hold; use at most 8 or a larger `size`"});
  const auto alone = [](const std::string& name) {
    return "`" + name
           + "` with `pre`: the triggers alone say which frames come into a hyperframe; leave one of "
             "them out";
  };
  const auto pre = settings{}.with("trigger", true).with("pre", std::int64_t{2});
  auto counted = pre, windowed = pre;
  CHECK(with(counted.with("count", std::int64_t{4})) == words{alone("count")});
  CHECK(with(windowed.with("window", duration{50ms})) == words{alone("window")});
  CHECK(
    faults_of(d, release(pre).with("stride", std::int64_t{4})) == words{alone("stride")});
  const auto inputs = [&](const settings& s, const std::vector<port_type>& types) {
    std::vector<fault> faults;
    d.check_inputs(*plan_with(d, s, cameras(1, 1, true)).config, types, {}, faults);
    words result;
    for (const auto& one : faults)
      result.push_back(one.message);
    return result;
  };
  CHECK(inputs({}, {port_type::frame}).empty());
  CHECK(inputs(triggered(), {port_type::trigger, port_type::aligned_set}).empty());
  CHECK(
    inputs(triggered(), {port_type::frame})
    == words{
      "it is released by triggers, but none come in: add a stage of type `trigger`, and name it in "
      "`from` beside the frames, as in from: [capture, trigger]"});
  CHECK(
    inputs({}, {port_type::frame, port_type::trigger})
    == words{
      "triggers come in, but release nothing: add release: { trigger: true }, or take the trigger "
      "out of `from`"});
  CHECK(
    inputs(triggered(), {port_type::trigger})
    == words{
      "only triggers come in, and no frames: name a stage that gives frames or sets in `from` too"});
}

TEST_CASE("frames that wait for a trigger are named once when the stage fails or is stopped") {
  frame_source frames;
  bundle_run run{around(2), cameras(1, 1, true)};
  play({f(0), f(10), f(20), t(25), f(30)}, frames, run);
  outcome_batch named;
  run.tested().give_up(outcome::failed, reason::stage_failed, named);
  CHECK(named.frames() == 3);
  CHECK(named.ranges().size() == 1);
  CHECK(run.outcomes() == words{"0:0 skipped (untriggered)"});
  CHECK(run.tested().held_frames() == 0);
  CHECK(frames.pool.in_use() == 0);
}
