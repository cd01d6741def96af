#include "actors/expire.hpp"

#include "tests/actors/stage_context.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;

TEST_CASE("alarms come at most once per interval, with the sum of what expired") {
  const auto kind = describe_expire();
  const auto logic = kind.make(plan_with(kind, {}, cameras(1, 2, true)));
  fake_context context;
  const auto expire = [&](graph_time when, std::uint64_t first, std::uint64_t count) {
    context.advance_to(when, *logic);
    logic->on_item(outcome_range{1, 0, first, count, outcome::expired, reason::ttl}, context);
  };
  expire(0_ms, 0, 8);
  REQUIRE(context.alarms.size() == 1);
  CHECK(context.alarms[0]
        == "stream group0.cam1: 8 frames expired (ttl), the last one 0:7; add a worker, lower the size "
           "of hyperframes, or revise budget or ttl");
  expire(100_ms, 8, 8);
  expire(200_ms, 16, 4);
  CHECK(context.alarms.size() == 1);
  CHECK(context.wake() == 1000_ms);
  context.wake_now(*logic);
  REQUIRE(context.alarms.size() == 2);
  CHECK(context.alarms[1].find("12 frames expired (ttl), the last one 0:19") != std::string::npos);
  CHECK(context.items<outcome_range>().size() == 3);
}
