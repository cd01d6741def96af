// Sources that are faster than what is behind them: files are held back, live cameras drop.
#include "tests/system/collected.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/resident.hpp"
#include "tests/system/summary_checks.hpp"

#include <algorithm>
#include <array>
#include <atomic>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true; // keeps what was freed, and slows down our code but not libraries
#else
constexpr bool sanitized = false;
#endif

constexpr std::string_view push_stream = "  - { id: cam, camera: { type: push, size: 16x16";

void push_taken(
  push_port& port, std::span<const std::byte> pixels, capture_time t,
  const push_details& details = {}) {
  REQUIRE(port.push_for(pixels, t, std::chrono::minutes{1}, details) == push_result::taken);
}

} // namespace

TEST_CASE("a slow sink holds files back: nothing is lost, no edge overflows, memory stays flat") {
  constexpr std::uint64_t frames = 10'000;
  std::uint64_t seen = 0;
  std::size_t early = 0, late = 0;
  // Counted, not kept: what the test keeps is no growth of the graph.
  std::uint64_t delivered = 0, disorder = 0, most_under_way = 0;
  std::atomic<const running*> graph_at_work{nullptr};
  const auto take = [&](const item& i) {
    const auto& r = std::get<frame_result_ptr>(i);
    disorder += r->meta.frame_id == seen ? 0 : 1;
    delivered += r->what == outcome::delivered ? 1 : 0;
    for (int n = 0; n < 10; ++n) // by far the slowest stage
      work_a_little();
    if (const auto* run = graph_at_work.load(); run && seen % 16 == 0)
      most_under_way = std::max(most_under_way, run->progress().ledger.captured - seen);
    ++seen;
    if (seen == 2'000)
      early = resident_bytes();
    if (seen == frames)
      late = resident_bytes();
  };
  running run{graph::from_text(chain(file_camera("cam", frames))), calling({{"program", take}})};
  graph_at_work = &run;
  const auto summary = run.finish();
  CHECK(seen == frames);
  // What the edges may hold, and what the stages hold between them: an open hyperframe, the batches
  // of the worker, and one item each in unbundle and the sink.
  std::uint64_t room = 8 + 3 * 16 + 16 + 1;
  for (const auto& e : summary.edges)
    room += std::uint64_t{e.capacity} * (e.type == "hyperframe" ? 8 : e.type == "batch" || e.type == "result" ? 16 : 1);
  INFO("room for ", room, " frames");
  CHECK(most_under_way > 0);
  CHECK(most_under_way <= room);
  CHECK(delivered == frames);
  CHECK(disorder == 0);
  CHECK(count_of(summary.ledger, outcome::delivered) == frames);
  check_depths(summary);
  for (const auto& e : summary.edges) {
    INFO("edge ", e.from, " -> ", e.to);
    CHECK(e.overflow == "block");
    CHECK(e.drops == 0);
  }
  CHECK(edge_of(summary, "unbundle", "program").peak_depth > 0);
  if (!sanitized)
    CHECK(static_cast<double>(late) - static_cast<double>(early) < 4e6);
  check_ledger(summary);
}

TEST_CASE("a slow worker holds files back: every edge fills up to its capacity, none beyond it") {
  constexpr std::uint64_t frames = 400;
  auto text =
    chain("  - { id: cam, camera: { type: synthetic, scene: noise, format: gray8, size: 128x192, "
          "realtime: false, frames: 400 } }\n");
  text = with(text, "model: " + small_model, "backend: hog, batch: { max: 4 }");
  text = with(text, "from: bundle }", "from: { stage: bundle, capacity: 4 } }");
  collected_results results;
  running run{graph::from_text(text), calling({{"program", results.taker()}})};
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  CHECK(results.count() == frames);
  CHECK(count_of(summary.ledger, outcome::delivered) == frames);
  check_depths(summary);
  for (const auto& [from, to] : {std::pair{"capture", "bundle"}, std::pair{"bundle", "schedule"}}) {
    const auto& edge = edge_of(summary, from, to);
    if (!sanitized)
      CHECK(edge.peak_depth == edge.capacity);
    CHECK(edge.drops == 0);
  }
  check_ledger(summary);
}

TEST_CASE("small capacities hold: every edge at 1") {
  auto text = chain(file_camera("cam", 200));
  text = with(text, "from: capture,", "from: { stage: capture, capacity: 1 },");
  text = with(text, "from: bundle }", "from: { stage: bundle, capacity: 1 } }");
  text = with(text, "from: schedule,", "from: { stage: schedule, capacity: 1 },");
  text = with(text, "from: infer }", "from: { stage: infer, capacity: 1 } }");
  text = with(text, "from: unbundle }", "from: { stage: unbundle, capacity: 1 } }");
  collected_results results;
  running run{graph::from_text(text), calling({{"program", results.taker()}})};
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  CHECK(results.count() == 200);
  check_depths(summary);
  check_ledger(summary);
}

TEST_CASE("a live camera that is too fast: the newest frames arrive, every drop is accounted for") {
  collected_results results{[](const frame_result&) { work_a_little(); }};
  auto text = chain(std::string{push_stream} + ", live: true } }\n");
  text =
    with(text, "from: capture,", "from: { stage: capture, capacity: 4, overflow: drop_oldest },");
  running run{graph::from_text(text), calling({{"program", results.taker()}})};
  const auto port = run.input("cam");
  wait_for("the camera to open", [&] { return port->frame_bytes() > 0; });
  const std::vector<std::byte> pixels(port->frame_bytes(), std::byte{100});
  capture_time t{};
  std::uint64_t pushed = 0;
  const auto push = [&] {
    ++pushed;
    return port->push(pixels, t += std::chrono::milliseconds{1}) == push_result::taken;
  };
  wait_for("a thousand drops", [&] {
    push();
    return count_of(run.progress().ledger, outcome::dropped) >= 1'000;
  });
  while (!push()) // what finds no room is a drop; the one that is taken is the newest
    std::this_thread::yield();
  port->close();
  const auto summary = run.finish();

  CHECK(results.fault() == "");
  CHECK(results.count() == pushed);
  REQUIRE(!results.of(0).empty());
  CHECK(results.of(0).back()->meta.frame_id == pushed - 1);
  CHECK(results.of(0).back()->what == outcome::delivered);
  CHECK(summary.ledger.captured == pushed);
  const auto dropped = count_of(summary.ledger, outcome::dropped);
  CHECK(dropped >= 1'000);
  CHECK(count_of(summary.ledger, outcome::delivered) + dropped == pushed);
  CHECK(
    count_of(summary.ledger, reason::edge_full) + count_of(summary.ledger, reason::pool_empty)
    == dropped);
  const auto gaps = std::ranges::count_if(
    results.of(0), [](const frame_result_ptr& r) { return r->what == outcome::dropped; });
  CHECK(static_cast<std::uint64_t>(gaps) == dropped);
  // A dropping edge may hold one item beyond its capacity for a moment: the one that evicts.
  CHECK(edge_of(summary, "capture", "bundle").peak_depth <= 5);
  CHECK(edge_of(summary, "capture", "bundle").drops == count_of(summary.ledger, reason::edge_full));
  check_ledger(summary);
}

TEST_CASE("a slow sink of its own with a dropping edge slows nobody down") {
  collected_results results;
  std::uint64_t slow = 0;
  // The first item is held until all others have come to the fast sink; with one processor the
  // stages have one thread, which must not be held.
  const bool holds = std::thread::hardware_concurrency() > 1;
  const auto hold = [&](const item&) {
    ++slow;
    if (holds)
      wait_for("the fast sink", [&] { return results.count() == 300; });
  };
  running run{
    graph::from_text(
      chain(file_camera("cam", 300))
      + "  slow: { type: callback, from: { stage: unbundle, capacity: 4, overflow: drop_oldest } "
        "}\n"),
    calling({{"program", results.taker()}, {"slow", hold}})};
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  CHECK(results.count() == 300);
  const auto& edge = edge_of(summary, "unbundle", "slow");
  CHECK(edge.drops > 0);
  CHECK(slow + edge.drops == 300);
  for (const auto& e : summary.edges)
    if (e.to != "slow")
      CHECK(e.drops == 0);
  // What a sink's edge drops is no outcome: its frames were delivered before.
  CHECK(count_of(summary.ledger, outcome::delivered) == 300);
  check_ledger(summary);
}

TEST_CASE("a corrupt frame fails alone") {
  collected_results results;
  running run{
    graph::from_text(chain(std::string{push_stream} + ", live: false } }\n")),
    calling({{"program", results.taker()}})};
  const auto port = run.input("cam");
  wait_for("the camera to open", [&] { return port->frame_bytes() > 0; });
  const std::vector<std::byte> pixels(port->frame_bytes(), std::byte{100});
  for (std::uint64_t i = 0; i < 16; ++i) {
    push_details details;
    details.flags = i == 5 ? frame_corrupt : 0;
    push_taken(*port, pixels, capture_time{std::chrono::milliseconds{10 * i}}, details);
  }
  port->close();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  REQUIRE(results.of(0).size() == 16);
  for (std::uint64_t i = 0; i < 16; ++i) {
    const auto& r = *results.of(0)[i];
    INFO("frame ", i);
    CHECK(r.what == (i == 5 ? outcome::failed : outcome::delivered));
    CHECK(r.why == (i == 5 ? reason::corrupt : reason::none));
    CHECK((r.inferred != nullptr) == (i != 5));
  }
  CHECK(count_of(summary.ledger, outcome::failed) == 1);
  check_ledger(summary);
}
