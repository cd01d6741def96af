#include "tests/actors/bundle_run.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace hyperframes;
using namespace hyperframes::test;

TEST_CASE("release by count, timeout, window and lateness") {
  struct row {
    const char* what;
    settings options;
    std::vector<int> arrivals;                 ///< ms
    std::vector<std::pair<int, int>> expected; ///< released at, frames
    release_reason why;
  };
  const std::vector<row> rows{
    {"the last frame at the timeout's instant counts",
     release(settings{}.with("timeout", duration{99ms})),
     {0, 33, 66, 99},
     {{99, 4}},
     release_reason::count},
    {"timeout since the oldest member arrived",
     release(settings{}.with("timeout", duration{33ms})),
     {10, 40, 50},
     {{43, 2}, {83, 1}},
     release_reason::timeout},
    {"timeout, honoured as given",
     release(settings{}.with("timeout", duration{1500ms})),
     {7},
     {{1507, 1}},
     release_reason::timeout},
    {"count below size",
     release(settings{}.with("count", std::int64_t{2})),
     {0, 33, 66, 99},
     {{33, 2}, {99, 2}},
     release_reason::count},
    {"window edges lie on the clock",
     release(settings{}.with("window", duration{50ms})),
     {10, 49, 50, 99, 101},
     {{50, 3}, {100, 1}, {150, 1}},
     release_reason::window},
    {"a window wider than what comes",
     release(settings{}.with("window", duration{500ms})),
     {510, 600},
     {{1000, 2}},
     release_reason::window},
    {"count first, with a timeout behind it",
     release(settings{}.with("timeout", duration{300ms})),
     {0, 33, 66, 100},
     {{100, 4}},
     release_reason::count},
    {"lateness is the default: 1.5 * 4 / 30 Hz", {}, {100}, {{300, 1}}, release_reason::late},
    {"late in front of a longer timeout",
     release(settings{}.with("timeout", duration{600ms}).with("late", true)),
     {0},
     {{200, 1}},
     release_reason::late},
    {"a timeout alone is not cut short",
     release(settings{}.with("timeout", duration{600ms})),
     {0},
     {{600, 1}},
     release_reason::timeout},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    frame_source frames;
    auto options = r.options;
    bundle_run run{options.with("size", std::int64_t{4}), cameras(1, 1, true)};
    std::uint64_t id = 0;
    for (auto t : r.arrivals)
      run.take(frames(0, id++, t));
    run.at(10000);
    const auto sent = run.sent();
    REQUIRE(sent.size() == r.expected.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      CHECK(sent[i]->descriptor.released == ms(r.expected[i].first));
      CHECK(sent[i]->descriptor.own_count() == static_cast<std::size_t>(r.expected[i].second));
      CHECK(sent[i]->descriptor.released_by == r.why);
    }
  }
}

TEST_CASE("a frame on the edge of a window that has passed belongs to the next one") {
  // The timer of 50 ms was served late: the frame that arrived at 60 ms is seen first.
  frame_source frames;
  const auto options =
    release(settings{}.with("window", duration{50ms})).with("size", std::int64_t{4});
  bundle_run run{options, cameras(1, 1, true)};
  run.take(frames(0, 0, 10));
  auto late = frames(0, 1, 60);
  run.tested().on_item(std::move(late), run.context);
  CHECK(run.words() == words{"window 0:0 - - -"});
}

TEST_CASE("files are not cut by the time that passes") {
  frame_source frames;
  bundle_run run{
    release(settings{}.with("timeout", duration{20ms})).with("size", std::int64_t{3}),
    cameras(1, 1, false)};
  for (std::uint64_t i = 0; i < 3; ++i)
    run.take(frames(0, i, static_cast<int>(1000 * i)));
  CHECK(run.words() == words{"count 0:0 0:1 0:2"});
  // A window goes by the frames' own times.
  bundle_run windows{
    release(settings{}.with("window", duration{100ms})).with("size", std::int64_t{8}),
    cameras(1, 1, false)};
  for (std::uint64_t i = 0; i < 5; ++i) {
    auto f = frames(0, i, 0);
    f.meta.timeline = ms(static_cast<int>(40 * i));
    windows.take(std::move(f));
  }
  windows.end(0);
  CHECK(windows.words() == words{"window 0:0 0:1 0:2 - - - - -", "flush 0:3 0:4 - - - - - -"});
}

