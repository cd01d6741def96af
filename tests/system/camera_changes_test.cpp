// Cameras that come and go while the graph runs.
#include "tests/system/collected.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <filesystem>
#include <random>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

/// As fast as they can, live: what is too much is dropped.
std::string live_camera(const std::string& id, const std::string& more = "") {
  return "  - { id: " + id + more
         + ", camera: { type: synthetic, scene: counter, size: 16x16, fps: 500 } }\n";
}

std::size_t threads_of_process() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
    (void)entry;
    ++count;
  }
  return count;
}

} // namespace

TEST_CASE("a camera that goes and comes again is a new epoch of its stream; the others do not notice") {
  collected_results results;
  running run{graph::from_text(chain(live_camera("a") + live_camera("b"))),
              calling({{"program", results.taker()}})};
  const auto captured = [&](std::size_t i) { return run.progress().streams.at(i).captured; };
  wait_for("frames", [&] { return captured(0) > 20 && captured(1) > 20; });
  run.remove_camera("a");
  wait_for("the camera to go", [&] { return !run.has_camera("a"); });
  const auto then = captured(0), others = captured(1);
  wait_for("frames of the other", [&] { return captured(1) > others + 50; });
  CHECK(captured(0) == then);
  run.add_camera("a");
  wait_for("frames again", [&] { return captured(0) > then + 20; });
  run.drain();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  REQUIRE(!results.of(0).empty());
  CHECK(results.of(0).back()->meta.epoch == 1);
  CHECK(results.of(1).back()->meta.epoch == 0);
  CHECK(results.count() == summary.ledger.captured);
  check_ledger(summary);
}

TEST_CASE("a camera that is not there from the start may come later, or never") {
  for (const bool comes : {true, false}) {
    CAPTURE(comes);
    collected_results results;
    running run{graph::from_text(chain(live_camera("a") + live_camera("b", ", attached: false"))),
                calling({{"program", results.taker()}})};
    CHECK_FALSE(run.has_camera("b"));
    if (comes) {
      run.add_camera("b");
      wait_for("its frames", [&] { return run.progress().streams.at(1).captured > 10; });
    }
    run.drain();
    const auto summary = run.finish();
    CHECK(results.fault() == "");
    CHECK((summary.streams[1].sums.captured > 0) == comes);
    check_ledger(summary);
  }
}

TEST_CASE("a wrong request is said, and harms nobody") {
  collected_results results;
  std::mutex mutex;
  std::vector<std::string> alarms;
  running run{graph::from_text(chain(live_camera("a"))),
              calling({{"program", results.taker()}}, [&](const event& e) {
                const std::lock_guard lock{mutex};
                alarms.push_back(e.sentence);
              })};
  CHECK_THROWS_WITH_AS(run.add_camera("nobody"), "nobody: is no stream that this graph captures", failure);
  CHECK_THROWS_AS(run.has_camera("nobody"), failure);
  run.add_camera("a");
  wait_for("the alarm", [&] {
    const std::lock_guard lock{mutex};
    return !alarms.empty();
  });
  CHECK(alarms[0] == "stream a: its camera is there already");
  run.drain();
  check_ledger(run.finish());
}

TEST_CASE("a thousand times, at random, with full queues") {
  const std::uint32_t seed = 20261202;
  CAPTURE(seed);
  std::mt19937 random{seed};
  collected_results results{[](const frame_result&) { work_a_little(); }};
  std::size_t threads = 0;
  {
    std::string streams;
    for (const auto* id : {"a", "b", "c", "d"})
      streams += live_camera(id);
    running run{graph::from_text(chain(streams)), calling({{"program", results.taker()}})};
    const std::string ids[] = {"a", "b", "c", "d"};
    bool there[] = {true, true, true, true};
    wait_for("frames", [&] { return results.count() > 100; });
    threads = threads_of_process();
    for (int i = 0; i < 1'000; ++i) {
      const auto which = random() % 4;
      there[which] = !there[which];
      if (there[which])
        run.add_camera(ids[which]);
      else
        run.remove_camera(ids[which]);
      wait_for("the change", [&] { return run.has_camera(ids[which]) == there[which]; });
    }
    CHECK(threads_of_process() <= threads + 4);
    run.drain();
    const auto summary = run.finish();
    CHECK(results.fault() == "");
    CHECK(results.count() == summary.ledger.captured);
    check_ledger(summary);
    for (const auto& e : summary.edges)
      CHECK(e.peak_depth <= e.capacity + 1);
  }
}
