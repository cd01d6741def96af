#pragma once

#include "tools/bench/benchmark.hpp"

#include <string>
#include <vector>

/// The ladder that users climb: the same film through the same classifier, each rung as its users
/// write it.
namespace hyperframes::bench {

struct ladder_work {
  std::string film, model;
  unsigned threads = 1; ///< of a session, or sessions of one thread each
};

/// What a rung took for the whole film.
struct ladder_cost {
  double frames = 0, wall_seconds = 0, cpu_seconds = 0, peak_bytes = 0;
  double fps() const { return frames / wall_seconds; }
  double cpu_per_frame() const { return cpu_seconds / frames; }
};

/// The names of the rungs, from the lowest on: `one by one`, `prefetch`, `batch`, `pipeline`,
/// `hyperframes`.
const std::vector<std::string>& rungs();
/// A rung more, for comparison: HyperFrames with hyperframes and batches of one frame.
inline const std::string single_frames = "hyperframes of 1";

/// Runs a rung in a process of its own, since its peak memory counts. Throws `failure` where it
/// fails.
ladder_cost climb(const std::string& rung, const ladder_work& work);

/// CPU seconds for a frame of each step alone: reading the film, packing a frame, inference in
/// batches of 8. In a process of its own.
struct ladder_steps {
  double decode = 0, pack = 0, infer = 0;
  double sum() const { return decode + pack + infer; }
};
ladder_steps measure_steps(const ladder_work& work);

/// Climbs each of `names` and measures the steps, once uncounted, then in five rounds that each
/// begin with another. Throws `failure` where one brings other frames through than the others.
void climb_in_turns(
  const ladder_work& work, const std::vector<std::string>& names, const context& c,
  std::vector<std::vector<ladder_cost>>& rounds, std::vector<ladder_steps>& steps);

/// What the processes do. `climb_once`: rung, film, model, threads; `steps_once`: film, model.
std::vector<double> climb_once(const std::vector<std::string>& arguments);
std::vector<double> steps_once(const std::vector<std::string>& arguments);

} // namespace hyperframes::bench
