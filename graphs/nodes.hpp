#pragma once

#include "graphs/check.hpp"

/// Where stages run: the key `nodes` of a graph and the key `node` of its stages.
///
///   nodes: { a: 10.0.0.2:4100, b: 10.0.0.3:4100 }
///   stages:
///     infer: { type: infer, from: schedule, workers: 4, node: [a, b] }   # or: node: any
namespace hyperframes {

void check_nodes(const document_node& nodes, graph_check& check);
/// @param written the value of `node`. The nodes are known.
void check_placement(
  const document_node& written, const std::string& name, checked_stage& stage, graph_check& check);

} // namespace hyperframes
