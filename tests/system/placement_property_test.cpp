// Random graphs with their stages in other processes: what holds in one process holds there too.
#include "tests/system/node_process.hpp"
#include "tests/system/on_nodes.hpp"
#include "tests/system/random_graph.hpp"
#include "tests/system/summary_checks.hpp"

#include <cstdlib>
#include <random>
#include <string>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

constexpr std::uint32_t cases = 8;

/// The stages up to the hyperframes in one place, the scheduler and the workers in any. Without the
/// machine's clock in it, a case takes as long as its simulated devices.
std::string placed_at_random(std::uint32_t seed, const std::string& nodes) {
  auto text = random_graph{seed}.text();
  std::mt19937 random{seed};
  const auto pick = [&](std::initializer_list<const char*> places) {
    return std::string{*(places.begin() + random() % places.size())};
  };
  const auto place = [&](const std::string& type, const std::string& where) {
    const auto stage = "{ type: " + type + ',';
    if (!where.empty() && text.find(stage) != std::string::npos)
      text = with(text, stage, stage + " node: " + where + ',');
  };
  for (auto at = text.find("realtime: true"); at != std::string::npos;
       at = text.find("realtime: true"))
    text.replace(at, 14, "realtime: false");
  text = with(text, "{ type: capture }", "{ type: capture, streams: \"*\" }");
  // A call that hangs keeps a thread of this process for ever, wherever its worker is.
  if (const auto at = text.find("kind: hang, at: [2]"); at != std::string::npos)
    text.replace(at, 19, "kind: throw, at: [2]");
  const auto front = pick({"a", "b", "[a, b]", ""});
  for (const auto* type : {"capture", "align", "bundle"})
    place(type, front);
  place("schedule", pick({"a", "b", "[b, a]", ""}));
  place("infer", pick({"any", "b", ""}));
  return text + "nodes: { " + nodes + " }\n";
}

} // namespace

TEST_CASE("random graphs on nodes: one outcome each, in order, within the bounds") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  node_process a{folder, "a", "0", {"--slots", "4"}}, b{folder, "b", "0", {"--slots", "4"}};
  const auto network = network_of(certs);
  // HYPERFRAMES_SEED=n begins with the case that failed, HYPERFRAMES_CASES=n runs so many.
  const auto number = [](const char* name, std::uint32_t otherwise) {
    const auto* text = std::getenv(name);
    return text ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
  };
  const auto first = number("HYPERFRAMES_SEED", 0), count = number("HYPERFRAMES_CASES", cases);
  std::uint64_t captured = 0, delivered = 0;
  for (auto seed = first; seed < first + count; ++seed) {
    const auto text = placed_at_random(seed, a.entry() + ", " + b.entry());
    INFO("HYPERFRAMES_SEED=", seed, " HYPERFRAMES_CASES=1\n", text);
    collected_results results;
    told events;
    run_summary summary;
    try {
      running run{graph::from_text(text), on_nodes(results, events, network)};
      summary = run.finish();
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
