#include "tests/runtime/fake_graph.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace hyperframes;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

namespace {

constexpr edge_limits blocking(std::uint32_t capacity, std::uint32_t lanes = 1) {
  return {capacity, 0, overflow_policy::block, lanes};
}

/// The rule holds in both placements: on the virtual clock, and as actors on threads.
template <class Build, class Check>
void in_both_placements(Build build, Check check) {
  for (const bool threads : {false, true}) {
    CAPTURE(threads);
    fake_graph g;
    build(g);
    if (threads)
      CHECK(g.run_on_threads());
    else
      g.run_virtually();
    CHECK(g.control().finished());
    if (!threads) // there its last messages may still be under way
      CHECK(g.under_way() == 0);
    check(g);
  }
}

} // namespace

TEST_CASE("a blocking edge delivers every frame and never holds more than its capacity") {
  for (const std::uint32_t capacity : {1U, 2U, 3U, 8U, 64U}) {
    CAPTURE(capacity);
    in_both_placements(
      [&](fake_graph& g) {
        g.source({.frames = 1000, .streams = 2});
        g.worker({});
        g.sink();
        g.edge(0, 1, blocking(capacity, 2));
        g.edge(1, 2, blocking(capacity, 2));
      },
      [&](fake_graph& g) {
        CHECK(g.ended(2, outcome::delivered) == 2000);
        CHECK(g.trace().size() == 2000);
        CHECK(g.numbers().edge(0).peak <= capacity);
        CHECK(g.numbers().edge(1).peak <= capacity);
        CHECK(g.numbers().edge(0).items == 2000);
      });
  }
}

TEST_CASE("a slow stage holds a file back, on the virtual clock to the millisecond") {
  fake_graph g;
  g.source({.frames = 5});
  g.worker({.takes = milliseconds{10}});
  g.sink();
  g.edge(0, 1, blocking(2));
  g.edge(1, 2, blocking(2));
  g.run_virtually();
  CHECK(g.trace() == std::vector<std::string>{"0:0@10", "0:1@20", "0:2@30", "0:3@40", "0:4@50"});
}

TEST_CASE("a stage holds back the stream that is ahead, and its source with it") {
  fake_graph g;
  g.source({.frames = 6, .streams = 2}); // sends all that it may of the first, then of the second
  g.worker({.streams = 2});
  g.sink();
  g.edge(0, 1, {4, 0, overflow_policy::block, 2});
  g.edge(1, 2, {4, 0, overflow_policy::block, 2});
  g.run_virtually();
  CHECK(
    g.trace()
    == std::vector<std::string>{
      "0:0@0", "1:0@0", "0:1@0", "1:1@0", "0:2@0", "1:2@0", "0:3@0", "1:3@0", "0:4@0", "1:4@0",
      "0:5@0", "1:5@0"});
  CHECK(g.numbers().edge(0).peak <= 4);
  CHECK(g.ended(2, outcome::delivered) == 12);
}

TEST_CASE("a dropping edge gives every drop an outcome and never holds the source back") {
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest}) {
    CAPTURE(std::string{to_string(policy)});
    fake_graph g;
    g.source({.frames = 100, .every = milliseconds{1}});
    g.queue({.takes = milliseconds{10}});
    g.sink();
    g.edge(0, 1, {4, 0, policy, 1});
    g.edge(1, 2, blocking(2));
    g.run_virtually();
    CHECK(g.control().finished());
    // Nine in the 99 ms of the source, and the four that the queue held when it ended.
    CHECK(g.ended(2, outcome::delivered) == 13);
    CHECK(g.ended(2, outcome::dropped) == 87);
    CHECK(g.numbers().edge(0).drops == 87);
    CHECK(g.numbers().edge(0).peak == 4);
    CHECK(g.now() == graph_time{milliseconds{130}});
    CHECK(g.under_way() == 0);
  }
}

