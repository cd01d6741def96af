#pragma once

#include "tests/system/node_process.hpp"
#include "tests/system/on_nodes.hpp"
#include "tests/system/summary_checks.hpp"

#include <string>
#include <vector>

/// Graphs whose workers are on nodes.
namespace hyperframes::test {

inline std::string
placed(const std::string& streams, int workers, const std::vector<std::string>& nodes) {
  auto text = with(
    chain(streams), "type: infer, from: schedule",
    "type: infer, from: schedule, node: any, workers: " + std::to_string(workers));
  text += "nodes: { ";
  for (const auto& n : nodes)
    text += n + ", ";
  return text + "}\n";
}

inline void check_all_delivered(
  const run_summary& summary, const collected_results& results, std::uint64_t frames) {
  CHECK(results.fault() == "");
  CHECK(results.count() == frames);
  CHECK(count_of(summary.ledger, outcome::delivered) == frames);
  check_ledger(summary);
}

} // namespace hyperframes::test
