#pragma once

#include "tools/bench/benchmark.hpp"

#include <string>
#include <vector>

/// What a soak looks for: a graph that runs for long must hold as much at its end as it did at its
/// beginning.
namespace hyperframes::bench {

/// What a run held at one moment.
struct soak_sample {
  double memory_mib = 0; ///< resident, without the slots of pools that were ever in use
  double pools_mib = 0;  ///< slots of pools that are in use
  double handles = 0;    ///< open files and sockets
  double threads = 0;
  double queued = 0; ///< items in all edges, moving averages
  double latency_ms =
    0; ///< the median of what came out since the last sample; not a number: nothing did
};

/// A graph's run in a process of its own.
struct soak_turn {
  std::string graph;
  std::vector<soak_sample> samples; ///< at equal intervals
  double open_frames =
    0; ///< captured and without an outcome at the end; not a number: there was no summary
  bool failed = false; ///< its process ended otherwise than with status 0
};

/// How much a row of values ends above where it began:
///   median(last third) - median(first third), of what is left without the first quarter, which
///   warms up.
/// Values that are no numbers are left out.
/// @returns not a number where fewer than 12 values are left: too short to tell.
double growth_of(std::vector<double> values);
/// The same as a ratio of the two medians.
double rise_of(std::vector<double> values);

/// The worst turn of each graph against what is allowed. Misses its goals also where a turn was too
/// short to tell.
report soak_report(const std::vector<soak_turn>& turns);

} // namespace hyperframes::bench
