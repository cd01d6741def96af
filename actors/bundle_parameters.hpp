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
