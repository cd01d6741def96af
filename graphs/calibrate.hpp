#pragma once

#include "graphs/batch_plan.hpp"

#include <functional>
#include <string>

namespace hyperframes {

/// What a pass of a calibration saw; sums over the pass.
struct calibration_pass {
  std::uint32_t size = 1; ///< B
  std::uint64_t frames = 0, hyperframes = 0, batches = 0;
  double slots = 0;                                           ///< in all batches
  duration acquire{}, pack{}, schedule{}, infer{}, deliver{}; ///< of all
  duration stages{}; ///< all that stages did on the threads that they share
  duration cpu{};    ///< of the process
  bool infer_on_cpu = true;
};

/// The costs that passes tell. What the stages did on shared threads is wall time: where that is
/// more than the CPU time that is left for it, others were in the way, and it counts in proportion,
///   cost = wall x min(1, (cpu - acquire - infer) / wall of all of them).
/// The rest of the CPU time is `other`. k = pack in the hyperframes / pack alone.
stage_costs costs_of(const std::vector<calibration_pass>& passes);

/// Runs the graph in short passes of hyperframes of 1, 2, 4 … frames with real threads, and
/// measures what its stages take: reading and inference by CPU time of their threads, or by time
/// where the device is simulated. Cameras that can be read faster than they are live are; whatever
/// the graph writes goes into a folder that is removed. Takes a second or so for each pass. Throws
/// `graph_error` or `failure` where the graph does not start.
stage_costs calibrate(
  const std::string& path, const graph_options& options, const batch_task& task,
  const std::function<void(const std::string&)>& tell = {});

} // namespace hyperframes
