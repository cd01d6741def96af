// Batches that adapt to the device, in whole graphs with a simulated one.
#include "tests/system/collected.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <algorithm>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

/// Eight cameras that are never short of frames, in front of a device that takes 8 ms + 0.5 ms a
/// slot.
graph busy_device(const std::string& batch, const std::string& also = {}) {
  return graph::from_text(
    "hyperframes: 1\n"
    "name: busy\n"
    "streams:\n"
    "  - { id: \"cam{1..8}\", camera: { type: synthetic, scene: counter, size: 32x32, fps: 30, "
    "realtime: false, frames: 4000 } }\n"
    "stages:\n"
    "  capture:  { type: capture }\n"
    "  bundle:   { type: bundle, from: capture, size: 4 }\n"
    "  schedule: { type: schedule, from: { stage: bundle, capacity: 32 } }\n"
    "  infer:    { type: infer, from: schedule, backend: simulated, simulated: { fixed: 8ms, "
    "per_slot: 0.5ms }, "
    "input: { size: 8x8 }, batch: { "
    + batch + " }" + also
    + " }\n"
      "  unbundle: { type: unbundle, from: infer }\n"
      "  program:  { type: callback, from: unbundle }\n"
      "  batches:  { type: callback, from: infer }\n");
}

struct seen {
  run_summary summary;
  std::vector<std::uint32_t> slots; ///< of each hyperframe's batch, the second half of them, sorted
};

seen run_with(const std::string& batch, const std::string& also = {}) {
  std::vector<std::uint32_t> slots;
  const auto note = [&](const item& i) { slots.push_back(std::get<result_ptr>(i)->batch_slots); };
  collected_results results;
  auto summary = run_virtually(
    busy_device(batch, also), never, calling({{"program", results.taker()}, {"batches", note}}));
  CHECK(results.fault() == "");
  check_ledger(summary);
  // Both sinks end accounts.
  CHECK(summary.ledger.outcomes[0] == 2 * 8 * 4000);
  slots.erase(slots.begin(), slots.begin() + static_cast<long>(slots.size() / 2));
  std::ranges::sort(slots);
  return {std::move(summary), std::move(slots)};
}

} // namespace

TEST_CASE("adaptive batches reach the throughput of the best fixed ones") {
  const auto best = run_with("max: 64");
  const auto small = run_with("max: 8");
  const auto adaptive = run_with("max: 64, adaptive: true");
  CHECK(small.summary.wall > 1.5 * best.summary.wall); // the size matters here
  CHECK(adaptive.summary.wall < 1.03 * best.summary.wall);
  CHECK(adaptive.slots[adaptive.slots.size() / 2] >= 48);
}

TEST_CASE("adaptive batches stay below the target") {
  // 32 slots take 24 ms.
  const auto adaptive = run_with("max: 64, adaptive: true, target: 24ms");
  CHECK(adaptive.slots[adaptive.slots.size() / 2] == 32);
  CHECK(adaptive.slots[adaptive.slots.size() * 98 / 100] <= 32);
}

TEST_CASE("a target without batches that adapt is a fault of the graph") {
  try {
    busy_device("max: 64, target: 24ms");
    FAIL("loaded");
  } catch (const failure& e) {
    CHECK(
      std::string{e.what()}.find(
        "batch.target is for batches that adapt, and batch.adaptive is false")
      != std::string::npos);
  }
}
