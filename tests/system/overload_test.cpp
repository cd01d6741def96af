// Live cameras and a device that is too slow for them: who is served, what expires, and when.
#include "tests/system/collected.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

/// Live cameras in step into a simulated device.
struct setting_of {
  std::string streams = "cam{1..2}";
  std::string more_of_streams{};
  std::string camera = "fps: 20, frames: 400";
  std::string budget{};
  std::string size = "4";
  std::string queue = "capacity: 4, overflow: drop_oldest";
  std::string schedule = "order: fifo";
  std::string infer = "simulated: { fixed: 200ms, per_slot: 0ms }, batch: { max: 4 }";
};

std::string overloaded(const setting_of& s) {
  return "hyperframes: 1\nname: overload\n" + s.budget + "streams:\n  - { id: \"" + s.streams + '"'
         + s.more_of_streams + ", camera: { type: synthetic, scene: counter, size: 32x32, "
         + s.camera
         + " } }\nstages:\n  capture:  { type: capture }\n  bundle:   { type: bundle, from: "
           "capture, size: "
         + s.size + " }\n  schedule: { type: schedule, from: { stage: bundle, " + s.queue + " }, "
         + s.schedule + " }\n  infer:    { type: infer, from: schedule, backend: simulated, "
         + s.infer
         + " }\n  unbundle: { type: unbundle, from: infer }\n"
           "  program:  { type: callback, from: unbundle }\n";
}

/// Both cameras have got within 10 % of half of the results.
void check_shares(const run_summary& s) {
  const auto all = static_cast<double>(count_of(s.ledger, outcome::delivered));
  REQUIRE(s.streams.size() == 2);
  for (const auto& line : s.streams) {
    INFO("stream ", line.id);
    const auto own = static_cast<double>(count_of(line.sums, outcome::delivered));
    CHECK(line.longest_gap > 0ms);
    CHECK(own >= 0.45 * all);
    CHECK(own <= 0.55 * all);
  }
}

} // namespace

TEST_CASE(
  "two cameras in step share a device that manages half, whatever the order and the bound") {
  struct row {
    std::string what;
    setting_of given;
  };
  std::vector<row> rows;
  for (const std::string order : {"fifo", "deadline", "priority", "fair"}) {
    rows.push_back(
      {"evicted, " + order, {.budget = "latency_budget: 20s\n", .schedule = "order: " + order}});
    rows.push_back(
      {"evicted at an odd bound, " + order,
       {.budget = "latency_budget: 20s\n",
        .queue = "capacity: 3, overflow: drop_oldest",
        .schedule = "order: " + order}});
    rows.push_back(
      {"expired, " + order,
       {.budget = "latency_budget: 500ms\n",
        .queue = "capacity: 64, overflow: drop_oldest",
        .schedule = "order: " + order}});
    rows.push_back(
      {"of one group, " + order,
       {.more_of_streams = ", group: line", .schedule = "order: " + order}});
  }
  rows.push_back(
    {"two workers, batches of both",
     {.camera = "fps: 40, frames: 800",
      .infer = "simulated: { fixed: 400ms, per_slot: 0ms }, workers: 2, batch: { max: 8 }"}});
  for (const auto& r : rows) {
    CAPTURE(r.what);
    collected_results results;
    const auto summary = run_virtually(
      graph::from_text(overloaded(r.given)), never, calling({{"program", results.taker()}}));
    CHECK(results.fault() == "");
    check_shares(summary);
    // Half of them, in whole hyperframes, and what waits at the end.
    const auto delivered = count_of(summary.ledger, outcome::delivered);
    CHECK(2 * delivered >= summary.ledger.captured - 32);
    CHECK(2 * delivered <= summary.ledger.captured + 64);
    check_ledger(summary);
  }
}

TEST_CASE("two cameras in step on threads") {
  collected_results results;
  setting_of s;
  s.camera = "fps: 50, frames: 150";
  s.size = "2";
  s.infer = "simulated: { fixed: 40ms, per_slot: 0ms }, batch: { max: 2 }";
  running run{graph::from_text(overloaded(s)), calling({{"program", results.taker()}})};
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  check_shares(summary);
  CHECK(count_of(summary.ledger, reason::edge_full) > 0);
  check_ledger(summary);
}

