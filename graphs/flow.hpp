#pragma once

#include "graphs/cost_model.hpp"

#include <cstdint>
#include <limits>

namespace hyperframes {

/// What comes in.
struct flow_load {
  std::uint32_t streams = 1;
  std::uint32_t group = 1;   ///< streams that are aligned
  std::uint32_t members = 1; ///< streams that share a hyperframe: 1, or `group`
  double fps = 30;           ///< of a live stream
  bool live = true; ///< in step, and never held back; false: files, as fast as they are taken
  std::uint32_t frames = 600; ///< of each stream
};

/// What the graph does with it.
struct flow_settings {
  static constexpr auto unbounded = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t size = 8;  ///< B
  std::uint32_t batch = 8; ///< slots
  flow_resources shared{};
  std::uint32_t prefetch = 30;    ///< frames of a file that are read ahead
  std::uint32_t frames = 8;       ///< of a stream on the edge into bundle
  std::uint32_t hyperframes = 16; ///< queued in schedule; live streams drop the oldest
  std::uint32_t batches = 3;      ///< dispatched and not finished
  bool expires = false;           ///< dispatch waits for a free worker while batches are not quick
};

struct flow_outcome {
  double fps = 0;                   ///< frames delivered per second, from the start to the last one
  duration p50{}, p99{}, longest{}; ///< from arrival to delivery
  std::uint64_t delivered = 0, dropped = 0;
  double infer_busy = 0; ///< share of the workers' time
};

/// Plays what a graph does with its load, by the costs of its stages: who waits for whom, bursts of
/// cameras in step, queues that fill, files that are held back, hyperframes that share a batch.
///
/// Stages work one item after the other. The n that need a core at a moment share the cores
/// equally,
///   speed of each = min(1, cores / n)
/// (processor sharing; Kleinrock, 1967); a device works beside them at full speed. What a machine
/// does besides, and faults, are not in it. Pure: the same in gives the same out.
flow_outcome play_flow(const cost_model& costs, const flow_load& load, const flow_settings& with);

} // namespace hyperframes
