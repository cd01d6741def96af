#pragma once

#include "runtime/ledger.hpp"
#include "runtime/stage_host.hpp"
#include "runtime/telemetry.hpp"

#include <string>
#include <vector>

namespace hyperframes {

/// Copies a graph's numbers into the registry of the process's actor system, under the labels
/// graph, stage, edge, stream and pool, and gives all of the registry in Prometheus' text format.
/// Thread-safe. Costs a walk over all metrics: for scrapes, not for hot paths.
std::string metrics_text(
  const std::string& graph, const std::vector<stage_wiring>& stages, const telemetry& numbers,
  const ledger& accounts, graph_time now);

} // namespace hyperframes
