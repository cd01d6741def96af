#pragma once

#include "tools/bench/benchmark.hpp"

/// A function for each benchmark, in a file of its name.
namespace hyperframes::bench {

report hop(const context& c);

report start(const context& c);
report start_report(
  const std::vector<std::vector<double>>& runs); ///< seconds a hyperframe, the first one first
std::vector<double> start_once(const std::vector<std::string>&); ///< a run

} // namespace hyperframes::bench
