// Random graphs on the virtual clock: random streams, rates, stages, devices and faults. Whatever
// comes, every frame has one outcome, results are in order, and no edge holds more than it may.
#include "tests/system/collected.hpp"
#include "tests/system/random_graph.hpp"
#include "tests/system/summary_checks.hpp"

#include <cstdlib>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t cases = 100;
#else
constexpr std::uint32_t cases = 500;
#endif

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
