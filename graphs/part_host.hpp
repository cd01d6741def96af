#pragma once

#include "graphs/graph.hpp"
#include "runtime/net/node_service.hpp"

#include <memory>

namespace hyperframes {

/// The node's end of a part of a graph: its stages, as actors of this process.
/// @param graph checked, with its facts; @param order names the stages. Throws `failure` where
/// the graph has no such stages, or they may not run here.
std::shared_ptr<node_deployment> make_part_host(
  checked_graph graph, std::shared_ptr<const catalogues> kinds, const deployment_order& order);

} // namespace hyperframes
