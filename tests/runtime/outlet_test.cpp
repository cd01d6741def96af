#include "runtime/outlet.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;

namespace {

item frame_of(stream_index stream, std::uint64_t id) {
  frame f;
  f.meta.stream = stream;
  f.meta.frame_id = id;
  return f;
}

std::uint64_t id_of(const mailbox::entry& e) {
  return std::get<frame>(std::get<item>(e)).meta.frame_id;
}

} // namespace

TEST_CASE("block keeps what has no credit, in order") {
  outlet out{0, 1, {2, 0, overflow_policy::block, 1}};
  CHECK(out.put(frame_of(0, 0)).out);
  CHECK(out.credit(0) == 1);
  CHECK(out.put(frame_of(0, 1)).out);
  CHECK_FALSE(out.blocked());
  CHECK_FALSE(out.put(frame_of(0, 2)).out);
  CHECK_FALSE(out.put(frame_of(0, 3)).out);
  CHECK(out.blocked());
  CHECK(out.waiting_frames() == 2);
  CHECK(out.credit(0) == 0);
  CHECK_FALSE(out.put_end({0, 0, 4, true}));
  const auto first = out.grant({0, 0, 1, 0});
  REQUIRE(first.size() == 1);
  CHECK(id_of(first[0]) == 2);
  const auto rest = out.grant({0, 0, 1, 0});
  REQUIRE(rest.size() == 2);
  CHECK(id_of(rest[0]) == 3);
  CHECK(std::get<stream_end>(rest[1]).frames == 4);
  CHECK_FALSE(out.blocked());
}

TEST_CASE("dropping policies keep one item at zero credit") {
  struct row {
    overflow_policy policy;
    std::uint64_t dropped, kept;
  };
  for (const auto& r :
       {row{overflow_policy::drop_oldest, 2, 3}, row{overflow_policy::drop_newest, 3, 2}}) {
    CAPTURE(to_string(r.policy));
    outlet out{0, 1, {1, 0, r.policy, 1}};
    // Capacity + 1: the receiver is made to evict.
    CHECK(out.put(frame_of(0, 0)).out);
    CHECK(out.put(frame_of(0, 1)).out);
    const auto waits = out.put(frame_of(0, 2));
    CHECK_FALSE(waits.out);
    CHECK_FALSE(waits.dropped);
    const auto drops = out.put(frame_of(0, 3));
    REQUIRE(drops.dropped);
    CHECK(std::get<frame>(*drops.dropped).meta.frame_id == r.dropped);
    CHECK_FALSE(out.blocked());
    CHECK(out.drops() == 1);
    const auto sent = out.grant({0, 0, 1, 0});
    REQUIRE(sent.size() == 1);
    CHECK(id_of(sent[0]) == r.kept);
  }
}

TEST_CASE("fail drops what comes at zero credit and keeps nothing") {
  outlet out{0, 1, {1, 0, overflow_policy::fail, 1}};
  out.put(frame_of(0, 0));
  const auto second = out.put(frame_of(0, 1));
  CHECK_FALSE(second.out);
  REQUIRE(second.dropped);
  CHECK(std::get<frame>(*second.dropped).meta.frame_id == 1);
  CHECK(out.drops() == 1);
  CHECK(out.waiting_frames() == 0);
}

TEST_CASE("lanes have credit of their own") {
  outlet out{0, 1, {1, 0, overflow_policy::block, 2}};
  CHECK(out.put(frame_of(0, 0)).out);
  CHECK(out.put(frame_of(1, 0)).out);
  CHECK_FALSE(out.put(frame_of(1, 1)).out);
  CHECK(out.grant({0, 0, 1, 0}).empty());
  CHECK(out.grant({0, 1, 1, 0}).size() == 1);
}

TEST_CASE("an edge is bounded in bytes, and an item above the bound passes alone") {
  buffer_pool pool{4, 100};
  const auto of_bytes = [&](std::uint64_t id) {
    frame f;
    f.meta.frame_id = id;
    f.buffer = pool.acquire();
    return item{f};
  };
  outlet out{0, 1, {10, 150, overflow_policy::block, 1}};
  CHECK(out.put(of_bytes(0)).out);
  CHECK_FALSE(out.put(of_bytes(1)).out); // 200 bytes
  CHECK(out.grant({0, 0, 1, 100}).size() == 1);
  outlet small{0, 1, {10, 50, overflow_policy::block, 1}};
  CHECK(small.put(of_bytes(2)).out);
  CHECK_FALSE(small.put(of_bytes(3)).out);
}

TEST_CASE("credit is counted out and back, and never comes back twice") {
  buffer_pool pool{4, 100};
  frame f;
  f.buffer = pool.acquire();
  for (const auto policy : {overflow_policy::block, overflow_policy::drop_oldest}) {
    CAPTURE(to_string(policy));
    outlet out{0, 1, {2, 1000, policy, 2}}; // bytes count where they bound the edge
    out.put(item{f});
    out.put(frame_of(1, 0));
    CHECK(out.under_way() == 2);
    CHECK_THROWS_WITH_AS(out.grant({0, 0, 2, 100}), "an edge got more credit back than it gave", std::logic_error);
    CHECK_THROWS_AS(out.grant({0, 0, 1, 101}), std::logic_error);
    CHECK(out.under_way() == 2);
    out.grant({0, 0, 1, 100});
    out.grant({0, 1, 1, 0});
    CHECK(out.under_way() == 0);
    CHECK_THROWS_AS(out.grant({0, 1, 1, 0}), std::logic_error);
  }
}

TEST_CASE("an outlet that follows another one has what that one used, and gets it back") {
  outlet out{0, 1, {2, 0, overflow_policy::block, 2}, {{0, 1, 2, 0}}};
  CHECK(out.under_way() == 2);
  CHECK(out.credit(0) == 2);
  CHECK(out.credit(1) == 0);
  CHECK_FALSE(out.put(frame_of(1, 0)).out);
  CHECK(out.grant({0, 1, 1, 0}).size() == 1);
  out.grant({0, 1, 1, 0});
  out.grant({0, 1, 1, 0});
  CHECK(out.under_way() == 0);
}

TEST_CASE("a stop takes what waits") {
  outlet out{0, 1, {1, 0, overflow_policy::block, 1}};
  out.put(frame_of(0, 0));
  out.put(frame_of(0, 1));
  out.put_end({0, 0, 2, true});
  CHECK(out.take_waiting().size() == 2);
  CHECK(out.waiting_frames() == 0);
  CHECK_FALSE(out.blocked());
}
