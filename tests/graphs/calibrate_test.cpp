#include "graphs/calibrate.hpp"
#include "graphs/hyperframes.hpp"
#include "tests/system/folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

/// 1000 frames: 1 ms of reading each, 2 ms of inference, 100 ms of packing in all.
calibration_pass pass(std::uint32_t size) {
  calibration_pass p;
  p.size = size;
  p.frames = 1000;
  p.hyperframes = p.batches = 1000 / size;
  p.slots = 1000;
  p.acquire = 1s;
  p.infer = 2s;
  p.pack = 100ms;
  p.schedule = 10ms;
  p.deliver = 20ms;
  p.stages = 150ms;
  p.cpu = 3s + 250ms;
  return p;
}

} // namespace

TEST_CASE("costs from passes: by frame, by hyperframe, by batch; the rest of the CPU time") {
  const auto c = costs_of({pass(1), pass(4)});
  CHECK(c.acquire == 1ms);
  CHECK(c.pack == 100us);
  CHECK(c.k == doctest::Approx(1));
  CHECK(c.schedule == 16us); // 20 ms of 1250 hyperframes
  CHECK(c.deliver == 20us);
  CHECK(c.other == 120us); // 250 - 130 ms of 1000 frames
  REQUIRE(c.infer.size() == 2);
  CHECK(c.infer[0].slots == 1);
  CHECK(c.infer[0].time == 2ms);
  CHECK(c.infer[1].slots == 4);
  CHECK(c.infer[1].time == 8ms);
  CHECK(c.infer_on_cpu);
}

TEST_CASE("k is what packing takes in hyperframes against alone") {
  auto bundled = pass(4);
  bundled.pack = 80ms;
  CHECK(costs_of({pass(1), bundled}).k == doctest::Approx(0.8));
  CHECK(costs_of({pass(1)}).k == 1);
}

TEST_CASE("time in which others were in the way does not count") {
  auto p = pass(1);
  p.cpu = 3s + 75ms; // half of what the stages think
  const auto c = costs_of({p});
  CHECK(c.pack == 50us);
  CHECK(c.schedule == 5us);
  CHECK(c.deliver == 10us);
  CHECK(c.other == 10us); // align
}

TEST_CASE("a device's time is no CPU time; more slots never take less; equal batches are one") {
  auto p = pass(1), q = pass(4), r = pass(4);
  for (auto* each : {&p, &q, &r}) {
    each->infer_on_cpu = false;
    each->cpu = 1s + 250ms;
  }
  q.infer = 100ms; // 0.4 ms a batch: less than one slot takes
  r.infer = 300ms;
  const auto c = costs_of({p, q, r});
  CHECK(!c.infer_on_cpu);
  CHECK(c.other == 120us);
  REQUIRE(c.infer.size() == 2);
  CHECK(c.infer[1].time >= c.infer[0].time);
  CHECK_THROWS_WITH_AS(
    costs_of({calibration_pass{}}), doctest::Contains("no batch was inferred"), failure);
}

TEST_CASE("a calibration runs the graph, and writes none of its files") {
  const test_folder folder;
  write_file(
    folder / "graph.yaml",
    "hyperframes: 1\n"
    "latency_budget: 1s\n"
    "streams:\n"
    "  - { id: \"cam{1..2}\", camera: { type: synthetic, scene: counter, size: 64x64, fps: 25 } }\n"
    "stages:\n"
    "  capture:  { type: capture }\n"
    "  bundle:   { type: bundle, from: capture, size: 32 }\n"
    "  schedule: { type: schedule, from: { stage: bundle, overflow: drop_oldest } }\n"
    "  infer:    { type: infer, from: schedule, backend: simulated, simulated: { fixed: 4ms, "
    "per_slot: 1ms },\n"
    "              batch: { max: 32 } }\n"
    "  unbundle: { type: unbundle, from: infer }\n"
    "  results:  { type: jsonl, from: unbundle, path: \""
      + (folder / "results.jsonl") + "\" }\n");
  // 32 frames at 25 fps do not fit the budget: only the passes may run without it.
  graph_options options;
  options.overrides = {{"stages.bundle.size", "4"}};
  const auto g = graph::from_file(folder / "graph.yaml", options);
  const auto task = batch_task_of(g.checked(), g.plan(), {.cores = 2});
  std::vector<std::string> told;
  const auto c = calibrate(
    folder / "graph.yaml", options, task, [&](const std::string& s) { told.push_back(s); });
  CHECK(!std::filesystem::exists(folder / "results.jsonl"));
  CHECK(told.size() == 6);
  CHECK(c.acquire > 1us);
  CHECK(c.pack > 0us);
  CHECK(!c.infer_on_cpu);
  REQUIRE(c.infer.size() >= 3);
  // Batches count when they come, and their time when they are done: a pass may count one too many.
  for (const auto& i : c.infer)
    CHECK(in_ms(i.time) >= 0.8 * (4 + i.slots));
}