TEST_CASE("a slow branch with a dropping edge does not slow the other one") {
  // source -> worker -> sink, and worker -> queue -> sink
  const auto build = [](fake_graph& g, overflow_policy policy) {
    g.source({.frames = 50, .every = milliseconds{2}});
    g.worker({});
    g.sink();
    g.queue({.takes = milliseconds{20}});
    g.sink();
    g.edge(0, 1, blocking(4));
    g.edge(1, 2, blocking(4));
    g.edge(1, 3, {2, 0, policy, 1});
    g.edge(3, 4, blocking(2));
  };
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest}) {
    CAPTURE(std::string{to_string(policy)});
    in_both_placements(
      [&](fake_graph& g) { build(g, policy); },
      [&](fake_graph& g) {
        CHECK(g.ended(2, outcome::delivered) == 50);
        CHECK(g.ended(2, outcome::dropped) == 0);
        CHECK(g.ended(4, outcome::delivered) + g.ended(4, outcome::dropped) == 50);
        // Drops are counted on the edge where they happen, and on no other one.
        CHECK(g.numbers().edge(2).drops == g.ended(4, outcome::dropped));
        for (const auto other : {0, 1, 3})
          CHECK(g.numbers().edge(static_cast<std::size_t>(other)).drops == 0);
      });
    fake_graph g;
    build(g, policy);
    g.run_virtually();
    CHECK(g.ended(4, outcome::delivered) == 6); // four in 98 ms, and the two that the queue held
    for (std::size_t n = 0; n < 50; ++n)
      CHECK(g.trace(2).at(n) == "0:" + std::to_string(n) + "@" + std::to_string(2 * n));
  }
}

TEST_CASE("a stage that throws fails its frame alone and goes on") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 20});
      g.worker({.throws_at = {3, 11}});
      g.sink();
      g.edge(0, 1, blocking(4));
      g.edge(1, 2, blocking(4));
    },
    [](fake_graph& g) {
      CHECK(g.ended(2, outcome::delivered) == 18);
      CHECK(g.ended(2, outcome::failed) == 2);
      CHECK(g.numbers().stage(1).restarts == 2);
      REQUIRE(g.events().size() == 2);
      CHECK(g.events()[0].sentence == "failed and starts again: frame 3 is too much");
      CHECK_FALSE(g.control().failed());
    });
}

TEST_CASE("a stage that fails too often stays failed, and every frame has an outcome") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 50});
      g.worker({.throws_at = {1, 2, 3, 4, 5, 6, 7}});
      g.sink();
      g.edge(0, 1, blocking(4));
      g.edge(1, 2, blocking(4));
    },
    [](fake_graph& g) {
      CHECK(g.ended(2, outcome::delivered) == 1);
      const auto sums = g.accounts().total();
      CHECK(sums.ended() == sums.captured);
      REQUIRE(g.control().failed());
      CHECK(g.control().failed()->to_string() == "worker: frame 6 is too much");
    });
}

TEST_CASE("a graph whose stage cannot start does not start") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 5});
      g.worker({.throws_at_start = true});
      g.sink();
      g.edge(0, 1, blocking(4));
      g.edge(1, 2, blocking(4));
    },
    [](fake_graph& g) {
      REQUIRE(g.control().failed());
      CHECK(g.control().failed()->message == "no such thing");
      CHECK(g.accounts().total().captured == 0);
    });
}

TEST_CASE("a drain ends capture and delivers what is under way") {
  fake_graph g;
  g.source({.frames = 1000, .every = milliseconds{10}});
  g.worker({.takes = milliseconds{25}});
  g.sink();
  g.edge(0, 1, blocking(8));
  g.edge(1, 2, blocking(8));
  g.run_virtually(graph_time{milliseconds{95}});
  CHECK_FALSE(g.control().finished());
  g.control().drain();
  g.virtually().run(never, [&] { g.check_accounts(); });
  CHECK(g.control().finished());
  CHECK(g.ended(2, outcome::delivered) == g.accounts().total().captured);
  CHECK(g.accounts().total().captured == 10);
}

TEST_CASE("a stop gives everything under way an outcome") {
  fake_graph g;
  g.source({.frames = 1000, .every = milliseconds{10}});
  g.worker({.takes = milliseconds{25}});
  g.sink();
  g.edge(0, 1, blocking(8));
  g.edge(1, 2, blocking(8));
  g.run_virtually(graph_time{milliseconds{95}});
  g.control().stop();
  g.virtually().run(never, [&] { g.check_accounts(); });
  CHECK(g.control().finished());
  const auto sums = g.accounts().total();
  CHECK(sums.captured == 10);
  CHECK(sums.outcomes[static_cast<std::size_t>(outcome::delivered)] == 3);
  CHECK(sums.reasons[static_cast<std::size_t>(reason::stopped)] == 7);
}

