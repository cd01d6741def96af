#include "actors/unbundle.hpp"

#include "tests/actors/stage_context.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace hyperframes;

namespace {

std::shared_ptr<frame_result> result_of(std::uint64_t id, std::uint32_t epoch = 0) {
  auto r = std::make_shared<frame_result>();
  r->meta.epoch = epoch;
  r->meta.frame_id = id;
  return r;
}

outcome_range range(std::uint64_t first, std::uint64_t count, std::uint32_t epoch = 0,
                    outcome what = outcome::dropped) {
  return {0, epoch, first, count, what, reason::edge_full};
}

/// "0:3" for a result, "0:3 dropped" for a gap; "end 0" for a completed epoch.
std::vector<std::string> drain(stream_order& order) {
  std::vector<std::string> out;
  while (auto r = order.next())
    out.push_back(std::to_string(r->meta.epoch) + ':' + std::to_string(r->meta.frame_id)
                  + (r->what == outcome::delivered ? "" : std::string{" "} + to_string(r->what)));
  for (const auto& end : order.take_completed())
    out.push_back("end " + std::to_string(end.epoch));
  return out;
}

using words = std::vector<std::string>;

} // namespace

TEST_CASE("results leave in order, and a gap stands in the place of a frame that has none") {
  stream_order order{0};
  order.add(result_of(2));
  CHECK(drain(order).empty());
  CHECK(order.held_frames() == 1);
  order.add(range(1, 1));
  CHECK(drain(order).empty());
  order.add(result_of(0));
  CHECK(drain(order) == words{"0:0", "0:1 dropped", "0:2"});
  CHECK(order.held_frames() == 0);
}

TEST_CASE("the first outcome of a frame counts") {
  stream_order order{0};
  CHECK(order.add(result_of(1)) == 0);
  CHECK(order.add(range(0, 3)) == 1);
  CHECK(order.add(result_of(1)) == 1);
  CHECK(drain(order) == words{"0:0 dropped", "0:1", "0:2 dropped"});
  CHECK(order.add(result_of(2)) == 1); // has left
  CHECK(order.add(range(1, 4)) == 2);
  CHECK(drain(order) == words{"0:3 dropped", "0:4 dropped"});
}

TEST_CASE("an epoch is complete when its end is known and every id has left") {
  stream_order order{0};
  order.add(result_of(0, 1)); // of the next epoch, early
  order.add(stream_end{0, 0, 2, false});
  order.add(result_of(0));
  CHECK(drain(order) == words{"0:0"});
  order.add(result_of(1));
  CHECK(drain(order) == words{"0:1", "1:0", "end 0"});
  CHECK_FALSE(order.closed());
  order.add(stream_end{0, 1, 1, true});
  CHECK(drain(order) == words{"end 1"});
  CHECK(order.closed());
  CHECK(order.add(result_of(5, 1)) == 1);
}

TEST_CASE("a stream without frames closes at once") {
  stream_order order{0};
  order.add(stream_end{0, 0, 0, true});
  CHECK(drain(order) == words{"end 0"});
  CHECK(order.closed());
}

TEST_CASE("a stream that goes on begins with its first epoch; those before have left") {
  stream_order order{0, 4};
  CHECK(order.add(result_of(0, 3)) == 1);
  order.add(result_of(0, 4));
  CHECK(drain(order) == words{"4:0"});
  order.add(stream_end{0, 4, 1, true});
  CHECK(drain(order) == words{"end 4"});
  CHECK(order.closed());
}

TEST_CASE("what is given up on becomes lost, once") {
  stream_order order{0};
  order.add(result_of(3));
  CHECK(order.skip_missing() == 3);
  CHECK(order.skip_missing() == 0);
  CHECK(drain(order) == words{"0:0 lost", "0:1 lost", "0:2 lost", "0:3"});
}

TEST_CASE("whatever the order of arrival, every frame leaves once and in order") {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    stream_order order{0};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces; // of 60 ids, some twice
    for (std::uint64_t at = 0; at < 60;) {
      const auto count = std::min<std::uint64_t>(60 - at, 1 + random() % 5);
      pieces.emplace_back(at, count);
      if (random() % 4 == 0)
        pieces.emplace_back(at, count);
      at += count;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    std::uint64_t next = 0, known = 0, given = 0;
    for (const auto& [first, count] : pieces) {
      given += count;
      known += count == 1 ? order.add(result_of(first)) : order.add(range(first, count));
      while (const auto r = order.next())
        CHECK(r->meta.frame_id == next++);
    }
    CHECK(next == 60);
    CHECK(known == given - 60);
    CHECK(order.held_frames() == 0);
  }
}

namespace {

struct rig {
  stage_description kind = describe_unbundle();
  fake_context context;
  std::unique_ptr<stage> logic;

