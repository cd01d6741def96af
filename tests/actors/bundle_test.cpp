#include "tests/actors/bundle_run.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::test;

TEST_CASE("over time: size frames of one stream, an open hyperframe per stream, a padded tail") {
  frame_source frames;
  bundle_run run{with_size(8), cameras(1, 2, false)};
  for (std::uint64_t i = 0; i < 21; ++i) {
    run.take(frames(0, i, static_cast<int>(33 * i)));
    if (i < 3)
      run.take(frames(1, i, static_cast<int>(33 * i)));
  }
  CHECK(run.tested().held_frames() == 5 + 3);
  run.end(0);
  CHECK(
    run.words()
    == words{
      "count 0:0 0:1 0:2 0:3 0:4 0:5 0:6 0:7", "count 0:8 0:9 0:10 0:11 0:12 0:13 0:14 0:15",
      "flush 0:16 0:17 0:18 0:19 0:20 - - -"});
  CHECK(std::holds_alternative<stream_end>(run.context.sent.back()));
  CHECK(run.tested().held_frames() == 3);
  run.end(1);
  CHECK(run.words().back() == "flush 1:0 1:1 1:2 - - - - -");
  CHECK(run.outcomes().empty());
  CHECK(frames.pool.in_use() == 0); // pixels went into the tensors at once
}

TEST_CASE("the descriptor says what is in it, and the tensor holds it") {
  frame_source frames;
  bundle_run run{with_size(4), cameras(1, 1, false)};
  run.take(frames(0, 7, 100));
  run.take(frames(0, 8, 133));
  run.take(frames(0, 10, 199));
  run.end(0);
  const auto h = run.sent().at(0);
  const auto& d = h->descriptor;
  CHECK(d.sequence == hyperframe_sequence{2, 7, 0});
  CHECK(d.group == 0);
  CHECK(d.members == 1);
  CHECK(d.opened == 100_ms);
  CHECK(d.released == 199_ms);
  CHECK(d.span == 99ms);
  CHECK_FALSE(d.consecutive);
  CHECK((d.slots[2].meta.flags & frame_gap_before) != 0);
  CHECK((d.slots[1].meta.flags & frame_gap_before) == 0);
  CHECK(d.slots[3].meta.stream == 0);
  CHECK(d.valid_count() == 3);
  CHECK(d.own_count() == 3);
  CHECK(d.deadline() == 600_ms);
  CHECK(d.slots[0].geometry.frame_width == 4);
  CHECK(h->pack.width == 4);
  CHECK(h->pack.height == 2);
  CHECK(h->frames.empty());
  const auto* pixels = reinterpret_cast<const unsigned char*>(h->tensor.data());
  CHECK(pixels[0] == 7);
  CHECK(pixels[8] == 8);
  CHECK(pixels[16] == 10);
  CHECK(pixels[24] == 0); // padding
}

TEST_CASE("over cameras: an aligned set, a slot per member") {
  frame_source frames;
  bundle_run run{settings{}.with("over", std::string{"cameras"}), cameras(1, 3, true)};
  run.take(make_set(frames, {0, 0, 0}, 0), 5);
  run.take(make_set(frames, {1, -1, 1}, 33), 73);
  CHECK(run.words() == words{"count 0:0 1:0 2:0", "count 0:1 unmatched 2:1"});
  const auto& d = run.sent()[1]->descriptor;
  CHECK(d.members == 3);
  CHECK(d.opened == 33_ms);
  CHECK(d.released == 73_ms);
  CHECK(d.consecutive);
  CHECK(d.slots[1].meta.stream == 1);
}

TEST_CASE("over both: size sets, time first; a member's end flushes what holds its frames") {
  frame_source frames;
  bundle_run run{with_size(2).with("over", std::string{"both"}), cameras(1, 2, true)};
  run.take(make_set(frames, {0, 0}, 0), 0);
  run.take(make_set(frames, {1, -1}, 33), 33);
  run.take(make_set(frames, {2, 1}, 66), 66);
  CHECK(run.words() == words{"count 0:0 1:0 0:1 unmatched"});
  run.end(1);
  CHECK(run.words().back() == "flush 0:2 1:1 - -");
  run.take(make_set(frames, {3, -1}, 99), 99);
  run.end(1, false, 1); // owns nothing that is open
  run.take(make_set(frames, {4, -1}, 133), 133);
  CHECK(run.words().back() == "count 0:3 unmatched 0:4 unmatched");
}

TEST_CASE("over time behind align: sets go to their streams' hyperframes") {
  frame_source frames;
  bundle_run run{with_size(2), cameras(1, 2, true)};
  run.take(make_set(frames, {0, 0}, 0), 0);
  run.take(make_set(frames, {1, 0}, 33, {false, true}), 33);
  run.take(make_set(frames, {-1, 1}, 66), 66);
  CHECK(run.words() == words{"count 0:0 0:1", "count 1:0 1:1"});
}