TEST_CASE("a drain or a stop ends a graph within a bounded time, whatever its state") {
  struct row {
    const char* state;
    fake_worker::settings worker;
    int at;      ///< ms
    int drained; ///< ms from there until it is over; -1: not before it is stopped
    int stopped;
    bool queued =
      false; ///< behind a queue with 40 ms of work for each frame, instead of the worker
    bool failed = false; ///< the worker has failed by then
  };
  // A frame each 10 ms for 10 s.
  std::vector<std::uint64_t> every_frame(1000);
  std::iota(every_frame.begin(), every_frame.end(), 0);
  const row rows[]{
    {"before its first frame", {}, -1, 0, 0},
    {"warming up", {.warms_up = milliseconds{300}}, 100, 200, 200},
    {"running", {}, 500, 10, 0},
    {"all queues full", {}, 2'000, 200, 0, true},
    // What is queued meets a worker that begins anew after 100, 200 and 400 ms.
    {"its worker fails at each frame", {.throws_at = {1, 2, 3, 4, 5}}, 35, 800, 10},
    {"its worker has failed for good", {.throws_at = every_frame}, 3'000, 10, 10, false, true},
    {"its worker hangs", {.hangs_at = {7}}, 500, -1, 0},
    {"over", {}, 20'000, 0, 0},
  };
  for (const auto& r : rows)
    for (const bool stops : {false, true}) {
      CAPTURE(std::string{r.state});
      CAPTURE(stops);
      fake_graph g;
      g.source({.frames = 1000, .every = milliseconds{10}});
      if (r.queued)
        g.queue({.takes = milliseconds{40}});
      else
        g.worker(r.worker);
      g.sink();
      g.edge(0, 1, {4, 0, overflow_policy::drop_oldest, 1});
      g.edge(1, 2, blocking(4));
      const graph_time asked{milliseconds{r.at}};
      g.run_virtually(asked);
      CHECK(g.control().failed().has_value() == r.failed);
      if (stops)
        g.control().stop();
      else
        g.control().drain();
      const auto ends_by = asked + milliseconds{stops ? r.stopped : std::max(0, r.drained)};
      g.virtually().run(ends_by, [&] { g.check_accounts(); });
      if (!stops && r.drained < 0) {
        CHECK_FALSE(g.control().finished());
        g.control().stop(); // as `running::finish` does when its patience is over
        g.virtually().run(ends_by, [&] { g.check_accounts(); });
      }
      CHECK(g.control().finished());
      const auto sums = g.accounts().total();
      CHECK(sums.captured == sums.ended());
      CHECK(g.under_way() == 0);
      // Asked again, in either way, it stays over.
      g.control().drain();
      g.control().stop();
      g.virtually().run(never, [&] { g.check_accounts(); });
      CHECK(g.control().finished());
      CHECK(g.accounts().total().captured == sums.captured);
    }
}

TEST_CASE("a stop on threads leaves nothing in flight") {
  fake_graph g;
  g.source({.frames = 1'000'000'000});
  g.worker({});
  g.sink();
  g.edge(0, 1, blocking(8));
  g.edge(1, 2, blocking(8));
  CHECK(g.run_on_threads([&](supervisor& s) { s.stop(); }));
  const auto sums = g.accounts().total();
  CHECK(sums.captured == sums.ended());
}

// ---- failure -----------------------------------------------------------------------------------

TEST_CASE("work that throws on a thread of its own fails its stage, not the process") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 20});
      g.worker({.work_throws_at = {7}});
      g.sink();
      g.edge(0, 1, blocking(4));
      g.edge(1, 2, blocking(4));
    },
    [](fake_graph& g) {
      // What came behind frame 7 before the work threw was held with it.
      CHECK(g.ended(2, outcome::failed) >= 1);
      CHECK(g.ended(2, outcome::failed) + g.ended(2, outcome::delivered) == 20);
      CHECK(g.numbers().stage(1).restarts == 1);
      REQUIRE(g.events().size() == 1);
      CHECK(g.events()[0].sentence == "failed and starts again: frame 7 is too much");
    });
}

