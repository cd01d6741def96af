#include "actors/infer/worker_pool.hpp"

#include "runtime/error.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hyperframes;
using std::chrono::milliseconds;

namespace {

constexpr graph_time at(int ms) { return graph_time{milliseconds{ms}}; }

batch_ptr numbered(std::uint64_t n) {
  auto b = std::make_shared<batch>();
  b->number = n;
  return b;
}

/// "lane:batch" for each assignment.
std::string in_words(const recycled_vector<worker_pool::assignment>& all) {
  std::string text;
  for (const auto& a : all)
    text += (text.empty() ? "" : " ") + std::to_string(a.lane) + ':' + std::to_string(a.work->number);
  return text;
}

worker_pool warm_pool(worker_pool_options options) {
  worker_pool pool{options};
  for (std::uint32_t lane = 0; lane < options.workers; ++lane)
    CHECK(pool.warmed(lane) == (lane + 1 == options.workers));
  return pool;
}

} // namespace

TEST_CASE("batches go to the worker that has least to do, each up to its depth") {
  auto pool = warm_pool({.workers = 2, .depth = 2});
  for (std::uint64_t n = 0; n < 6; ++n)
    pool.add(numbered(n));
  CHECK(pool.room() == 4);
  CHECK(in_words(pool.assign(at(0))) == "0:0 1:1 0:2 1:3");
  CHECK(pool.room() == 0);
  CHECK(pool.finished(1, at(5))->number == 1);
  CHECK(in_words(pool.assign(at(5))) == "1:4");
  CHECK(pool.evict()->number == 5);
  CHECK(pool.evict() == nullptr);
}

TEST_CASE("a worker that is not warm gets nothing") {
  worker_pool pool{{.workers = 2, .depth = 1}};
  pool.add(numbered(0));
  pool.add(numbered(1));
  CHECK(pool.assign(at(0)).empty());
  CHECK_FALSE(pool.warmed(1));
  CHECK(in_words(pool.assign(at(0))) == "1:0");
  CHECK(pool.warmed(0));
  CHECK(in_words(pool.assign(at(1))) == "0:1");
}

TEST_CASE("a worker that hangs is replaced, and its batches are handed out again in their order") {
  auto pool = warm_pool({.workers = 2, .depth = 2, .patience = milliseconds{100}});
  for (std::uint64_t n = 0; n < 5; ++n)
    pool.add(numbered(n));
  CHECK(in_words(pool.assign(at(0))) == "0:0 1:1 0:2 1:3");
  CHECK(pool.finished(1, at(50))->number == 1);
  CHECK(pool.due() == at(100));
  CHECK(pool.look(at(99)).empty());
  const auto losses = pool.look(at(100));
  REQUIRE(losses.size() == 1);
  CHECK(losses[0].worker == 0);
  CHECK(losses[0].new_lane == 2);
  CHECK(losses[0].taken == milliseconds{100});
  CHECK(losses[0].quarantined == nullptr);
  CHECK_FALSE(pool.knows(0)); // what it says now is not heard
  CHECK(in_words(pool.assign(at(100))) == "1:0");
  CHECK(pool.due() == at(150)); // batch 3 runs since 50
  CHECK(pool.warmed(2));
  CHECK(pool.worker_on(2) == 0);
  CHECK(in_words(pool.assign(at(110))) == "2:2 2:4");
}

TEST_CASE("what brings two workers down is quarantined, what waited behind it is not") {
  auto pool = warm_pool({.workers = 1, .depth = 2, .patience = milliseconds{100}});
  pool.add(numbered(0));
  pool.add(numbered(1));
  CHECK(in_words(pool.assign(at(0))) == "0:0 0:1");
  CHECK(pool.lost(0, at(10)).quarantined == nullptr);
  CHECK(pool.warmed(1));
  CHECK(in_words(pool.assign(at(20))) == "1:0 1:1");
  const auto again = pool.look(at(120));
  REQUIRE(again.size() == 1);
  REQUIRE(again[0].quarantined);
  CHECK(again[0].quarantined->number == 0);
  CHECK(pool.warmed(2));
  CHECK(in_words(pool.assign(at(130))) == "2:1");
  CHECK(pool.finished(2, at(131))->number == 1);
}

