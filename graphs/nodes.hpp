#pragma once

#include "graphs/check.hpp"

/// Where stages run: the key `nodes` of a graph and the key `node` of its stages.
///
///   nodes: { a: 10.0.0.2:4100, b: 10.0.0.3:4100 }
///   stages:
///     capture: { type: capture, node: a }                # these two run there; on the first
///     bundle: { type: bundle, from: capture, node: a }   # of several that answers
///     infer: { type: infer, from: schedule, workers: 4, node: [a, b] }   # its workers do; or: any
///
/// Stages with the same `node` run together, and move together when their node is gone.
namespace hyperframes {

void check_nodes(const document_node& nodes, graph_check& check);
/// @param written the value of `node`. The nodes are known.
void check_placement(
  const document_node& written, const std::string& name, checked_stage& stage, graph_check& check);
/// Rules between the places of stages, once they are wired.
void check_places(graph_check& check);
/// True where the whole stage runs on a node.
bool runs_elsewhere(const checked_stage& stage);
/// True where its workers do.
bool has_workers_elsewhere(const checked_stage& stage);
/// What is used on nodes is not looked at here: it is no longer `sound`.
void leave_to_nodes(checked_graph& graph);

} // namespace hyperframes
