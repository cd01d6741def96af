#pragma once

#include "graphs/graph.hpp"
#include "runtime/net/node_service.hpp"

#include <memory>
#include <string>

namespace hyperframes {

struct node_options {
  std::string name;
  std::string version;
  std::uint32_t slots = 1; ///< workers that it offers
  std::string folder =
    "."; ///< relative paths of graphs start here, and no graph reads a file outside
};

/// What a process offers to graphs that run elsewhere. Thread-safe.
class node_host : public node_service {
public:
  /// Takes no more work, and asks for what is out to be moved. @returns at once.
  virtual void leave() = 0;
  /// Workers that are in use.
  virtual std::uint32_t taken() const = 0;
};

std::shared_ptr<node_host>
make_node_host(node_options options, const catalogues& kinds = built_in());

} // namespace hyperframes