TEST_CASE("what becomes of a batch whose workers are lost depends on whom they are lost by") {
  struct loss_of {
    std::vector<lost_by> causes;
    bool quarantined; ///< with the last one
  };
  using enum lost_by;
  const loss_of table[] = {
    {{batch}, false},
    {{batch, batch}, true},
    {{node, node}, false},
    {{node, node, node}, true},
    {{nobody, nobody, nobody, nobody, nobody}, false},
    {{node, nobody, node, nobody}, false},
    {{nobody, node, node, nobody, node}, true},
    {{node, batch, node}, false}, // each is counted for itself
    {{node, node, batch, node}, true},
    {{batch, node, batch}, true},
  };
  for (const auto& row : table) {
    CAPTURE(&row - table);
    auto pool = warm_pool({.workers = 1, .depth = 1});
    pool.add(numbered(7));
    std::uint32_t lane = 0, blamed = 0;
    for (std::size_t i = 0; i < row.causes.size(); ++i) {
      const auto given = pool.assign(at(0));
      REQUIRE(in_words(given) == std::to_string(lane) + ":7");
      CHECK(given[0].tries == blamed);
      blamed += row.causes[i] == nobody ? 0 : 1;
      const auto loss = pool.lost(lane, at(0), row.causes[i]);
      const bool last = i + 1 == row.causes.size();
      CHECK((loss.quarantined != nullptr) == (last && row.quarantined));
      lane = loss.new_lane;
      CHECK(pool.warmed(lane));
    }
    CHECK(in_words(pool.assign(at(0))) == (row.quarantined ? "" : std::to_string(lane) + ":7"));
  }
}

TEST_CASE("a batch that was on two lost nodes runs alone: what crashes them takes none along") {
  // Batch 0 crashes whatever node it is run on; batches 1 and 2 run beside it there.
  auto pool = warm_pool({.workers = 3, .depth = 2, .replacements = 99});
  for (std::uint64_t n = 0; n < 5; ++n)
    pool.add(numbered(n));
  CHECK(in_words(pool.assign(at(0))) == "0:0 1:1 2:2 0:3 1:4");
  // The last worker first: then the batches stand in order again.
  const auto lose_all = [&](std::uint32_t first_lane) {
    for (const auto worker : {2U, 1U, 0U})
      CHECK(pool.lost(first_lane + worker, at(1), lost_by::node).quarantined == nullptr);
    for (std::uint32_t worker = 0; worker < 3; ++worker)
      pool.warmed(first_lane + 3 + worker);
  };
  lose_all(0); // worker 0 has lane 5 now, 1 has 4, 2 has 3
  CHECK(in_words(pool.assign(at(2))) == "5:0 4:3 3:1 5:4 4:2");
  CHECK(pool.lost(3, at(3), lost_by::node).quarantined == nullptr);  // 1 for the second time
  CHECK(pool.lost(4, at(3), lost_by::node).quarantined == nullptr);  // 3 for the first time
  CHECK(pool.lost(5, at(3), lost_by::node).quarantined == nullptr);  // 0 for the second time
  for (const auto lane : {6U, 7U, 8U})
    pool.warmed(lane);
  CHECK(in_words(pool.assign(at(4))) == "8:0");
  CHECK(pool.assign(at(4)).empty()); // nothing beside it
  const auto guilty = pool.lost(8, at(5), lost_by::node);
  REQUIRE(guilty.quarantined);
  CHECK(guilty.quarantined->number == 0);
  CHECK(pool.warmed(guilty.new_lane));
  // 1 is a suspect as well: it waits for those before it, and is finished alone.
  std::string order;
  for (auto given = pool.assign(at(6)); !given.empty(); given = pool.assign(at(6))) {
    order += in_words(given) + "; ";
    for (const auto& a : given)
      pool.finished(a.lane, at(7));
  }
  CHECK(order == "9:4 7:3 6:2; 9:1; ");
}

TEST_CASE("after a number of lost workers the stage fails, with all batches still known") {
  auto pool = warm_pool({.workers = 1, .depth = 1, .tries = 99, .replacements = 2});
  pool.add(numbered(7));
  std::uint32_t lane = 0;
  for (int i = 0; i < 2; ++i) {
    CHECK(in_words(pool.assign(at(i))) == std::to_string(lane) + ":7");
    lane = pool.lost(lane, at(i)).new_lane;
    CHECK(pool.warmed(lane));
  }
  pool.assign(at(9));
  CHECK_THROWS_WITH_AS(pool.lost(lane, at(9)),
                       "worker 0: is lost, and so were 2 workers before it; the model or its device does not work",
                       failure);
  const auto all = pool.take_all();
  REQUIRE(all.size() == 1);
  CHECK(all[0]->number == 7);
}

TEST_CASE("no batch is started too far ahead of one that is not finished") {
  auto pool = warm_pool({.workers = 2, .depth = 1, .patience = milliseconds{100}, .ahead = 3});
  for (std::uint64_t n = 0; n < 8; ++n)
    pool.add(numbered(n));
  CHECK(in_words(pool.assign(at(0))) == "0:0 1:1");
  for (std::uint64_t n = 1; n < 3; ++n) { // worker 0 hangs
    CHECK(pool.finished(1, at(10))->number == n);
    CHECK(in_words(pool.assign(at(10))) == "1:" + std::to_string(n + 1));
  }
  CHECK(pool.finished(1, at(20))->number == 3);
  CHECK(pool.assign(at(20)).empty());
  pool.look(at(100));
  CHECK(in_words(pool.assign(at(100))) == "1:0");
  CHECK(pool.warmed(2));
  CHECK(pool.assign(at(101)).empty()); // batch 0 is not finished yet
  CHECK(pool.finished(1, at(110))->number == 0);
  CHECK(in_words(pool.assign(at(110))) == "2:4 1:5");
}
