#pragma once

#include "runtime/time.hpp"
#include "tools/bench/soak_growth.hpp"

#include <functional>
#include <string>

namespace hyperframes::bench {

/// Runs a graph file with the command beside this program for `length`, in real time, with cameras
/// that do not end, and looks at it about a hundred times. What it writes goes into a folder that
/// is removed. Blocks; a process that does not end within a minute of its time is killed. Throws
/// `failure` where the graph is wrong or nothing can be started.
/// @param tell is told how far it is, after each look.
soak_turn run_soak_turn(
  const std::string& graph_file, duration length,
  const std::function<void(double seconds, const soak_sample&)>& tell = {});

/// The medians, and other numbers, that a look needs; apart, so that they can be tested.
double median_latency(
  const std::string& result_lines); ///< of lines as `jsonl` writes them; ms, not a number: none
double queued_items(const std::string& metrics); ///< sum of the edges' average depths
/// What a graph's pools have of the process's memory, MiB. A slot becomes resident when it is first
/// used, and the slot that was given back last is used next: as many are resident as were in use at
/// once.
struct pool_memory {
  double touched = 0; ///< resident
  double in_use = 0;
};
pool_memory memory_of_pools(const std::string& metrics);

} // namespace hyperframes::bench
