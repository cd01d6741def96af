#pragma once

#include "graphs/batch_plan.hpp"

#include <cstdint>
#include <string>

namespace hyperframes {

/// What a plan is reported with.
struct plan_report {
  const batch_plan& plan;
  const batch_task& task;
  const cost_model& costs;
  std::string source;                           ///< of the costs: "measured", "given"
  std::uint64_t memory = 0, memory_planned = 0; ///< bytes, of the graph's own streams
};

/// For a person at a terminal: costs, values, what they lead to, remarks.
std::string to_text(const plan_report& r);
/// The planned values as they stand in a graph file.
std::string to_yaml(const plan_report& r);
/// The same as arguments: `--set stages.bundle.size=8 ...`.
std::string to_arguments(const plan_report& r);
/// Each B with its best batch: a table.
std::string sweep_table(const plan_report& r);
/// The same as a picture that stands alone: throughput and latency over B.
std::string draw_sweep(const plan_report& r);

} // namespace hyperframes
