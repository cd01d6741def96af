#include "runtime/mailbox.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;

namespace {

item frame_of(stream_index stream, std::uint64_t id) {
  frame f;
  f.meta.stream = stream;
  f.meta.frame_id = id;
  return f;
}

std::uint64_t id_of(const item& i) {
  return std::get<frame>(i).meta.frame_id;
}

std::vector<std::uint64_t> drain(mailbox& box) {
  std::vector<std::uint64_t> ids;
  while (auto e = box.take(graph_time{}))
    ids.push_back(std::holds_alternative<item>(*e) ? id_of(std::get<item>(*e)) : 1000);
  return ids;
}

edge_limits limits(std::uint32_t capacity, overflow_policy p, std::uint32_t lanes = 1) {
  return {capacity, 0, p, lanes};
}

} // namespace

TEST_CASE("a full lane evicts by its policy and never holds more than its capacity") {
  struct row {
    overflow_policy policy;
    std::vector<std::uint64_t> evicted, left;
  };
  const row rows[] = {{overflow_policy::drop_oldest, {0, 1}, {2, 3}},
                      {overflow_policy::drop_newest, {2, 3}, {0, 1}}};
  for (const auto& r : rows) {
    CAPTURE(to_string(r.policy));
    mailbox box{0, limits(2, r.policy)};
    std::vector<std::uint64_t> evicted;
    for (std::uint64_t id = 0; id < 4; ++id)
      if (const auto e = box.put(frame_of(0, id), graph_time{}))
        evicted.push_back(id_of(*e));
    CHECK(evicted == r.evicted);
    CHECK(box.items() == 2);
    CHECK(box.peak() == 2);
    CHECK(box.held_frames() == 2);
    CHECK(drain(box) == r.left);
  }
}

TEST_CASE("a sender that ignores its credit is a defect") {
  mailbox box{0, limits(1, overflow_policy::block)};
  CHECK_FALSE(box.put(frame_of(0, 0), graph_time{}));
  CHECK_THROWS_WITH(box.put(frame_of(0, 1), graph_time{}),
                    "an edge got more items than it gave credit for");
}

TEST_CASE("items leave in the order of arrival, and lanes do not touch each other") {
  mailbox box{0, limits(2, overflow_policy::drop_oldest, 2)};
  box.put(frame_of(0, 0), graph_time{});
  box.put(frame_of(1, 10), graph_time{});
  box.put(frame_of(0, 1), graph_time{});
  const auto evicted = box.put(frame_of(0, 2), graph_time{});
  REQUIRE(evicted);
  CHECK(id_of(*evicted) == 0);
  CHECK(drain(box) == std::vector<std::uint64_t>{1, 10, 2});
}

TEST_CASE("a lane can be left out, and keeps its order") {
  mailbox box{0, limits(4, overflow_policy::block, 2)};
  for (std::uint64_t id = 0; id < 3; ++id)
    CHECK_FALSE(box.put(frame_of(0, id), graph_time{}));
  CHECK_FALSE(box.put(frame_of(1, 7), graph_time{}));
  const auto second = [](stream_index lane) { return lane == 1; };
  CHECK(box.has(second));
  CHECK(id_of(std::get<item>(*box.take(graph_time{}, second))) == 7);
  CHECK_FALSE(box.has(second));
  CHECK_FALSE(box.take(graph_time{}, second));
  CHECK(drain(box) == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("an end stays behind the frames of its lane and needs no room") {
  mailbox box{0, limits(1, overflow_policy::drop_oldest, 2)};
  box.put(frame_of(1, 7), graph_time{});
  box.put_end({1, 0, 8, false});
  const auto evicted = box.put(frame_of(1, 8), graph_time{}); // of the next epoch
  REQUIRE(evicted);
  CHECK(id_of(*evicted) == 7);
  CHECK(drain(box) == std::vector<std::uint64_t>{1000, 8});
}

TEST_CASE("credit goes back in lots, and always when the ring is empty") {
  struct row {
    std::uint32_t capacity, lot;
  };
  for (const auto& r : {row{1, 1}, row{4, 1}, row{8, 2}, row{16, 4}, row{32, 8}, row{1000, 8}}) {
    CAPTURE(r.capacity);
    mailbox box{5, limits(r.capacity, overflow_policy::block)};
    CHECK(box.limits().lot() == r.lot);
    std::uint32_t returned = 0;
    for (std::uint32_t i = 1; i <= r.lot; ++i)
      if (const auto credit = box.gone(0, 10)) {
        CHECK(i == r.lot);
        CHECK(credit->bytes == 10 * r.lot);
        CHECK(credit->edge == 5);
        returned = credit->items;
      }
    CHECK(returned == r.lot);
    CHECK(box.take_owed().empty());
  }
  mailbox box{0, limits(8, overflow_policy::block, 3)};
  CHECK_FALSE(box.gone(2, 1));
  const auto owed = box.take_owed();
  REQUIRE(owed.size() == 1);
  CHECK(owed[0].lane == 2);
  CHECK(owed[0].items == 1);
  CHECK(box.take_owed().empty());
}

TEST_CASE("a mailbox knows how long its item waited") {
  mailbox box{0, limits(2, overflow_policy::block)};
  box.put(frame_of(0, 0), graph_time{std::chrono::milliseconds{5}});
  box.take(graph_time{std::chrono::milliseconds{12}});
  CHECK(box.last_wait() == std::chrono::milliseconds{7});
}
