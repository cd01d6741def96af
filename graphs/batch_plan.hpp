#pragma once

#include "graphs/flow.hpp"
#include "graphs/graph.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What size of hyperframes and batches suits a graph, and what it then carries.
namespace hyperframes {

/// What a user asks for that the graph does not say.
struct plan_wishes {
  std::optional<duration> target{};       ///< for the 99th percentile; none: the graph's budget
  std::optional<std::uint32_t> cameras{}; ///< instead of the graph's
  std::optional<double> fps{};            ///< of each camera; the streams are then taken to be live
  std::uint32_t cores = 1;
};

/// What is to be planned.
struct batch_task {
  std::string graph;
  std::string bundle, schedule, infer; ///< stages
  std::string above_schedule;          ///< what its `from` names
  flow_load load;
  flow_settings as_is;
  duration timeout_as_is{}; ///< of `bundle`, that of the rule `late` included; 0: none
  std::optional<duration> target{};
  bool target_asked = false;     ///< it is not the graph's own
  duration align{};              ///< the longest that align waits
  std::uint32_t fixed_batch = 0; ///< slots that the model takes; 0: any number
  bool has_size = true;          ///< B can be chosen: not with `over: cameras`
  bool has_release_count = false;
  bool simulated = false;
  bool has_faults = false; ///< asked for in the graph: not part of any prediction
};

/// Reads it from a planned graph. Throws `failure` where the graph has not exactly one stage
/// `infer` with one `bundle` and one `schedule` above it, has no streams, or releases its
/// hyperframes by something else than their size.
batch_task
batch_task_of(const checked_graph& graph, const graph_plan& plan, const plan_wishes& wishes);

struct batch_choice {
  flow_settings with;
  cost_model::rate capacity; ///< where nothing waits for cameras
  flow_limit limit{};        ///< of `played`: `cameras` where there is room for more
  flow_outcome played;
  duration frame_wait{}, event_wait{}; ///< the longest, for the hyperframe; 0 with files
  duration timeout{};                  ///< of release; 0: none
  std::uint32_t ring = 0;              ///< frames of a stream that are under way
  bool in_time = true;                 ///< no frame is lost, and the target is kept
};

struct batch_plan {
  batch_choice as_is, best;
  std::vector<batch_choice> sweep; ///< the best one of each B
  std::uint32_t largest_size = 0;  ///< that the target allows by formula; 0: none
  double gain = 0;                 ///< capacity of `best` / capacity of frames alone - 1
  std::vector<std::string> remarks;
};

/// Tries sizes of hyperframes and batches, and as many workers as they need. Of what is in time,
/// the one that carries most; of those that carry nearly as much (within 5 %), the one with the
/// smallest B and batch. Where nothing is in time, what comes nearest.
batch_plan plan_batches(const cost_model& costs, const batch_task& task);

/// The values of `best` by path, as `--set` takes them.
std::vector<std::pair<std::string, std::string>>
values_of(const batch_plan& plan, const batch_task& task);

/// Sets values in place of those that `options` set at the same paths.
void override_with(
  graph_options& options, const std::vector<std::pair<std::string, std::string>>& values);

} // namespace hyperframes