TEST_CASE(
  "with a model slower than the camera results are in time, and the rest expires at its time") {
  struct row {
    std::string what;
    std::string infer; ///< for what comes each 267 ms
    duration budget;   ///< of which a hyperframe has spent 233 ms when it comes
    double served;     ///< at least this share
    double late;       ///< of these, at most
  };
  const row rows[]{
    {"one worker", "simulated: { fixed: 400ms, per_slot: 0ms }, batch: { max: 8 }", 1s, 0.6, 0.02},
    {"two workers of half the speed",
     "simulated: { fixed: 420ms, per_slot: 0ms }, workers: 2, batch: { max: 8 }", 900ms, 0.9, 0.02},
    {"one that is slower by the slot",
     "simulated: { fixed: 0ms, per_slot: 50ms }, batch: { max: 8 }", 1s, 0.6, 0.02},
    // The queue may be left with what comes 67 ms too late; the worker is not kept idle for it.
    {"hardly any time to spare", "simulated: { fixed: 400ms, per_slot: 0ms }, batch: { max: 8 }",
     700ms, 0.6, 0.2},
    {"a model that never can be in time",
     "simulated: { fixed: 600ms, per_slot: 0ms }, batch: { max: 8 }", 700ms, 0.4, 1},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    setting_of s{
      .streams = "cam",
      .camera = "fps: 30, frames: 1200",
      .budget = "latency_budget: " + std::to_string(r.budget / 1ms) + "ms\n",
      .size = "8",
      .queue = "capacity: 16, overflow: drop_oldest",
      .infer = r.infer};
    collected_results results;
    const auto g = graph::from_text(overloaded(s));
    const auto summary = run_virtually(g, never, calling({{"program", results.taker()}}));
    CHECK(results.fault() == "");
    CHECK(count_of(summary.ledger, outcome::dropped) == 0);
    CHECK(count_of(summary.ledger, reason::deadline) == count_of(summary.ledger, outcome::expired));
    CHECK(summary.ledger.captured == 1200);
    const auto delivered = count_of(summary.ledger, outcome::delivered);
    CHECK(static_cast<double>(delivered) >= r.served * 1200);
    CHECK(
      static_cast<double>(count_of(summary.ledger, reason::late))
      <= r.late * static_cast<double>(delivered));

    const auto& all = results.of(0);
    REQUIRE(all.size() == 1200);
    const auto frame = [](std::uint64_t n) {
      return duration{static_cast<std::int64_t>(n * 1'000'000'000 / 30)};
    };
    std::optional<graph_time> begin; // of frame 0
    for (const auto& f : all)
      if (!begin && f->what == outcome::delivered)
        begin = f->meta.timeline - frame(f->meta.frame_id);
    REQUIRE(begin);
    graph_time before{}; // results in order: a late one holds up what follows
    for (const auto& f : all) {
      const auto earliest = std::exchange(before, f->times.delivered);
      if (f->what != outcome::expired)
        continue;
      CAPTURE(f->meta.frame_id);
      const auto due =
        *begin + frame(f->meta.frame_id / 8 * 8) + r.budget; // its hyperframe's oldest
      CHECK(f->times.delivered >= due - 1ms);
      CHECK(f->times.delivered <= std::max(due, earliest) + 1ms);
    }
    check_ledger(summary);
  }
}

TEST_CASE("each stream's longest gap between two results is reported") {
  setting_of s{
    .streams = "cam{1..2}",
    .camera = "fps: 20, frames: 100",
    .size = "1",
    .infer = "simulated: { fixed: 1ms, per_slot: 0ms }, batch: { max: 1 }"};
  auto text = overloaded(s);
  const auto run = [](const std::string& graph_text) {
    collected_results results;
    const auto summary =
      run_virtually(graph::from_text(graph_text), never, calling({{"program", results.taker()}}));
    CHECK(results.fault() == "");
    return summary;
  };
  const auto plain = run(text);
  check_ledger(plain);
  for (const auto& line : plain.streams)
    CHECK(
      line.longest_gap
      == 50ms); // a period: what comes in step is served in the same order each time
  // A second camera, silent for 2 s: frame 10 is due at 500 ms, and the next that is seen at 2.5 s.
  const auto at = text.find("stages:");
  text.insert(
    at,
    "  - { id: mute, camera: { type: synthetic, scene: counter, size: 32x32, fps: 20, frames: 100, "
    "faults: [ { kind: silence, at: [10], for: 2s } ] } }\n");
  const auto summary = run(text);
  check_ledger(summary);
  REQUIRE(summary.streams.size() == 3);
  CHECK(summary.streams[0].longest_gap <= 52ms);
  CHECK(summary.streams[2].longest_gap >= 2049ms);
  CHECK(summary.streams[2].longest_gap <= 2053ms);
}

TEST_CASE("a stream that gets nothing has a gap as long as it lives") {
  setting_of s{
    .camera = "fps: 20, frames: 100",
    .infer = "simulated: { fixed: 1h, per_slot: 0ms }, batch: { max: 4 }"};
  s.schedule = "order: fifo, ttl: 100ms";
  const auto summary = run_virtually(
    graph::from_text(overloaded(s)), graph_time{5s}, calling({{"program", [](const item&) {}}}));
  for (const auto& line : summary.streams) {
    CHECK(count_of(line.sums, outcome::delivered) <= 4);
    CHECK(line.longest_gap > 4s);
  }
}

TEST_CASE("a quick model is kept busy, a slow one is sent nothing ahead") {
  const auto most_in_infer = [](const std::string& device) {
    setting_of s{
      .streams = "cam",
      .camera = "fps: 800, frames: 1600",
      .budget = "latency_budget: 1s\n",
      .size = "4",
      .queue = "capacity: 16, overflow: drop_oldest",
      .infer = device};
    collected_results results;
    const auto summary = run_virtually(
      graph::from_text(overloaded(s)), never, calling({{"program", results.taker()}}));
    check_ledger(summary);
    const auto& edge = edge_of(summary, "schedule", "infer");
    CHECK(edge.capacity == 2);
    return edge.peak_depth;
  };
  CHECK(most_in_infer("simulated: { fixed: 9ms, per_slot: 1ms }, batch: { max: 4 }") == 1);
  CHECK(most_in_infer("simulated: { fixed: 6ms, per_slot: 1500us }, batch: { max: 4 }") == 1);
  CHECK(most_in_infer("simulated: { fixed: 5ms, per_slot: 1ms }, batch: { max: 4 }") == 2);
}
