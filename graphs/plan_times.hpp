#pragma once

#include "actors/bundle_parameters.hpp"
#include "graphs/plan.hpp"

/// The rules of time of `bundle` and `align` at a place in a graph, for its waits and remarks.
namespace hyperframes {

/// A stage of type `bundle`.
struct bundle_times {
  bundle_options options;
  std::vector<bundle_lane> lanes;
};
/// @returns none where the stage is no `bundle`.
std::optional<bundle_times> bundle_times_of(const planning& p, std::size_t stage);

/// By when a hyperframe is closed, counted from when it was opened or a trigger asked for it.
struct release_bound {
  const char* rule = nullptr; ///< "release.timeout"; null: nothing bounds it
  duration longest = duration::max();
};
/// The rules of `options` that bound the time of a hyperframe of `lane`, the shortest first; none
/// for files that are not read in real time.
std::vector<release_bound> release_bounds(const bundle_options& options, const bundle_lane& lane);

/// The streams of a group that pass a stage of type `align`.
struct matched_group {
  std::vector<stream_index> members; ///< two or more
  bool live = false;                 ///< one of them is: time goes on
};
/// @returns none where the stage is no `align`.
std::vector<matched_group> matched_groups(const planning& p, std::size_t stage);

/// The streams of a group that form sets: with `linear` those that are not interpolated beside
/// images, with `hold_last` the fastest one.
std::vector<stream_index> set_forming(const planning& p, std::size_t stage, const matched_group& g);

// What will never happen there, and what waits for ever; to the plan's remarks.
void add_bundle_remarks(planning& p, std::size_t stage);
void add_align_remarks(planning& p, std::size_t stage);
/// What a device whose times are known cannot manage; to the plan's remarks.
void add_load_remarks(planning& p, std::size_t stage);

/// "33.3ms", for reading.
std::string about_duration(duration d);

/// One frame after the other of a stream that says its rate; none: it does not.
std::optional<duration> period_of(const planning& p, stream_index stream);

} // namespace hyperframes
