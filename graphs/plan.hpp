#pragma once

#include "graphs/graph.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The steps of `plan_graph`.
namespace hyperframes {

/// What a stage that makes hyperframes makes of its streams.
struct bundler_shape {
  bool makes_hyperframes = false;
  bool per_stream = false;        ///< one open hyperframe per stream instead of one per group
  std::uint32_t slots = 0;        ///< B, the most of all groups
  std::uint32_t fewest_slots =
    0; ///< of what goes out, the fewest of all groups: B, or what follows a first part
  std::uint32_t first_slots =
    0; ///< of a part that goes ahead, the most of all groups; 0: none does
  std::uint32_t fewest_first_slots = 0;
  std::uint32_t own_slots = 0;    ///< the most that one stream has of them
  std::uint32_t units = 0;        ///< streams or groups, each with an open hyperframe
  bool keeps_frames = false;
};

/// A graph while it is planned.
struct planning {
  checked_graph& graph;
  std::vector<fault>& faults;
  graph_plan plan{};
  std::vector<std::size_t> order{};      ///< stages, above before below
  std::vector<bundler_shape> bundlers{}; ///< per stage

  void fail(const source_mark& where, std::string sentence) {
    faults.push_back({where, std::move(sentence)});
  }
  bool fails_later_than(std::size_t faults_before) const { return faults.size() > faults_before; }
};

/// Looks at what the graph names: its files, cameras and models. Fills `checked_stream::info` and
/// `checked_stage::resource` of all that are `sound`, and adds a fault for each that cannot be used.
void check_resources(checked_graph& graph, std::vector<fault>& faults);

// In the order in which `plan_graph` takes them.
void plan_streams(planning& p);   ///< facts and groups
void plan_edges(planning& p);     ///< policies that depend on the cameras
void plan_bundlers(planning& p);  ///< shapes; models against hyperframes
void plan_bounds(planning& p);    ///< frames, tensors, reorder
void plan_memory(planning& p);
void plan_waits(planning& p);
void plan_remarks(planning& p);

// --- what the steps and `explain` share

/// The value at a path such as "release.timeout"; null where it has none.
const setting* value_at(const settings& s, std::string_view path);
const duration* duration_at(const settings& s, std::string_view path);
const std::int64_t* integer_at(const settings& s, std::string_view path);
bool flag_at(const settings& s, std::string_view path); ///< false where it has no value
std::string text_at(const settings& s, std::string_view path);

/// Calls `visit` for each parameter with a value, those of objects too, with its path.
void for_each_value(
  const std::vector<parameter>& parameters, const settings& s, const std::string& path,
  const std::function<void(const std::string&, const parameter&, const setting&)>& visit);

std::int64_t capacity_of(const checked_edge& e);
/// Of an own slot's stage: a stream's rate, `defaults::assumed_fps` where it is unknown.
double fps_of(const checked_graph& graph, stream_index stream);
/// "'cam1'", "'cam1' and 11 more".
std::string streams_in_words(const checked_graph& graph, const std::vector<stream_index>& streams);
/// Slots of a batch on an edge into `stage`.
std::uint64_t batch_slots(const checked_stage& stage);

} // namespace hyperframes
