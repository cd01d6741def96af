#pragma once

#include "runtime/outcome.hpp"
#include "runtime/net/node_network.hpp"
#include "runtime/placed_executor.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hyperframes {

struct remote_part_options {
  std::shared_ptr<node_network> network;
  std::vector<std::pair<std::string, node_address>> nodes; ///< that may have it, the first one first
  deployment_order order;                                  ///< names the part's stages
  std::vector<const stage_wiring*> stages;                 ///< of the part; they outlive it
  std::uint32_t run = 0;
  std::uint64_t receives = 0; ///< bytes that what comes from it may take at once
  std::chrono::milliseconds patience{10'000}; ///< until a node must have it, at first and after a loss
};

/// Stages of a graph that run together on a node; in this process stands what they are to the rest.
///
/// When the node is gone, what they held ends as `lost (worker_lost)`, what goes on to them waits
/// under the credit of its edges, and the next node that answers takes them over: the cameras begin
/// new epochs, the queues are empty. Where none answers within `patience` they have failed. Thread-safe.
class remote_part final : public stages_elsewhere {
public:
  /// What stands in this process; outlives the part.
  struct home {
    executor& runs;
    std::function<void(const outcome_range&)> captured; ///< counts frames with contiguous ids
    telemetry& numbers;
    state_listener& listener;
  };
  remote_part(remote_part_options options, const home& here);
  ~remote_part() override; ///< closes it

  /// `control::start` looks for a node.
  void post(stage_index to, message m) override;
  /// Lets the camera of a stream that it captures come or go.
  void ask_for_camera(stream_index stream, bool attach);
  /// Frames whose outcome it owes to `settler`.
  std::uint64_t held(stage_index settler) const;
  /// The run is over: ends what is on the node. Nothing is posted any more after its return.
  void close();

  class state;

private:
  std::shared_ptr<state> state_;
};

} // namespace hyperframes
