#pragma once

#include "runtime/net/link.hpp"
#include "runtime/net/node_messages.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace hyperframes {

/// One run of a graph on this node, on one link to its coordinator. What stands above the network
/// gives it meaning.
class node_deployment {
public:
  virtual ~node_deployment() = default;
  /// Where its messages go, in that incarnation. Once, before anything else.
  virtual void joined(std::shared_ptr<link> to_coordinator, std::uint32_t incarnation) = 0;
  /// Loads and warms up a worker, on a thread of its own, and answers then.
  virtual void
  open_seat(const seat_order& order, std::function<void(const seat_answer&)> answer) = 0;
  /// Lets a worker go; unknown ones are ignored. Does not block.
  virtual void close_seat(std::uint32_t seat) = 0;
  /// As `link_user`'s, for messages of its own.
  virtual bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) = 0;
  virtual void received(std::span<const std::byte> head, std::vector<bulk_part> bulk) = 0;
  /// Asks the coordinator to take its work elsewhere. Does not block.
  virtual void leave() = 0;
  /// No more work comes: everything is let go. Called once, on a thread that may wait for it.
  virtual void close() = 0;
};

/// What a node offers. Thread-safe.
class node_service {
public:
  virtual ~node_service() = default;
  virtual node_facts facts() const = 0;
  /// @returns the deployment, or throws `failure`.
  virtual std::shared_ptr<node_deployment> deploy(const deployment_order& order) = 0;
  /// @returns `look_answer::found`, or throws `failure`. May take long: cameras are opened, models
  /// loaded.
  virtual std::vector<std::byte> look(const deployment_order& order) = 0;
};

} // namespace hyperframes