TEST_CASE("a source that throws ends its streams and begins no second time") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 50, .streams = 2, .throws_at = 30});
      g.worker({});
      g.sink();
      g.edge(0, 1, blocking(4, 2));
      g.edge(1, 2, blocking(4, 2));
    },
    [](fake_graph& g) {
      const auto sums = g.accounts().total();
      CHECK(sums.captured >= 30);
      CHECK(sums.captured <= 60);
      CHECK(sums.ended() == sums.captured);
      CHECK(g.discarded(2) == 0);
      CHECK(g.numbers().stage(0).restarts == 0);
      REQUIRE(g.control().failed());
      CHECK(g.control().failed()->to_string() == "source: no more of frame 30");
    });
}

TEST_CASE("a frame that was sent and then failed has one outcome, the first") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 20});
      g.worker({.throws_behind = {5}});
      g.sink();
      g.edge(0, 1, blocking(4));
      g.edge(1, 2, blocking(4));
    },
    [](fake_graph& g) {
      CHECK(g.ended(2, outcome::delivered) + g.ended(2, outcome::failed) == 20);
      CHECK(g.discarded(2) == 1);
    });
}

TEST_CASE("a sink that fails still gives every frame its outcome") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 100});
      g.worker({});
      g.sink(10);
      g.edge(0, 1, blocking(4));
      g.edge(1, 2, blocking(4));
    },
    [](fake_graph& g) {
      CHECK(g.ended(2, outcome::delivered) == 10);
      const auto sums = g.accounts().total();
      CHECK(sums.ended() == sums.captured);
      REQUIRE(g.control().failed());
      CHECK(g.control().failed()->to_string() == "sink2: cannot keep frame 10");
    });
}

TEST_CASE("an edge whose policy is fail fails its stage, and loses no frame") {
  fake_graph g;
  g.source({.frames = 100, .every = milliseconds{1}});
  g.queue({.takes = milliseconds{10}});
  g.sink();
  g.edge(0, 1, {2, 0, overflow_policy::fail, 1});
  g.edge(1, 2, blocking(2));
  g.run_virtually();
  CHECK(g.control().finished());
  const auto sums = g.accounts().total();
  CHECK(sums.ended() == sums.captured);
  CHECK(g.ended(2, outcome::failed) == 1);
  CHECK(g.ended(2, outcome::delivered) == sums.captured - 1);
  CHECK(g.numbers().edge(0).drops == 1);
  REQUIRE(g.control().failed());
  CHECK(
    g.control().failed()->to_string()
    == "source: the edge to queue is full, and its policy is `fail`");
}

TEST_CASE("a listener that throws harms nobody") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 20});
      g.worker({.throws_at = {3}});
      g.sink();
      g.edge(0, 1, blocking(4));
      g.edge(1, 2, blocking(4));
      g.on_event([](const event&) { throw std::runtime_error("the listener is out of order"); });
    },
    [](fake_graph& g) {
      CHECK(g.ended(2, outcome::delivered) == 19);
      CHECK(g.numbers().events_untold == 1);
    });
}