TEST_CASE("a bad frame leaves a masked slot and fails alone") {
  frame_source frames;
  bundle_run run{with_size(4), cameras(1, 1, false)};
  run.take(frames(0, 0, 0));
  run.take(frames(0, 1, 33, 0, frame_corrupt));
  auto empty = frames(0, 2, 66);
  empty.buffer = {};
  run.take(std::move(empty));
  auto sound = frames(0, 3, 99);
  auto audio = std::make_shared<media_type>();
  audio->what = media_type::kind::audio;
  sound.media = audio;
  run.take(std::move(sound));
  CHECK(run.words() == words{"count 0:0 corrupt pack pack"});
  CHECK(run.sent()[0]->descriptor.consecutive);
  CHECK(run.outcomes() == words{"0:1 failed (corrupt)", "0:2 failed (pack)", "0:3 failed (pack)"});
  CHECK(run.sent()[0]->descriptor.own_count() == 1);
  // Where all fail, there is nothing to send.
  for (std::uint64_t i = 4; i < 8; ++i)
    run.take(frames(0, i, static_cast<int>(33 * i), 0, frame_corrupt));
  CHECK(run.words().size() == 1);
  run.take(frames(0, 8, 264));
  run.end(0);
  CHECK(run.words().back() == "flush 0:8 - - -");
}

TEST_CASE("frames are kept where that is asked for, without a tensor where nobody wants one") {
  frame_source frames;
  bundle_run run{with_size(2).with("keep_frames", true), cameras(1, 1, false), false};
  run.take(frames(0, 0, 0));
  run.take(frames(0, 1, 33));
  REQUIRE(run.sent().size() == 1);
  CHECK_FALSE(run.sent()[0]->tensor);
  REQUIRE(run.sent()[0]->frames.size() == 2);
  CHECK(run.sent()[0]->frames[1].meta.frame_id == 1);
  CHECK(frames.pool.in_use() == 2);
}

TEST_CASE("priority and sequence") {
  frame_source frames;
  auto graph = cameras(2, 1, false);
  graph->streams[1].priority = 3;
  bundle_run run{with_size(1), graph};
  run.take(frames(0, 0));
  run.take(frames(1, 0));
  CHECK(run.sent()[0]->descriptor.priority == 0);
  CHECK(run.sent()[1]->descriptor.priority == 3);
  CHECK(run.sent()[1]->descriptor.sequence == hyperframe_sequence{2, 7, 1});
  CHECK(run.sent()[1]->descriptor.group == 1);
  bundle_run fixed{with_size(1).with("priority", std::int64_t{5}), graph};
  fixed.take(frames(1, 0));
  CHECK(fixed.sent()[0]->descriptor.priority == 5);
}

TEST_CASE("bundle says what is wrong") {
  frame_source frames;
  const auto sentence = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const failure& f) {
      return f.what();
    }
    return "(nothing)";
  };
  {
    bundle_run run{with_size(1), cameras(1, 1, false), true, 1};
    run.take(frames(0, 0));
    CHECK(
      sentence([&] { run.take(frames(0, 1)); })
      == "bundle: all 1 tensors are in use although the plan says that more cannot be open, queued "
         "and inferred at once; this is a defect of the plan and not of the graph file");
  }
  {
    bundle_run run{settings{}.with("over", std::string{"cameras"}), cameras(1, 2, true)};
    CHECK(
      sentence([&] { run.take(frames(0, 1)); })
      == "bundle: `over: cameras` and `over: both` need aligned sets, and single frames came; put "
         "an "
         "`align` stage in front");
    CHECK(
      sentence([&] { run.take(make_set(frames, {0}, 0), 0); })
      == "bundle: a set of 1 frames came where 2 streams of the group pass; send all of a group's "
         "streams through one `align`");
  }
  {
    auto graph = cameras(1, 1, true);
    graph->streams[0].media = nullptr;
    CHECK(
      sentence([&] {
        bundle_run{{}, graph};
      })
      == "bundle: the model takes frames of any size, and the size of group0.cam0 is not known; "
         "give "
         "the model's input a size");
  }
  const auto d = describe_bundle();
  CHECK(faults_of(d, {}).empty());
  CHECK(
    faults_of(d, settings{}.with("over", std::string{"cameras"}).with("size", std::int64_t{4}))
    == words{
      "`over: cameras` makes a hyperframe of one set, and `size` is 4; leave `size` out, or use "
      "`over: both` for several sets"});
  CHECK(
    faults_of(d, release(settings{}.with("count", std::int64_t{9})))
    == words{
      "`count: 9` is more than a hyperframe of 8 can hold; use at most 8 or a larger `size`"});
  CHECK(
    faults_of(d, release(settings{}.with("count", std::int64_t{4})).with("stride", std::int64_t{2}))
    == words{
      "`count: 4` with `stride: 2`: hyperframes that overlap are released when they are full; "
      "leave `count` out or make it 8"});
  CHECK(d.bundle_size(*plan_with(d, with_size(5), cameras(1, 1, true)).config, 3) == 5);
  CHECK(
    d.bundle_size(
      *plan_with(d, with_size(5).with("over", std::string{"both"}), cameras(1, 1, true)).config, 3)
    == 15);
}
