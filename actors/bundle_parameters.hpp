#pragma once

#include "actors/bundle.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// What a graph file may say of `bundle`.
namespace hyperframes {

enum class bundle_over : std::uint8_t { time, cameras, both };

std::vector<parameter> bundle_parameters();
bundle_over bundle_over_of(const settings& s);

/// The lanes of a stage that `streams` pass, in the order of the groups and of their members. What is
/// packed is left open.
std::vector<bundle_lane> bundle_lanes(bundle_over over, const graph_facts& graph,
                                      std::span<const stream_index> streams);
/// With `late` where nothing else bounds the time: no `timeout`, no `window`, and no `trigger` that is
/// waited for.
bundle_options bundle_options_of(const settings& s);

/// The rules between the parameters.
void check_bundle(const settings& s, const source_mark& mark, std::vector<fault>& faults);
/// The rules between the parameters and what comes in: `trigger` and an edge with triggers need each
/// other.
void check_bundle_inputs(const settings& s, std::span<const port_type> inputs,
                         const source_mark& mark, std::vector<fault>& faults);

} // namespace hyperframes
