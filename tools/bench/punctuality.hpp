#pragma once

#include "runtime/time.hpp"
#include "tools/bench/benchmark.hpp"

namespace hyperframes::bench {

/// What was seen for one set time.
struct punctuality_row {
  duration set{};
  bool loaded = false;
  std::vector<std::vector<double>> rounds; ///< ms from the set time on; early is negative
};

/// @returns the 99th percentile of the deviations' sizes: early counts as late does. Infinite ones
/// count.
double p99_of_size(std::vector<double> deviations);

report punctuality_report(const std::string& method, const std::vector<punctuality_row>& rows);

} // namespace hyperframes::bench
