#pragma once

#include "graphs/graph.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// What was found out of a graph's cameras and models where they are, for a process that plans the
/// graph without them.
namespace hyperframes {

/// @returns what is known in `graph` (`info`, `resource`), and the faults that were found.
std::vector<std::byte>
write_facts(const checked_graph& graph, const std::vector<fault>& faults = {});
/// Fills `info` and `resource` in `graph` where they are not known yet. @returns the faults;
/// nothing where these are no facts, or those of another graph.
std::optional<std::vector<fault>>
read_facts(std::span<const std::byte> facts, checked_graph& graph);

/// As `plan_graph`, for a graph whose cameras and models were looked at.
plan_result plan_found_graph(checked_graph& graph);

} // namespace hyperframes
