// First results before a hyperframe is complete, through whole graphs.
#include "tests/system/collected.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

TEST_CASE(
  "with stream_first the first result of a hyperframe is there before its last frame has come") {
  const std::string text =
    "hyperframes: 1\nname: first\nlatency_budget: 2s\n"
    "streams:\n"
    "  - { id: \"cam{1..2}\", camera: { type: synthetic, scene: counter, size: 16x16, fps: 10, "
    "frames: 30 } }\n"
    "stages:\n"
    "  capture:  { type: capture }\n"
    "  bundle:   { type: bundle, from: capture, size: 8, stream_first: true }\n"
    "  schedule: { type: schedule, from: bundle, order: deadline }\n"
    "  infer:    { type: infer, from: schedule, backend: simulated, simulated: { fixed: 20ms, "
    "per_slot: 5ms } }\n"
    "  unbundle: { type: unbundle, from: infer }\n"
    "  program:  { type: callback, from: unbundle }\n";
  collected_results results;
  const auto summary =
    run_virtually(graph::from_text(text), never, calling({{"program", results.taker()}}));
  CHECK(results.fault() == "");
  check_ledger(summary);
  CHECK(count_of(summary.ledger, outcome::delivered) == 60);
  for (stream_index s = 0; s < 2; ++s) {
    const auto& of = results.of(s);
    REQUIRE(of.size() == 30);
    for (std::size_t i = 0; i < of.size(); ++i) {
      CAPTURE(i);
      CHECK(of[i]->slot == static_cast<std::int32_t>(i % 8));
      REQUIRE(of[i]->sequence);
      CHECK(*of[i]->sequence == *of[i - i % 8]->sequence);
    }
    // 8 frames at 10 per second: the last one comes 700 ms after the first.
    for (std::size_t i = 0; i + 8 <= of.size(); i += 8) {
      CHECK(of[i]->times.delivered < as_graph(of[i + 1]->meta.arrived));
      CHECK(of[i + 1]->times.delivered >= as_graph(of[i + 7]->meta.arrived));
    }
  }
}

TEST_CASE(
  "on threads: the first result comes while the other frames of its hyperframe do not exist") {
  const auto text = with(
    chain("  - { id: cam, camera: { type: push, size: 8x8, format: bgr24, live: true } }\n"),
    "size: 8 }", "size: 4, stream_first: true, release: { timeout: 1h } }");
  collected_results results;
  running run{graph::from_text(text), calling({{"program", results.taker()}})};
  const std::vector<std::byte> pixels(8 * 8 * 3);
  std::uint64_t pushed = 0;
  const auto push = [&] {
    REQUIRE(
      run.input("cam")->push_for(pixels, capture_time{std::chrono::milliseconds{40 * pushed}}, 60s)
      == push_result::taken);
    ++pushed;
  };
  for (int hyperframe = 0; hyperframe < 3; ++hyperframe) {
    push();
    wait_for("the first result", [&] { return results.count() == pushed; });
    for (int i = 0; i < 3; ++i)
      push();
    wait_for("the others", [&] { return results.count() == pushed; });
  }
  push(); // alone at the end
  wait_for("the last result", [&] { return results.count() == pushed; });
  run.drain();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  check_ledger(summary);
  CHECK(count_of(summary.ledger, outcome::delivered) == 13);
  const auto& of = results.of(0);
  REQUIRE(of.size() == 13);
  for (std::size_t i = 0; i < of.size(); ++i)
    CHECK(of[i]->slot == static_cast<std::int32_t>(i % 4));
}
