#pragma once

#include "actors/infer/batch_worker.hpp"
#include "runtime/net/node_network.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes {

/// A node as a graph names it.
struct named_node {
  std::string name;
  node_address at;
};

struct node_workers_options {
  std::shared_ptr<node_network> network;
  std::vector<named_node> nodes; ///< that the stage may have its workers on
  std::string stage;
  deployment_order order;
  pack_spec tensor;                      ///< of the model; width and height 0: as the frames
  std::string model;                     ///< its summary, which every node's has to be
  std::function<void(std::string)> tell; ///< sentences for the user; any thread
  /// How long the first worker may take to find a node.
  std::chrono::milliseconds patience{10'000};
};

/// Workers on other processes. A worker is a seat on some node; who loses it gets another one, on
/// whatever node has a slot free, as soon as one has.
class node_workers : public worker_source {
public:
  /// Ends the waits and the calls: nobody gets a worker any more.
  virtual void close() = 0;
};

std::shared_ptr<node_workers> make_node_workers(node_workers_options options);

} // namespace hyperframes
