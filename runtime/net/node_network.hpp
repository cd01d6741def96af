#pragma once

#include "runtime/error.hpp"
#include "runtime/net/link_hub.hpp"
#include "runtime/net/node_messages.hpp"
#include "runtime/net/node_service.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

struct node_address {
  std::string host;
  std::uint16_t port = 0;
  std::string to_string() const;
  friend auto operator<=>(const node_address&, const node_address&) = default;
};

/// "host:port", also "[::1]:4100"; an error with a sentence otherwise.
expected<node_address> read_node_address(const std::string& text);

/// A run's part on one node: it stands on one link and lives as long as that is up. Thread-safe.
/// Its end ends what the node does for the run.
class remote_deployment {
public:
  virtual ~remote_deployment() = default;
  virtual const node_facts& facts() const = 0; ///< as they were when it was made
  virtual std::shared_ptr<link> connection() const = 0;
  /// Tells the user from now on what comes: `up` first.
  virtual void start() = 0;
  /// Blocks until the seat is warm, or the node gone.
  virtual seat_answer open_seat(const seat_order& order) = 0;
  virtual void close_seat(std::uint32_t seat) = 0;
  /// False when the node is gone, for ever: another deployment is to be made.
  virtual bool alive() const = 0;
  /// Ends what the node does for the run, now: a call that waits for a seat is answered.
  virtual void end() = 0;
};

/// A process's end of nodes: offers itself, and finds others. Thread-safe.
class node_network {
public:
  /// @param tls none: without encryption and authentication, on loopback addresses only. Throws
  /// `failure` where the files are wrong.
  /// @param on_rejected as `link_hub`'s.
  /// @param dead_after of links (link_settings), at least 4 ms; heartbeats come four times as often,
  /// or each 500 ms. Both ends of a link need the same.
  explicit node_network(
    std::optional<tls_files> tls, std::function<void(const std::string&)> on_rejected = {},
    std::chrono::milliseconds dead_after = link_settings{}.dead_after);
  ~node_network();
  node_network(const node_network&) = delete;
  node_network& operator=(const node_network&) = delete;

  /// Offers this process. @returns the port. Throws `failure` where it cannot be had.
  std::uint16_t offer(const node_address& at, std::shared_ptr<node_service> service);

  /// What the node at `at` says of itself; an error where none answers within `patience`, or speaks
  /// another protocol.
  expected<node_facts> ask(const node_address& at, std::chrono::milliseconds patience);

  /// What the node at `at` finds out of the cameras and models of the order's stages:
  /// `look_answer::found`. An error where it cannot, or none answers.
  /// @param patience until a node is met; @param time for it to look.
  expected<std::vector<std::byte>> look(
    const node_address& at, const deployment_order& order, std::chrono::milliseconds patience,
    std::chrono::milliseconds time);

  /// Begins a run there. @param user gets what comes on the link.
  /// @param patience for each answer.
  expected<std::shared_ptr<remote_deployment>> deploy(
    const node_address& at, const deployment_order& order, std::shared_ptr<link_user> user,
    std::chrono::milliseconds patience);

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace hyperframes
