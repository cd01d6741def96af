// Random graphs on the virtual clock: random streams, rates, stages, devices and faults. Whatever
// comes, every frame has one outcome, results are in order, and no edge holds more than it may.
#include "tests/system/collected.hpp"
#include "tests/system/summary_checks.hpp"

#include <cstdlib>
#include <random>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t cases = 100;
#else
constexpr std::uint32_t cases = 500;
#endif

/// The text of a graph that depends on nothing but the seed.
class random_graph {
public:
  explicit random_graph(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    const auto groups = 1 + upto(3), members = 1 + upto(3);
    const bool aligned = members > 1 && upto(3) > 0;
    const bool live = upto(3) > 0;
    std::string t = "hyperframes: 1\nname: random\nseed: " + std::to_string(upto(1000)) + "\n";
    if (live && upto(2) == 0)
      t += "latency_budget: " + std::to_string(500 + 100 * upto(10)) + "ms\n";
    t += "streams:\n";
    for (int g = 0; g < groups; ++g)
      for (int m = 0; m < members; ++m)
        t += "  - { id: g" + std::to_string(g) + ".c" + std::to_string(m) + ", group: g"
             + std::to_string(g) + ", camera: { type: synthetic, scene: counter, size: 16x16, fps: "
             + pick({"10", "25", "30"}) + ", frames: " + std::to_string(1 + upto(60))
             + ", realtime: " + (live ? "true" : "false") + faults(camera_fault_kinds) + " } }\n";
    t += "stages:\n  capture: { type: capture }\n";
    std::string from = "capture";
    if (aligned) {
      t += "  align: { type: align, from: capture, tolerance: " + pick({"5ms", "20ms"})
           + ", wait: " + pick({"40ms", "100ms"}) + ", missing: "
           + pick({"strict", "hold_last", "partial", "at_least, least: 1"}) + " }\n";
      from = "align";
    }
    const auto over = aligned ? pick({"time", "cameras", "both"}) : std::string{"time"};
    const auto size = 1 + upto(8);
    t += "  bundle: { type: bundle, from: " + from + ", over: " + over
         + (over == "cameras" ? "" : ", size: " + std::to_string(size))
         + (over != "cameras" && size > 1 && upto(3) == 0 ? ", stream_first: true" : "")
         + ", release: { timeout: " + pick({"100ms", "300ms"}) + " } }\n";
    t += "  schedule: { type: schedule, from: { stage: bundle, capacity: "
         + std::to_string(1 + upto(16))
         + ", overflow: " + (live ? pick({"drop_oldest", "drop_newest"}) : std::string{"block"})
         + " }, order: " + pick({"fifo", "deadline", "priority", "fair"}) + " }\n";
    const auto device =
      "fixed: " + std::to_string(upto(30)) + "ms, per_slot: " + std::to_string(upto(10)) + "ms";
    t += "  infer: { type: infer, from: schedule, backend: simulated, simulated: { " + device
         + " }, workers: " + std::to_string(1 + upto(3)) + ", hang_after: 2s, batch: { max: "
         + std::to_string(1 + upto(16)) + " }" + faults(worker_fault_kinds) + " }\n";
    t += "  unbundle: { type: unbundle, from: infer }\n"
         "  program: { type: callback, from: unbundle }\n";
    return t;
  }

private:
  static inline const std::vector<std::string> camera_fault_kinds{
    "kind: skew, by: 20ms, drift: 200",  "kind: jitter, rate: 0.2, by: 30ms",
    "kind: gap, rate: 0.05, count: 3",   "kind: duplicate, rate: 0.05",
    "kind: jump_back, at: [20], by: 5s", "kind: jump_forward, at: [25], by: 60s",
    "kind: lying_rate, fps: 60",         "kind: corrupt, rate: 0.1",
    "kind: silence, at: [10], for: 2s"};
  static inline const std::vector<std::string> worker_fault_kinds{
    "kind: slow, rate: 0.1, by: 200ms",
    "kind: throw, rate: 0.1",
    "kind: hang, at: [2]",
    "kind: vanish, rate: 0.05",
    "kind: wrong_shape, rate: 0.1",
    "kind: vanish, at: [1], tries: 2"};

  int upto(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  std::string pick(std::initializer_list<const char*> words) {
    return *(words.begin() + upto(static_cast<int>(words.size())));
  }
  std::string faults(const std::vector<std::string>& kinds) {
    std::string text;
    for (const auto& k : kinds)
      if (upto(8) == 0)
        text += (text.empty() ? ", faults: [ { " : ", { ") + k + " }";
    return text.empty() ? "" : text + " ]";
  }

  std::mt19937 random_;
};

} // namespace

TEST_CASE(
  "whatever the graph, the rates and the faults: one outcome each, in order, within the bounds") {
  std::uint64_t captured = 0, delivered = 0;
  // HYPERFRAMES_SEED=n begins with the case that failed, HYPERFRAMES_CASES=n runs so many.
  const auto number = [](const char* name, std::uint32_t otherwise) {
    const auto* text = std::getenv(name);
    return text ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
  };
  const auto first = number("HYPERFRAMES_SEED", 0), count = number("HYPERFRAMES_CASES", cases);
  for (auto seed = first; seed < first + count; ++seed) {
    const auto text = random_graph{seed}.text();
    INFO("HYPERFRAMES_SEED=", seed, " HYPERFRAMES_CASES=1\n", text);
    collected_results results;
    run_summary summary;
    try {
      // Every third case is drained in the middle.
      const auto until =
        seed % 3 == 0 ? graph_time{std::chrono::milliseconds{seed * 37 % 2'000}} : never;
      summary =
        run_virtually(graph::from_text(text), until, calling({{"program", results.taker()}}));
    } catch (const std::exception& e) {
      FAIL(std::string{e.what()});
    }
    CHECK(results.fault() == "");
    CHECK(results.count() == summary.ledger.captured);
    CHECK_FALSE(summary.failed);
    check_ledger(summary);
    for (const auto& e : summary.edges) {
      INFO("edge ", e.from, " -> ", e.to);
      CHECK(e.peak_depth <= e.capacity);
    }
    captured += summary.ledger.captured;
    delivered += count_of(summary.ledger, outcome::delivered);
  }
  MESSAGE(captured, " frames, ", delivered, " delivered");
  if (count >= cases)
    CHECK(delivered > captured / 4); // the graphs are no nonsense
}
