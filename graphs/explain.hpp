#pragma once

#include "graphs/graph.hpp"

#include <string>
#include <thread>

namespace hyperframes {

/// Every effective value of a planned graph, where it came from and what it leads to: streams,
/// stages, edges, waits, memory, threads, and rules that can never fire. For a person to read.
/// @param cores of the machine that the graph is to run on.
std::string explain(
  const checked_graph& graph, const graph_plan& plan,
  unsigned cores = std::thread::hardware_concurrency());

/// "default", "derived", "g.yaml:3:17", "environment, at g.yaml:3:17", "--set seed".
std::string source_in_words(const setting& s);

} // namespace hyperframes