  explicit rig(std::uint64_t reorder = 0) {
    auto plan = plan_with(kind, {}, cameras(1, 2, true));
    plan.reorder = reorder;
    logic = kind.make(plan);
  }
  void
  give(std::vector<std::uint64_t> ids, graph_time deadline = never, std::uint32_t first_slot = 0) {
    auto r = std::make_shared<result>();
    r->descriptor.first_slot = first_slot;
    for (auto id : ids) {
      slot s;
      s.valid = s.own = true;
      s.meta.frame_id = id;
      s.meta.deadline = deadline;
      r->descriptor.slots.push_back(s);
    }
    r->slots.resize(ids.size());
    logic->on_item(result_ptr{r}, context);
  }
  std::vector<std::uint64_t> sent() const {
    std::vector<std::uint64_t> ids;
    for (const auto& r : context.items<frame_result_ptr>())
      ids.push_back(r->meta.frame_id);
    return ids;
  }
};

} // namespace

TEST_CASE("a result is split by slot") {
  rig r;
  r.give({0, 1, 2});
  CHECK(r.sent() == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(r.context.items<frame_result_ptr>()[2]->slot == 2);
  r.give({3, 4}, never, 1); // what follows a first part
  CHECK(r.context.items<frame_result_ptr>()[4]->slot == 2);
}

TEST_CASE("nothing is sent without credit, and gaps wait as ranges") {
  rig r;
  r.context.credit_left = 2;
  r.give({0, 1, 2, 3});
  CHECK(r.sent().size() == 2);
  const outcome_range gap[] = {range(4, 1000)};
  r.logic->on_outcomes(gap, r.context);
  CHECK(r.logic->held_frames() == 1002);
  r.context.credit_left = 5000;
  r.logic->on_credit(0, r.context);
  CHECK(r.sent().size() == 1004);
  CHECK(r.logic->held_frames() == 0);
}

TEST_CASE("a result after its deadline is delivered, and says so") {
  rig r;
  r.context.advance_to(50_ms, *r.logic);
  r.give({0}, 40_ms);
  const auto late = r.context.items<frame_result_ptr>()[0];
  CHECK(late->what == outcome::delivered);
  CHECK(late->why == reason::late);
  CHECK((late->meta.flags & frame_late) != 0);
}

TEST_CASE("a full reorder space gives up on the missing frame and raises an alarm") {
  rig r{3};
  r.give({1, 2, 3});
  CHECK(r.sent().empty());
  r.give({4});
  CHECK(r.sent() == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(r.context.items<frame_result_ptr>()[0]->why == reason::reorder);
  REQUIRE(r.context.alarms.size() == 1);
  CHECK(r.context.alarms[0]
        == "1 frames had no outcome when the reorder space of 3 was full: they end as lost "
           "(reorder)");
}

TEST_CASE("results are taken only while the edges below have room") {
  rig r;
  r.context.credit_left = 2;
  CHECK(r.logic->takes(0));
  r.give({0, 1, 2});
  CHECK(r.sent().size() == 2);
  CHECK_FALSE(r.logic->takes(0));
  r.context.credit_left = 8;
  r.logic->on_credit(0, r.context);
  CHECK(r.sent().size() == 3);
  CHECK(r.logic->takes(0));
  // A missing head is no reason to take nothing: it may be what comes next.
  r.give({4, 5});
  CHECK(r.sent().size() == 3);
  CHECK(r.logic->takes(0));
}

TEST_CASE("a second outcome is discarded and counted") {
  rig r;
  r.give({0, 1});
  r.give({1, 2});
  const outcome_range late[] = {range(0, 4)};
  r.logic->on_outcomes(late, r.context);
  CHECK(r.sent() == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(r.context.frames_discarded == 4);
}

TEST_CASE("an unbundle that fails names every frame that it holds, gaps with the outcome that they have") {
  rig r;
  r.context.credit_left = 1;
  r.give({0, 1, 5});
  const outcome_range gap[] = {range(2, 2)};
  r.logic->on_outcomes(gap, r.context);
  outcome_batch named;
  r.logic->give_up(outcome::failed, reason::stage_failed, named);
  std::vector<std::string> lines;
  for (const auto& range : named.ranges())
    lines.push_back(in_words(range));
  CHECK(lines == words{"0:1 failed (stage_failed)", "0:2-3 dropped (edge_full)",
                       "0:5 failed (stage_failed)"});
  CHECK(r.logic->held_frames() == 0);
}

TEST_CASE("epochs that are completed at once all end") {
  rig r;
  r.logic->on_end({0, 1, 0, false}, r.context);
  r.logic->on_end({0, 2, 0, true}, r.context);
  r.logic->on_end({1, 0, 0, true}, r.context);
  r.logic->on_end({0, 0, 1, false}, r.context);
  r.give({0});
  std::vector<std::uint32_t> epochs;
  for (const auto& e : r.context.sent)
    if (const auto* end = std::get_if<stream_end>(&e); end && end->stream == 0)
      epochs.push_back(end->epoch);
  CHECK(epochs == std::vector<std::uint32_t>{0, 1, 2});
}
