#include "tools/bench/soak_growth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hyperframes::bench {

namespace {

constexpr std::size_t least_values = 12;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Medians of the first and the last third.
std::pair<double, double> ends_of(std::vector<double> values) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4));
  std::erase_if(values, [](double v) { return std::isnan(v); });
  if (values.size() < least_values)
    return {none, none};
  const auto third = static_cast<std::ptrdiff_t>(values.size() / 3);
  return {
    samples{{values.begin(), values.begin() + third}}.median(),
    samples{{values.end() - third, values.end()}}.median()};
}

std::vector<double> row_of(const soak_turn& turn, double soak_sample::*what) {
  std::vector<double> row;
  for (const auto& s : turn.samples)
    row.push_back(s.*what);
  return row;
}

struct rule {
  const char* metric;
  const char* unit;
  double (*measure)(const soak_turn&);
  double most;
};

const rule rules[] = {
  {"memory beside the pools grew by", "MiB",
   [](const soak_turn& t) { return growth_of(row_of(t, &soak_sample::memory_mib)); }, 4},
  {"memory in use in the pools grew by", "MiB",
   [](const soak_turn& t) { return growth_of(row_of(t, &soak_sample::pools_mib)); }, 4},
  {"handles grew by", "handles",
   [](const soak_turn& t) { return growth_of(row_of(t, &soak_sample::handles)); }, 0},
  {"threads grew by", "threads",
   [](const soak_turn& t) { return growth_of(row_of(t, &soak_sample::threads)); }, 0},
  {"queues grew by", "items",
   [](const soak_turn& t) { return growth_of(row_of(t, &soak_sample::queued)); }, 2},
  {"latency, end / beginning", "x",
   [](const soak_turn& t) { return rise_of(row_of(t, &soak_sample::latency_ms)); }, 1.25},
  {"frames without an outcome", "frames", [](const soak_turn& t) { return t.open_frames; }, 0},
  {"failed", "turns", [](const soak_turn& t) { return t.failed ? 1.0 : 0.0; }, 0},
};

} // namespace

double growth_of(std::vector<double> values) {
  const auto [first, last] = ends_of(std::move(values));
  return last - first;
}

double rise_of(std::vector<double> values) {
  const auto [first, last] = ends_of(std::move(values));
  return last / first;
}

report soak_report(const std::vector<soak_turn>& turns) {
  report r;
  r.method = "Graphs run in turn, each turn in a new process of the command, in real time, without "
             "an end of their own. At "
             "equal intervals: resident memory without the slots of pools that were ever in use (they "
             "stay resident), the slots that are in use, open handles and threads of the process, "
             "items in the graph's edges (moving "
             "averages), and the median latency of the results since the last look. Without the "
             "first quarter of a turn, "
             "which warms up: the median of the last third against that of the first third. Each "
             "turn drains, and its ledger "
             "is read. Value: the worst turn; min and max: over the turns.";
  std::vector<std::string> graphs;
  for (const auto& t : turns)
    if (std::ranges::count(graphs, t.graph) == 0)
      graphs.push_back(t.graph);
  for (const auto& g : graphs)
    for (const auto& rule : rules) {
      samples all;
      for (const auto& t : turns)
        if (t.graph == g)
          all.values.push_back(rule.measure(t));
      r.results.push_back(
        {g + ": " + rule.metric, all.most(), rule.unit, all.least(), all.most(),
         at_most(rule.most)});
    }
  return r;
}

} // namespace hyperframes::bench
