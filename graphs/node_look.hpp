#pragma once

#include "graphs/graph.hpp"

#include <cstddef>
#include <string>
#include <vector>

/// Cameras and models are looked at where they are used: those of stages that run on nodes, there.
namespace hyperframes {

/// The node's end. @returns what its cameras and models of `stages` say, and every fault, as
/// `write_facts`.
std::vector<std::byte> look_here(checked_graph graph, const std::vector<std::string>& stages);

/// The coordinator's end: fills `info` of the streams that nodes capture, and `resource` of stages
/// with workers on nodes whose model is not here. Of a stage's nodes the first counts that answers
/// and finds no fault. What nobody can use is a fault, and is no longer `sound`.
void look_on_nodes(checked_graph& graph, node_network& network, std::vector<fault>& faults);

/// What one node of a graph says.
struct node_look {
  expected<node_facts> facts;      ///< an error: it is not there
  std::vector<std::string> stages; ///< that may run there, or have workers there
  std::vector<fault> faults;       ///< of these, there
};
/// Asks all nodes, each for all that may run there, whether it could. @param graph with what was
/// found of its cameras and models: a model that is another one there is a fault.
std::vector<node_look> look_on_all_nodes(const checked_graph& graph, node_network& network);

/// A line a node, and a sentence for each stage that will not have all its workers.
std::string to_text(const std::vector<node_look>& looks, const checked_graph& graph);
/// Everything that keeps the graph from running as it is written: nodes that are not there, too.
std::vector<fault> faults_of(const std::vector<node_look>& looks, const checked_graph& graph);

/// What a node needs to read this graph.
deployment_order order_of(const checked_graph& graph);

} // namespace hyperframes
