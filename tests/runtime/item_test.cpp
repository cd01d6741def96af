#include "runtime/item.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;

namespace {

hyperframe_ptr make(std::vector<std::pair<std::uint64_t, bool>> ids) {
  auto h = std::make_shared<hyperframe>();
  for (const auto& [id, own] : ids) {
    slot s;
    s.valid = true;
    s.own = own;
    s.meta.stream = 3;
    s.meta.frame_id = id;
    s.meta.deadline = graph_time{std::chrono::milliseconds{100 - static_cast<int>(id)}};
    h->descriptor.slots.push_back(s);
  }
  return h;
}

} // namespace

TEST_CASE("an item owns what is new in it") {
  outcome_batch batch;
  add_outcomes(make({{1, false}, {2, true}, {3, true}}), outcome::dropped, reason::edge_full, batch);
  REQUIRE(batch.ranges().size() == 1);
  CHECK(batch.ranges()[0].stream == 3);
  CHECK(batch.ranges()[0].first == 2);
  CHECK(batch.ranges()[0].count == 2);
}

TEST_CASE("a part of a hyperframe owns its slots only") {
  auto b = std::make_shared<batch>();
  b->parts.push_back({make({{1, true}, {2, true}, {3, true}, {4, true}}), 1, 2});
  CHECK(own_frames(batch_ptr{b}) == 2);
}

TEST_CASE("a frame result owns nothing: its outcome is final") {
  CHECK(own_frames(frame_result_ptr{std::make_shared<frame_result>()}) == 0);
}

TEST_CASE("the deadline of a hyperframe is that of its own slots") {
  const auto h = make({{50, false}, {10, true}, {20, true}});
  CHECK(h->descriptor.deadline() == graph_time{std::chrono::milliseconds{80}});
  CHECK(make({{1, false}})->descriptor.deadline() == never);
}

TEST_CASE("neighbouring outcomes merge while they wait") {
  struct row {
    const char* what;
    std::vector<outcome_range> in;
    std::size_t ranges;
    std::uint64_t frames;
  };
  const auto range = [](std::uint64_t first, std::uint64_t count, reason why = reason::late,
                        std::uint32_t epoch = 0, stream_index stream = 0) {
    return outcome_range{stream, epoch, first, count, outcome::dropped, why};
  };
  const row rows[] = {
    {"behind", {range(0, 2), range(2, 1)}, 1, 3},
    {"before", {range(2, 1), range(0, 2)}, 1, 3},
    {"with a hole", {range(0, 2), range(3, 1)}, 2, 3},
    {"other reason", {range(0, 2), range(2, 1, reason::stale)}, 2, 3},
    {"other epoch", {range(0, 2), range(2, 1, reason::late, 1)}, 2, 3},
    {"other stream", {range(0, 2), range(2, 1, reason::late, 0, 1)}, 2, 3},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    outcome_batch batch;
    for (const auto& in : r.in)
      batch.add(in);
    CHECK(batch.ranges().size() == r.ranges);
    CHECK(batch.frames() == r.frames);
  }
}
