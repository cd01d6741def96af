#pragma once

#include "graphs/graph.hpp"

#include <string>

namespace hyperframes {

/// Text for `hyperframes stages` and `cameras`: what can be put into a graph. Made from the
/// descriptions that the checker uses.

/// Every stage type in a line: name, ports, summary.
std::string describe_stages(const catalogues& known);
/// One stage type whole: ports, parameters with units, ranges and defaults, an example.
/// @returns `errc::graph_invalid` with the nearest name where there is no such type.
expected<std::string> describe_stage(const catalogues& known, const std::string& name);

/// The same for cameras.
std::string describe_cameras(const catalogues& known);
expected<std::string> describe_camera(const catalogues& known, const std::string& name);

} // namespace hyperframes