TEST_CASE("a new epoch releases early, once, and takes no context along") {
  frame_source frames;
  bundle_run run{with_size(4).with("stride", std::int64_t{2}), cameras(1, 1, true)};
  for (std::uint64_t i = 0; i < 5; ++i)
    run.take(frames(0, i, static_cast<int>(33 * i)));
  run.end(0, false);
  run.take(frames(0, 0, 200, 1));
  run.take(frames(0, 0, 210, 2)); // an end is not needed
  run.at(1000);
  CHECK(
    run.words()
    == words{
      "count 0:0 0:1 0:2 0:3", "flush (0:2) (0:3) 0:4 -", "flush 0:0 - - -", "late 0:0 - - -"});
}

TEST_CASE("times are honoured as given, from the arrival of the oldest frame") {
  for (const int set : {33, 300, 600, 1500})
    for (const int arrived : {0, 7, 1234}) {
      CAPTURE(set);
      CAPTURE(arrived);
      frame_source frames;
      auto options = release(settings{}.with("timeout", duration{std::chrono::milliseconds{set}}));
      bundle_run run{options.with("size", std::int64_t{64}), cameras(1, 1, true)};
      run.take(frames(0, 0, arrived));
      run.take(frames(0, 1, arrived + 20));
      run.at(arrived + set); // what arrives at this instant would still come in
      CHECK(run.sent().empty());
      run.at(arrived + set + 1);
      REQUIRE(run.sent().size() == 1);
      CHECK(run.sent()[0]->descriptor.opened == ms(arrived));
      CHECK(run.sent()[0]->descriptor.released == ms(arrived + set));
      CHECK(run.sent()[0]->descriptor.released_by == release_reason::timeout);
    }
}

