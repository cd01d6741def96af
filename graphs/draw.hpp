#pragma once

#include "graphs/graph.hpp"

#include <string>

/// Pictures of a checked graph. Where it was planned, the policies behind cameras are named too.
namespace hyperframes {

/// For Graphviz: `hyperframes graph --format dot g.yaml | dot -Tpng`.
std::string draw_dot(const checked_graph& graph);
/// For Markdown.
std::string draw_mermaid(const checked_graph& graph);
/// A picture that stands alone, laid out in layers from left to right; readable on light and dark
/// ground.
std::string draw_svg(const checked_graph& graph);

/// "frame", "8 per stream", "drop_oldest": what a label of an edge says, line by line.
std::vector<std::string> label_of(const checked_graph& graph, const checked_edge& edge);

} // namespace hyperframes
