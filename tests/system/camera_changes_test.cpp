// Cameras that come and go while the graph runs.
#include "tests/system/collected.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/resident.hpp"
#include "tests/system/summary_checks.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

/// As fast as they can, live: what is too much is dropped.
std::string live_camera(const std::string& id, const std::string& more = "") {
  return "  - { id: " + id + more
         + ", camera: { type: synthetic, scene: counter, size: 16x16, fps: 500 } }\n";
}

struct process_state {
  std::size_t threads = 0, files = 0, resident = 0; ///< bytes
};

process_state state_of_process() {
  const auto entries = [](const char* folder) {
    return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator{folder}, std::filesystem::directory_iterator{}));
  };
  return {entries("/proc/self/task"), entries("/proc/self/fd"), resident_bytes()};
}

} // namespace

TEST_CASE(
  "a camera that goes and comes again is a new epoch of its stream; the others do not notice") {
  collected_results results;
  running run{
    graph::from_text(chain(live_camera("a") + live_camera("b"))),
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
    running run{
      graph::from_text(chain(live_camera("a") + live_camera("b", ", attached: false"))),
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
  running run{
    graph::from_text(chain(live_camera("a"))),
    calling({{"program", results.taker()}}, [&](const event& e) {
      const std::lock_guard lock{mutex};
      alarms.push_back(e.sentence);
    })};
  CHECK_THROWS_WITH_AS(
    run.add_camera("nobody"), "nobody: is no stream that this graph captures", failure);
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

TEST_CASE("cameras come and go on the virtual clock: each stay is an epoch, and nobody waits for who is away") {
  struct row {
    const char* what;
    bool there; ///< the first camera, from the start
    std::vector<std::pair<int, bool>> changes; ///< of the first camera: at ms, it comes
    std::vector<std::uint64_t> stays; ///< its frames in each epoch, of ten a second
    std::vector<std::string> told;
  };
  const row rows[]{
    {"it stays", true, {}, {30}, {}},
    {"it goes; the frame of that moment is its last", true, {{1'000, false}}, {11}, {}},
    {"it goes and comes again", true, {{1'050, false}, {2'050, true}}, {11, 30}, {}},
    {"it comes for the first time", false, {{500, true}}, {30}, {}},
    {"it never comes", false, {}, {}, {}},
    {"it goes and comes at one moment", true, {{1'050, false}, {1'050, true}}, {11, 30}, {}},
    {"twice", true, {{150, false}, {300, true}, {550, false}, {900, true}}, {2, 3, 30}, {}},
    {"one that is there comes, one that has gone goes",
     true,
     {{100, true}, {150, false}, {200, false}},
     {2},
     {"stream a: its camera is there already", "stream a: has no camera that could go"}},
    {"behind the end of its stream nothing is there to change", true, {{9'000, false}}, {30},
     {"stream a: has ended, and its camera cannot come again"}},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    const std::string camera =
      ", camera: { type: synthetic, scene: counter, size: 16x16, fps: 10, frames: 30 } }\n";
    const auto g = graph::from_text(
      "hyperframes: 1\nstreams:\n  - { id: a, group: g" + std::string{r.there ? "" : ", attached: false"} + camera
      + "  - { id: b, group: g" + camera
      + "stages:\n  capture: { type: capture }\n"
        "  align: { type: align, from: capture, wait: 90ms }\n"
        "  bundle: { type: bundle, from: align, over: cameras }\n"
        "  program: { type: callback, from: bundle }\n");
    std::vector<camera_change> changes;
    for (const auto& [at, comes] : r.changes)
      changes.insert(changes.begin(), {graph_time{std::chrono::milliseconds{at}}, "a", comes});
    std::ranges::stable_sort(changes, std::ranges::greater{}, &camera_change::at); // in any order
    if (r.changes.size() > 1 && r.changes[0].first == r.changes[1].first)
      std::swap(changes[0], changes[1]); // but at one moment
    std::vector<std::uint64_t> stays;
    std::vector<std::string> told;
    std::uint64_t others = 0;
    duration waited{};
    const auto take = [&](const item& i) {
      const auto& d = std::get<hyperframe_ptr>(i)->descriptor;
      for (const auto& slot : d.slots) {
        if (!slot.own)
          continue;
        if (slot.meta.stream == 1) {
          waited = std::max(waited, d.released - graph_time{slot.meta.arrived.time_since_epoch()});
          ++others;
          continue;
        }
        stays.resize(std::max<std::size_t>(stays.size(), slot.meta.epoch + 1));
        CHECK(slot.meta.frame_id == stays.back()++);
      }
    };
    const auto summary = run_virtually(
      g, graph_time{std::chrono::seconds{20}}, calling({{"program", take}}, [&](const event& e) {
        told.push_back(e.sentence);
      }),
      changes);
    CHECK(stays == r.stays);
    CHECK(others == 30);
    CHECK(waited == duration{0});
    CHECK(told == r.told);
    CHECK(summary.ledger.captured == count_of(summary.ledger, outcome::delivered));
    check_ledger(summary);
  }
  CHECK_THROWS_WITH_AS(
    run_virtually(
      graph::from_text(with(chain(live_camera("a")), "model: " + small_model, "backend: simulated")), never,
      calling({{"program", [](const item&) {}}}), {{graph_time{}, "nobody", true}}),
    "nobody: is no stream that this graph captures", failure);
}

TEST_CASE("a file goes on though the camera beside it goes, or has not come") {
  for (const bool threads : {false, true})
    for (const std::string match : {"nearest", "hold_last"}) {
      CAPTURE(threads);
      CAPTURE(match);
      std::uint64_t seen = 0;
      const auto take = [&](const item& i) {
        for (const auto& m : std::get<aligned_set_ptr>(i)->members)
          seen += m.own ? 1 : 0;
      };
      const auto g = graph::from_text(
        "hyperframes: 1\nstreams:\n"
        "  - { id: a, group: g, camera: { type: synthetic, scene: counter, size: 16x16, realtime: false, frames: 200 } }\n"
        "  - { id: b, group: g, attached: false, camera: { type: synthetic, scene: counter, size: 16x16, realtime: false } }\n"
        "stages:\n  capture: { type: capture }\n"
        "  align: { type: align, from: capture, match: " + match + " }\n"
        "  program: { type: callback, from: align }\n");
      run_summary summary;
      if (threads) {
        running run{g, calling({{"program", take}})};
        wait_for("the file's frames", [&] { return run.progress().streams.at(0).ended() == 200; });
        run.drain();
        summary = run.finish();
      } else {
        summary = run_virtually(g, graph_time{std::chrono::seconds{1}}, calling({{"program", take}}));
      }
      CHECK(seen == 200);
      check_ledger(summary);
    }
}

TEST_CASE("a thousand times, at random, with full queues, without a leak") {
  const std::uint32_t seed = 20261202;
  CAPTURE(seed);
  std::mt19937 random{seed};
  const std::string ids[] = {"a", "b", "c", "d"};
  std::string streams;
  for (const auto& id : ids)
    streams += live_camera(id);
  // 80 frames a second, of the 2,000 that come.
  auto text = with(
    chain(streams), "type: infer, from: schedule, model: " + small_model,
    "type: infer, from: schedule, backend: simulated, batch: { max: 8 }, "
    "simulated: { fixed: 100ms, per_slot: 0ms }");
  text = with(text, "from: bundle }", "from: { stage: bundle, capacity: 4, overflow: block } }");
  text =
    with(text, "from: capture,", "from: { stage: capture, capacity: 4, overflow: drop_oldest },");
  // Looked at, not kept: what the test keeps is no growth of the graph.
  std::uint64_t taken = 0, disorder = 0;
  std::map<stream_index, frame_position> next;
  const auto take = [&](const item& i) {
    const auto& meta = std::get<frame_result_ptr>(i)->meta;
    auto& expected = next[meta.stream];
    if (meta.epoch > expected.epoch)
      expected = {meta.epoch, 0};
    disorder += meta.position() == expected ? 0 : 1;
    ++expected.frame_id;
    ++taken;
  };
  running run{graph::from_text(text), calling({{"program", take}})};
  bool there[] = {true, true, true, true};
  process_state before{};
  for (int i = 0; i < 1'000; ++i) {
    // Without a camera nothing comes that could fill a queue.
    if (std::ranges::find(there, true) != std::end(there))
      wait_for("a full queue", [&] { return run.progress().deepest >= 4; });
    if (i == 200)
      before = state_of_process();
    const auto which = random() % 4;
    there[which] = !there[which];
    if (there[which])
      run.add_camera(ids[which]);
    else
      run.remove_camera(ids[which]);
    wait_for("the change", [&] { return run.has_camera(ids[which]) == there[which]; });
  }
  const auto after = state_of_process();
  CHECK(
    after.threads
    <= before.threads + 4); // some have more cameras, and a thread may still be ending
  CHECK(after.files <= before.files + 4);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which keep what was freed
  CHECK(static_cast<double>(after.resident) - static_cast<double>(before.resident) < 6e6);
#endif
  run.drain();
  const auto summary = run.finish();
  CHECK(disorder == 0);
  CHECK(taken == summary.ledger.captured);
  std::uint64_t epochs = 0;
  for (const auto& line : summary.streams)
    epochs += line.epochs;
  CHECK(epochs >= 400); // about half of the changes let one come
  check_ledger(summary);
  for (const auto* from : {"capture", "bundle"}) {
    const auto& edge =
      edge_of(summary, from, from == std::string{"capture"} ? "bundle" : "schedule");
    INFO("edge from ", from);
    CHECK(edge.peak_depth == edge.capacity);
  }
  CHECK(edge_of(summary, "capture", "bundle").drops == count_of(summary.ledger, reason::edge_full));
  CHECK(edge_of(summary, "bundle", "schedule").drops == 0);
}
