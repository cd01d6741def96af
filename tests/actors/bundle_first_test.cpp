#include "tests/actors/bundle_run.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

settings first(settings more = {}) {
  return more.with("stream_first", true);
}
settings first_of_four(settings more = {}) {
  return first(more.with("size", std::int64_t{4}));
}

/// "at 0 #0+0 first 0:0": when, sequence number, first slot, and what was in it.
words told(const bundle_run& run) {
  words result;
  for (const auto& h : run.sent()) {
    const auto& d = h->descriptor;
    result.push_back(
      "at " + std::to_string(d.released.time_since_epoch() / 1ms) + " #"
      + std::to_string(d.sequence.counter) + '+' + std::to_string(d.first_slot) + ' '
      + in_words(*h));
  }
  return result;
}

} // namespace

TEST_CASE(
  "the first frame goes ahead when it comes, the others follow when the hyperframe is closed") {
  struct row {
    const char* what;
    settings options;
    std::vector<int> arrivals; ///< ms; below 0: damaged
    words expected, outcomes;
  };
  const auto timeout = [](duration t) { return release(settings{}.with("timeout", t)); };
  const std::vector<row> rows{
    {"by count",
     {},
     {0, 33, 66, 99, 133},
     {"at 0 #0+0 first 0:0", "at 99 #0+1 count 0:1 0:2 0:3", "at 133 #1+0 first 0:4"},
     {}},
    {"nothing follows one that came alone; the time counts from it",
     timeout(100ms),
     {10, 500, 590, 605},
     {"at 10 #0+0 first 0:0", "at 500 #1+0 first 0:1", "at 600 #1+1 timeout 0:2 - -",
      "at 605 #2+0 first 0:3"},
     {}},
    {"the first one of the others is late: its arrival opens nothing",
     timeout(100ms),
     {0, 90},
     {"at 0 #0+0 first 0:0", "at 100 #0+1 timeout 0:1 - -"},
     {}},
    {"lateness counts all frames: 1.5 * 4 / 30 Hz",
     {},
     {0, 50},
     {"at 0 #0+0 first 0:0", "at 200 #0+1 late 0:1 - -"},
     {}},
    {"count below size",
     release(settings{}.with("count", std::int64_t{2})),
     {0, 33, 66, 99},
     {"at 0 #0+0 first 0:0", "at 33 #0+1 count 0:1 - -", "at 66 #1+0 first 0:2",
      "at 99 #1+1 count 0:3 - -"},
     {}},
    {"window",
     release(settings{}.with("window", duration{100ms})),
     {10, 99, 120, 250},
     {"at 10 #0+0 first 0:0", "at 100 #0+1 window 0:1 - -", "at 120 #1+0 first 0:2",
      "at 250 #2+0 first 0:3"},
     {}},
    {"frames are passed over",
     settings{}.with("stride", std::int64_t{6}),
     {0, 33, 66, 99, 133, 166, 200},
     {"at 0 #0+0 first 0:0", "at 99 #0+1 count 0:1 0:2 0:3", "at 200 #1+0 first 0:6"},
     {"0:4 skipped (stride)", "0:5 skipped (stride)"}},
    {"a damaged one goes with the others",
     {},
     {-1, 33, 66, 99, 133},
     {"at 99 #0+0 count corrupt 0:1 0:2 0:3", "at 133 #1+0 first 0:4"},
     {"0:0 failed (corrupt)"}},
    {"the others are damaged",
     {},
     {0, -33, -66, -99, 133},
     {"at 0 #0+0 first 0:0", "at 133 #1+0 first 0:4"},
     {"0:1 failed (corrupt)", "0:2 failed (corrupt)", "0:3 failed (corrupt)"}},
    {"all are damaged",
     {},
     {-1, -33, -66, -99, 133},
     {"at 133 #0+0 first 0:4"},
     {"0:0 failed (corrupt)", "0:1 failed (corrupt)", "0:2 failed (corrupt)",
      "0:3 failed (corrupt)"}},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    frame_source frames;
    bundle_run run{first_of_four(r.options), cameras(1, 1, true)};
    std::uint64_t id = 0;
    for (const auto t : r.arrivals)
      run.take(frames(0, id++, std::abs(t), 0, t < 0 ? frame_corrupt : 0));
    run.at(10'000);
    auto expected = r.expected;
    CHECK(told(run) == expected);
    CHECK(run.outcomes() == r.outcomes);
    CHECK(run.tested().held_frames() == 0);
  }
}

TEST_CASE(
  "what went ahead is not held any more, and each part has its own pixels and its own deadline") {
  frame_source frames;
  bundle_run run{first_of_four(), cameras(1, 1, true)};
  run.take(frames(0, 7, 0));
  CHECK(run.tested().held_frames() == 0);
  run.take(frames(0, 8, 33));
  CHECK(run.tested().held_frames() == 1);
  run.take(frames(0, 9, 66));
  run.take(frames(0, 10, 100));
  const auto sent = run.sent();
  REQUIRE(sent.size() == 2);
  CHECK(sent[0]->tensor.size() == 8);
  CHECK(static_cast<int>(sent[0]->tensor.data()[0]) == 7);
  for (int i = 0; i < 3; ++i)
    CHECK(static_cast<int>(sent[1]->tensor.data()[i * 8]) == 8 + i);
  CHECK(sent[0]->descriptor.deadline() == ms(500));
  CHECK(sent[1]->descriptor.deadline() == ms(533));
  CHECK(sent[0]->descriptor.opened == ms(0));
  CHECK(sent[1]->descriptor.opened == ms(0));
  CHECK(run.context.bytes_copied == 0);
  // Given up is what has not gone ahead.
  run.take(frames(0, 11, 133));
  run.take(frames(0, 12, 166));
  outcome_batch named;
  run.tested().give_up(outcome::dropped, reason::stopped, named);
  REQUIRE(named.ranges().size() == 1);
  CHECK(in_words(named.ranges()[0]) == "0:12 dropped (stopped)");
}

TEST_CASE("the descriptor of the others counts what went ahead") {
  struct row {
    const char* what;
    std::vector<std::pair<int, int>> frames; ///< id, arrival in ms
    int span;
    bool consecutive, off_pace;
  };
  for (const auto& r : std::vector<row>{
         {"even", {{0, 0}, {1, 33}, {2, 67}, {3, 100}}, 100, true, false},
         {"a gap behind the first", {{0, 0}, {2, 67}, {3, 100}, {4, 133}}, 133, false, true},
         {"a gap in front of the first", {{5, 0}, {6, 33}, {7, 67}, {8, 100}}, 100, true, false}}) {
    CAPTURE(std::string{r.what});
    frame_source frames;
    bundle_run run{first_of_four(), cameras(1, 1, true)};
    for (const auto& [id, at] : r.frames)
      run.take(frames(0, static_cast<std::uint64_t>(id), at));
    const auto sent = run.sent();
    REQUIRE(sent.size() == 2);
    CHECK(sent[0]->descriptor.span == 0ms);
    CHECK(sent[0]->descriptor.consecutive);
    CHECK_FALSE(sent[0]->descriptor.off_pace);
    CHECK(sent[1]->descriptor.span == std::chrono::milliseconds{r.span});
    CHECK(sent[1]->descriptor.consecutive == r.consecutive);
    CHECK(sent[1]->descriptor.off_pace == r.off_pace);
  }
}

TEST_CASE("ends, epochs and triggers close a hyperframe of which only the first frame has come") {
  frame_source frames;
  bundle_run run{first_of_four(release(settings{}.with("trigger", true))), cameras(1, 1, true)};
  run.take(frames(0, 0, 0));
  run.take(frames(0, 0, 33, 1)); // a new epoch
  run.take(frames(0, 1, 66, 1));
  run.end(0, false, 1);
  run.take(frames(0, 0, 100, 2));
  run.fire(100);
  run.take(frames(0, 1, 133, 2));
  run.take(frames(0, 2, 166, 2));
  run.at(170);
  run.fire(170);
  run.take(frames(0, 3, 200, 2));
  run.end(0, true, 2);
  CHECK(
    told(run)
    == words{
      "at 0 #0+0 first 0:0", "at 33 #1+0 first 0:0", "at 66 #1+1 flush 0:1 - -",
      "at 100 #2+0 first 0:0", "at 133 #3+0 first 0:1", "at 170 #3+1 trigger 0:2 - -",
      "at 200 #4+0 first 0:3"});
  CHECK(run.tested().held_frames() == 0);
}

TEST_CASE("a file's window and its triggers count what went ahead") {
  frame_source frames;
  bundle_run windows{
    first_of_four(release(settings{}.with("window", duration{100ms}))), cameras(1, 1, false)};
  for (std::uint64_t i = 0; i < 4; ++i)
    windows.take(frames(0, i, static_cast<int>(90 * i))); // 0 90 180 270
  windows.end(0);
  CHECK(windows.words() == words{"first 0:0", "window 0:1 - -", "first 0:2", "first 0:3"});
}

TEST_CASE("the frames around a trigger: the first new one of each window") {
  frame_source frames;
  const auto around =
    first_of_four(release(settings{}.with("trigger", true).with("pre", std::int64_t{2})));
  bundle_run run{around, cameras(1, 1, true)};
  for (std::uint64_t i = 0; i < 3; ++i)
    run.take(frames(0, i, static_cast<int>(10 * i)));
  run.at(25);
  run.fire(25);
  run.take(frames(0, 3, 30)); // known now: 1 and 2 before it, 3 and 4 from it on
  CHECK(told(run) == words{"at 30 #0+0 first 0:1"});
  CHECK(run.sent()[0]->descriptor.opened == ms(25));
  run.fire(35); // overlaps: 2 and 3 are another's
  run.take(frames(0, 4, 40));
  run.take(frames(0, 5, 50));
  CHECK(
    told(run)
    == words{
      "at 30 #0+0 first 0:1", "at 40 #0+1 trigger 0:2 0:3 0:4",
      "at 50 #1+0 trigger (0:2) (0:3) (0:4) 0:5"});
  run.at(1000);
  run.end(0);
  CHECK(run.outcomes() == words{"0:0 skipped (untriggered)"});
  CHECK(run.tested().held_frames() == 0);
  CHECK(frames.pool.in_use() == 0);
}

TEST_CASE("over: both sends the first set ahead, with what it repeats") {
  frame_source frames;
  auto options = first(with_size(2).with("over", std::string{"both"}));
  bundle_run run{options, cameras(1, 2, true)};
  run.take(make_set(frames, {0, 0}, 0), 0);
  run.take(make_set(frames, {1, -1}, 33), 33);
  run.take(make_set(frames, {2, 1}, 66, {false, true}), 66);
  run.take(make_set(frames, {3, 2}, 100), 100);
  CHECK(
    told(run)
    == words{
      "at 0 #0+0 first 0:0 1:0", "at 33 #0+2 count 0:1 unmatched", "at 66 #1+0 first 0:2 (1:1)",
      "at 100 #1+2 count 0:3 1:2"});
  // Where the set has no frame of its own, it goes with the others; what it repeats is moved there.
  bundle_run repeated{options, cameras(1, 2, true)};
  repeated.take(make_set(frames, {7, -1}, 0, {true, false}), 0);
  repeated.take(make_set(frames, {8, 9}, 33), 33);
  REQUIRE(repeated.words() == words{"count (0:7) unmatched 0:8 1:9"});
  const auto& h = *repeated.sent()[0];
  CHECK(static_cast<int>(h.tensor.data()[0]) == 7);
  CHECK(static_cast<int>(h.tensor.data()[2 * 8]) == 8);
  CHECK(repeated.context.bytes_copied == 8 + 2 * 8);
  CHECK(h.descriptor.members == 2);
  // An epoch of a stream whose only frame has gone ahead closes what is open.
  bundle_run ended{options, cameras(1, 2, true)};
  ended.take(make_set(frames, {0, -1}, 0), 0);
  ended.end(0, false);
  ended.take(make_set(frames, {-1, 0}, 33), 33);
  CHECK(ended.words() == words{"first 0:0 unmatched", "first unmatched 1:0"});
}

TEST_CASE("kept frames go with their part, and without a model no tensor is made") {
  frame_source frames;
  bundle_run run{
    first_of_four(settings{}.with("keep_frames", true)), cameras(1, 1, true), false, 0};
  for (std::uint64_t i = 0; i < 4; ++i)
    run.take(frames(0, i, static_cast<int>(33 * i)));
  const auto sent = run.sent();
  REQUIRE(sent.size() == 2);
  REQUIRE(sent[0]->frames.size() == 1);
  CHECK(sent[0]->frames[0].meta.frame_id == 0);
  REQUIRE(sent[1]->frames.size() == 3);
  CHECK(sent[1]->frames[2].meta.frame_id == 3);
  CHECK_FALSE(sent[0]->tensor);
  CHECK_FALSE(sent[1]->tensor);
}

TEST_CASE("what goes ahead has a pool of its own") {
  frame_source frames;
  bundle_run run{first_of_four(), cameras(1, 2, true), true, 1};
  run.take(frames(0, 0, 0));
  run.context.sent.clear();
  run.take(frames(0, 1, 10)); // takes the one large tensor
  run.take(frames(1, 0, 20)); // and this the one small
  CHECK_THROWS_WITH_AS(
    run.take(frames(1, 1, 30)),
    doctest::Contains("all 1 tensors are in use although the plan says that more cannot be open"),
    failure);
}

TEST_CASE("where nothing can go ahead, the settings say so") {
  const auto d = describe_bundle();
  const std::string says =
    "`stream_first` sends the first frame of a hyperframe ahead of the others, but ";
  CHECK(faults_of(d, first()).empty());
  CHECK(faults_of(d, first(settings{}.with("over", std::string{"both"}))).empty());
  CHECK(faults_of(d, first(with_size(4).with("stride", std::int64_t{4}))).empty());
  CHECK(
    faults_of(d, first(settings{}.with("over", std::string{"cameras"})))
    == words{
      says
      + "`over: cameras` makes hyperframes of one set, whose frames come at once; leave "
        "`stream_first` "
        "out, or use `over: both` for several sets"});
  CHECK(
    faults_of(d, first(with_size(1)))
    == words{
      says + "`size: 1` leaves no others; leave `stream_first` out, or use a `size` of 2 or more"});
  CHECK(
    faults_of(d, first(release(settings{}.with("count", std::int64_t{1}))))
    == words{
      says
      + "`count: 1` leaves no others; leave `stream_first` out, or use a `count` of 2 or more"});
  CHECK(
    faults_of(d, first(with_size(4).with("stride", std::int64_t{3})))
    == words{
      says
      + "`stride: 3` puts 1 that were sent before in front of it, for models that take several "
        "frames "
        "together; leave `stream_first` out, or use a `stride` of 4 or more"});
}
