#include "tests/actors/bundle_run.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::test;

TEST_CASE("stride below size: own are the frames newer than the last hyperframe's newest") {
  frame_source frames;
  bundle_run run{with_size(4).with("stride", std::int64_t{2}), cameras(1, 1, false)};
  for (std::uint64_t i = 0; i < 7; ++i)
    run.take(frames(0, i, static_cast<int>(33 * i)));
  CHECK(run.tested().held_frames() == 1);
  run.end(0);
  CHECK(
    run.words()
    == words{"count 0:0 0:1 0:2 0:3", "count (0:2) (0:3) 0:4 0:5", "flush (0:4) (0:5) 0:6 -"});
  CHECK(run.context.bytes_copied == 2 * 2 * 8);
  const auto h = run.sent()[1];
  const auto* pixels = reinterpret_cast<const unsigned char*>(h->tensor.data());
  for (int i = 0; i < 4; ++i)
    CHECK(pixels[8 * i] == i + 2);
  CHECK(h->descriptor.opened == 132_ms); // of its own
  CHECK(h->descriptor.span == 99ms);
  CHECK(h->descriptor.consecutive);
  CHECK(run.outcomes().empty());
}

TEST_CASE("context alone is never sent, nor does it hold a tensor after the end") {
  frame_source frames;
  bundle_run run{with_size(2).with("stride", std::int64_t{1}), cameras(1, 1, true), true, 2};
  run.take(frames(0, 0, 0));
  run.take(frames(0, 1, 33));
  run.at(5000);
  CHECK(run.words() == words{"count 0:0 0:1"});
  run.end(0);
  CHECK(run.words().size() == 1);
  run.context.sent.clear();
  run.take(frames(0, 0, 5033, 1)); // both tensors are free again
  run.take(frames(0, 1, 5066, 1));
  CHECK(run.words() == words{"count 0:0 0:1"});
}

TEST_CASE("stride above size and every: the frames between are skipped") {
  frame_source frames;
  {
    bundle_run run{with_size(2).with("stride", std::int64_t{5}), cameras(1, 1, false)};
    for (std::uint64_t i = 0; i < 8; ++i)
      run.take(frames(0, i, static_cast<int>(33 * i)));
    CHECK(run.words() == words{"count 0:0 0:1", "count 0:5 0:6"});
    CHECK(
      run.outcomes()
      == words{
        "0:2 skipped (stride)", "0:3 skipped (stride)", "0:4 skipped (stride)",
        "0:7 skipped (stride)"});
  }
  {
    bundle_run run{with_size(2).with("every", std::int64_t{3}), cameras(1, 1, false)};
    for (std::uint64_t i = 0; i < 7; ++i)
      run.take(frames(0, i, static_cast<int>(33 * i)));
    CHECK(run.words() == words{"count 0:0 0:3"});
    CHECK(run.sent()[0]->descriptor.consecutive); // passed over by wish
    CHECK(
      run.outcomes()
      == words{
        "0:1 skipped (every)", "0:2 skipped (every)", "0:4 skipped (every)",
        "0:5 skipped (every)"});
    for (std::uint64_t i = 8; i < 11; ++i) // 7 got lost
      run.take(frames(0, i, static_cast<int>(33 * i)));
    REQUIRE(run.words().back() == "count 0:6 0:10");
    CHECK_FALSE(run.sent()[1]->descriptor.consecutive);
  }
}

TEST_CASE("hold_last: own in its first set, context after") {
  frame_source frames;
  bundle_run run{with_size(2).with("over", std::string{"both"}), cameras(1, 2, true)};
  run.take(make_set(frames, {0, 0}, 0), 0);
  run.take(make_set(frames, {1, 0}, 33, {false, true}), 33);
  CHECK(run.words() == words{"count 0:0 1:0 0:1 (1:0)"});
  CHECK(run.sent()[0]->descriptor.own_count() == 3);
  CHECK(run.context.bytes_copied == 8); // packed a second time
}