TEST_CASE(
  "a live stream's queue that stays full raises an alarm that says what to do; a file's does not") {
  for (const bool live : {true, false}) {
    CAPTURE(live);
    fake_graph g;
    g.source({.frames = 1200, .every = milliseconds{10}, .live = live});
    g.queue({.takes = milliseconds{20}});
    g.sink();
    g.edge(0, 1, {10, 0, overflow_policy::drop_oldest, 1});
    g.edge(1, 2, blocking(2));
    g.run_virtually();
    CHECK(g.control().finished());
    std::vector<std::string> told;
    for (const auto& e : g.events())
      told.push_back(e.where + ": " + e.sentence);
    if (!live) {
      CHECK(told.empty());
      continue;
    }
    // Said once while it is full, whatever comes and goes.
    REQUIRE(told.size() >= 1);
    CHECK(
      told[0]
      == "queue: its queue has been full for 80 % of its 10 places on average; add a worker, lower "
         "the size of "
         "hyperframes, or revise budget and time-outs");
    CHECK(told.size() == 1);
    const auto raised = g.events()[0].when - graph_time{};
    CHECK(
      raised
      > milliseconds{3'200}); // 80 % of the way takes ln 5 time constants of 2 s, once it is full
    CHECK(raised < milliseconds{4'000});
  }
}

// ---- queues and lanes --------------------------------------------------------------------------

TEST_CASE("a lane that cannot go on does not hold up the others of a frame edge") {
  fake_graph g;
  g.source({.frames = 30, .streams = 2}); // all that it may of the first stream, then the second
  g.worker({});
  g.worker({.streams = 2}); // waits for the second stream
  g.sink();
  g.edge(0, 1, blocking(8, 2));
  g.edge(1, 2, blocking(1, 2));
  g.edge(2, 3, blocking(1, 2));
  g.run_virtually();
  CHECK(g.control().finished());
  CHECK(g.ended(3, outcome::delivered) == 60);
}

TEST_CASE("an edge bounded by bytes gives its credit back, lane by lane") {
  in_both_placements(
    [](fake_graph& g) {
      g.source({.frames = 40, .streams = 2, .bytes = 1000});
      g.worker({.streams = 2, .of_first = 2});
      g.sink();
      g.edge(
        0, 1, {32, 2000, overflow_policy::block, 2}); // two frames; credit would return in eights
      g.edge(1, 2, blocking(4, 2));
    },
    [](fake_graph& g) { CHECK(g.ended(2, outcome::delivered) == 80); });
}

TEST_CASE("credit comes back when the last item leaves, also where an end waits behind it") {
  fake_graph g;
  g.source({.frames = 3}); // fewer than a lot, and the end comes with them
  g.worker({});
  g.sink();
  g.edge(0, 1, blocking(32));
  g.edge(1, 2, blocking(32));
  g.run_virtually();
  CHECK(g.control().finished());
  CHECK(g.under_way() == 0);
}

TEST_CASE("a stage with a queue of its own gives bytes back too") {
  fake_graph g;
  g.source({.frames = 100, .bytes = 1000});
  g.queue({.at_once = 3, .takes = milliseconds{1}});
  g.sink();
  g.edge(0, 1, {3, 3000, overflow_policy::block, 1});
  g.edge(1, 2, blocking(4));
  g.run_virtually();
  CHECK(g.control().finished());
  CHECK(g.ended(2, outcome::delivered) == 100);
  CHECK(g.now() == graph_time{milliseconds{34}}); // three at once all the time
}

TEST_CASE("where everything queued is in work already, a dropping edge drops the newcomer") {
  fake_graph g;
  g.source({.frames = 100, .every = milliseconds{1}});
  g.queue({.at_once = 4, .takes = milliseconds{10}});
  g.sink();
  g.edge(0, 1, {4, 0, overflow_policy::drop_oldest, 1});
  g.edge(1, 2, blocking(8));
  g.run_virtually();
  CHECK(g.control().finished());
  CHECK_FALSE(g.control().failed());
  CHECK(g.ended(2, outcome::delivered) + g.ended(2, outcome::dropped) == 100);
  CHECK(g.ended(2, outcome::dropped) > 0);
  CHECK(g.numbers().edge(0).peak <= 4);
}

TEST_CASE("a stop during the warm-up is obeyed when it is over") {
  fake_graph g;
  g.source({.frames = 1000, .every = milliseconds{10}});
  g.worker({.warms_up = milliseconds{50}});
  g.sink();
  g.edge(0, 1, blocking(8));
  g.edge(1, 2, blocking(8));
  g.run_virtually(graph_time{milliseconds{20}});
  g.control().stop();
  g.virtually().run(never, [&] { g.check_accounts(); });
  CHECK(g.control().finished());
  const auto sums = g.accounts().total();
  CHECK(sums.ended() == sums.captured);
  CHECK(sums.captured <= 1);
}

// ---- pauses ------------------------------------------------------------------------------------

TEST_CASE("a stage that fails again pauses, longer each time; what comes meanwhile waits") {
  fake_graph g;
  g.source({.frames = 40, .every = 10ms});
  g.worker({.throws_at = {3, 7, 9}});
  g.sink();
  g.edge(0, 1, blocking(100));
  g.edge(1, 2, blocking(100));
  g.run_virtually();
  CHECK(g.control().finished());
  CHECK_FALSE(g.control().failed());
  CHECK(g.ended(2, outcome::failed) == 3);
  CHECK(g.ended(2, outcome::delivered) == 37);
  CHECK(g.numbers().stage(1).restarts == 3);
  const std::vector<std::string> said{
    "failed and starts again: frame 3 is too much",
    "failed and starts again in 100 ms: frame 7 is too much",
    "failed and starts again in 200 ms: frame 9 is too much"};
  REQUIRE(g.events().size() == said.size());
  for (std::size_t i = 0; i < said.size(); ++i)
    CHECK(g.events()[i].sentence == said[i]);
  // 7 fails at 70 ms, 8 waits until 170 ms; 9 fails then, 10 waits until 370 ms; then all are
  // there.
  const auto trace = g.trace();
  const std::vector<std::string> times{"0:6@60", "0:8@170", "0:10@370", "0:11@370"};
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(trace.at(i + 5) == times[i]);
  CHECK(trace.back() == "0:39@390");
}

TEST_CASE("a stage that cannot start again is tried again, within a set time") {
  for (const int refusals : {3, 100}) {
    CAPTURE(refusals);
    int starts = 0;
    fake_graph g;
    g.source({.frames = 20, .every = 10ms});
    g.worker({.throws_at = {3}, .at_start = [&] {
                if (++starts > 1 && starts <= 1 + refusals)
                  throw std::runtime_error("the device is away");
              }});
    g.sink();
    g.edge(0, 1, blocking(100));
    g.edge(1, 2, blocking(100));
    g.run_virtually();
    CHECK(g.control().finished());
    const auto sums = g.accounts().total();
    CHECK(sums.ended() == sums.captured);
    if (refusals == 3) {
      CHECK_FALSE(g.control().failed());
      CHECK(g.ended(2, outcome::delivered) == 19);
      CHECK(g.trace().at(3) == "0:4@730"); // 30 + 100 + 200 + 400
      CHECK(
        g.events().at(1).sentence
        == "failed and starts again in 100 ms: cannot start again: the device is away");
      continue;
    }
    REQUIRE(g.control().failed());
    CHECK(g.control().failed()->to_string() == "worker: cannot start again: the device is away");
    CHECK(g.ended(2, outcome::delivered) == 3);
    CHECK(starts == 1 + 5); // 0, 100, 200, 400, 800 ms
  }
}

TEST_CASE("a queue of the stage's own waits in the mailbox while it pauses") {
  fake_graph g;
  g.source({.frames = 30, .every = 10ms});
  g.queue({.takes = 1ms, .throws_at = {3, 7}});
  g.sink();
  g.edge(0, 1, blocking(40));
  g.edge(1, 2, blocking(40));
  g.run_virtually();
  CHECK(g.control().finished());
  CHECK_FALSE(g.control().failed());
  CHECK(g.ended(2, outcome::failed) == 2);
  CHECK(g.ended(2, outcome::delivered) == 28);
  CHECK(g.trace().at(6) == "0:8@171");
  CHECK(g.trace().back() == "0:29@291");
}

TEST_CASE("drain and stop are obeyed while a stage pauses") {
  for (const bool stops : {true, false}) {
    CAPTURE(stops);
    fake_graph g;
    g.source({.frames = 100, .every = 10ms});
    g.worker({.throws_at = {3, 7}});
    g.sink();
    g.edge(0, 1, blocking(100));
    g.edge(1, 2, blocking(100));
    g.run_virtually(graph_time{120ms}); // it pauses from 70 to 170 ms
    CHECK(g.ended(2, outcome::delivered) == 6);
    if (stops)
      g.control().stop();
    else
      g.control().drain();
    g.virtually().run(never, [&] { g.check_accounts(); });
    CHECK(g.control().finished());
    const auto sums = g.accounts().total();
    CHECK(sums.ended() == sums.captured);
    CHECK((g.ended(2, outcome::dropped) > 0) == stops);
    CHECK((g.ended(2, outcome::delivered) > 6) != stops);
    CHECK(g.numbers().stage(1).restarts == 2);
  }
}