TEST_CASE("late is 1.5 size / fps behind the oldest frame") {
  struct row {
    std::int64_t size;
    double fps;
    int late; ///< ms
  };
  for (const auto& r :
       {row{2, 30, 100}, row{8, 30, 400}, row{8, 10, 1200}, row{3, 1, 4500}, row{16, 0, 800}}) {
    CAPTURE(r.size);
    CAPTURE(r.fps); // 0: unknown, 30 are assumed
    frame_source frames;
    bundle_run run{with_size(r.size), cameras(1, 1, true, r.fps)};
    run.take(frames(0, 0, 50));
    run.at(60'000);
    REQUIRE(run.sent().size() == 1);
    CHECK(run.sent()[0]->descriptor.released == ms(50 + r.late));
    CHECK(run.sent()[0]->descriptor.released_by == release_reason::late);
  }
}

TEST_CASE("late leaves time for the frames that `every` passes over") {
  frame_source frames;
  bundle_run run{with_size(4).with("every", std::int64_t{3}), cameras(1, 1, true, 10)};
  for (int i = 0; i < 10; ++i)
    run.take(frames(0, static_cast<std::uint64_t>(i), 100 * i));
  CHECK(run.words() == words{"count 0:0 0:3 0:6 0:9"});
  for (int i = 10; i < 13; ++i)
    run.take(frames(0, static_cast<std::uint64_t>(i), 100 * i));
  run.at(60'000);
  CHECK(run.sent().size() == 2);
  CHECK(run.sent().back()->descriptor.released == ms(1200 + 1800));
}

TEST_CASE("late goes by the slowest member") {
  frame_source frames;
  auto graph = cameras(1, 2, true);
  graph->streams[1].fps = 10;
  bundle_run run{with_size(2).with("over", std::string{"both"}), graph};
  run.take(make_set(frames, {0, 0}, 0), 0);
  run.at(1000);
  REQUIRE(run.sent().size() == 1);
  CHECK(run.sent()[0]->descriptor.released == 300_ms);
}

TEST_CASE("a span that does not fit the frame rate, by more than half a period, is told") {
  struct row {
    const char* what;
    double fps;
    std::int64_t every;
    std::vector<int> places; ///< ms
    bool off;
  };
  const std::vector<row> rows{
    {"as declared", 20, 1, {0, 50, 100, 150}, false},
    {"half a period longer", 20, 1, {0, 50, 100, 175}, false},
    {"more than half a period longer", 20, 1, {0, 50, 100, 176}, true},
    {"half a period shorter", 20, 1, {0, 50, 100, 125}, false},
    {"more than half a period shorter", 20, 1, {0, 50, 100, 124}, true},
    {"jitter inside does no harm", 20, 1, {0, 80, 90, 150}, false},
    {"half the rate", 20, 1, {0, 100, 200, 300}, true},
    {"a frame is missing", 20, 1, {0, 50, 150, 200}, true},
    {"of fewer frames, their own number counts", 20, 1, {0, 50, 100}, false},
    {"two frames, one lost between", 20, 1, {0, 100}, true},
    {"a single one has no span", 20, 1, {70}, false},
    {"no rate is declared", 0, 1, {0, 500, 700, 2000}, false},
    {"every second frame", 20, 2, {0, 50, 100, 150, 200, 250, 300}, false},
    {"every second frame, at half the rate", 20, 2, {0, 100, 200, 300, 400, 500, 600}, true},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    frame_source frames;
    bundle_run run{with_size(4).with("every", r.every), cameras(1, 1, false, r.fps)};
    std::uint64_t id = 0;
    for (const auto place : r.places)
      run.take(frames(0, id++, place));
    run.end(0);
    REQUIRE(run.sent().size() == 1);
    CHECK(run.sent()[0]->descriptor.off_pace == r.off);
    CHECK(run.context.stats[0].off_pace.load() == (r.off ? 1U : 0U));
  }
}

TEST_CASE("the span is that of what a hyperframe holds, context included") {
  frame_source frames;
  bundle_run run{with_size(4).with("stride", std::int64_t{2}), cameras(1, 1, false, 20)};
  for (const auto& [id, place] : std::vector<std::pair<int, int>>{
         {0, 0}, {1, 50}, {2, 100}, {3, 150}, {4, 250}, {5, 300}, {6, 350}, {7, 400}})
    run.take(frames(0, static_cast<std::uint64_t>(id), place));
  REQUIRE(run.sent().size() == 3);
  CHECK_FALSE(run.sent()[0]->descriptor.off_pace);
  CHECK(run.sent()[1]->descriptor.off_pace); // 100 to 300
  CHECK_FALSE(run.sent()[2]->descriptor.off_pace);
  CHECK(run.context.stats[0].off_pace.load() == 1U);
}

TEST_CASE("sets: the members of a moment need not stand at one place; all streams are counted") {
  frame_source frames;
  bundle_run run{
    with_size(2).with("over", std::string{"both"}), cameras(1, 2, true, 20)};
  const auto take = [&](int id, int first, int second) {
    auto set = make_set(frames, {id, id}, first);
    set.members[1].item->meta.timeline = ms(second);
    run.take(std::move(set), std::max(first, second));
  };
  take(0, 0, 20);
  take(1, 50, 70);
  take(2, 100, 120);
  take(3, 200, 190);
  REQUIRE(run.sent().size() == 2);
  CHECK_FALSE(run.sent()[0]->descriptor.off_pace);
  CHECK(run.sent()[0]->descriptor.span == 70ms);
  CHECK(run.sent()[1]->descriptor.off_pace);
  CHECK(run.context.stats[0].off_pace.load() == 1U);
  CHECK(run.context.stats[1].off_pace.load() == 1U);
}

TEST_CASE("where sending fails, giving up names each frame that has not left exactly once") {
  for (const int fails_at : {0, 1, 2}) {
    CAPTURE(fails_at);
    frame_source frames;
    bundle_run run{with_size(2), cameras(1, 3, true)};
    frame_accounts accounts;
    for (stream_index s = 0; s < 3; ++s) {
      accounts.captured(frames(s, 0, 0).meta);
      run.take(frames(s, 0, 0));
    }
    auto corrupt = frames(0, 1, 10, 0, frame_corrupt);
    accounts.captured(corrupt.meta);
    int sent = 0;
    run.context.on_emit = [&](const item&) {
      if (sent++ == fails_at)
        throw std::runtime_error("the edge broke");
    };
    // All three are due at 100 ms; the corrupt frame completes the first one before.
    try {
      run.take(std::move(corrupt));
      run.at(1000);
    } catch (const std::runtime_error&) {
    }
    run.context.on_emit = nullptr;
    outcome_batch named;
    run.tested().give_up(outcome::failed, reason::stage_failed, named);
    for (const auto& h : run.sent())
      for (const auto& slot : h->descriptor.slots)
        if (slot.own)
          accounts.sent(slot.meta);
    for (const auto& o : run.context.outcomes)
      accounts.ended(o);
    for (const auto& o : named.ranges())
      accounts.ended(o);
    CHECK(run.sent().size() == static_cast<std::size_t>(fails_at));
    CHECK(accounts.once());
    CHECK(accounts.in_flight() == 0);
    CHECK(run.tested().held_frames() == 0);
    outcome_batch again;
    run.tested().give_up(outcome::failed, reason::stage_failed, again);
    CHECK(again.empty());
  }
}
