#pragma once

#include "actors/infer/batch_worker.hpp"
#include "runtime/net/node_service.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace hyperframes {

/// The workers that a node offers, over all its deployments. Thread-safe.
struct node_slots {
  std::atomic<std::uint32_t> offered{0};
  std::atomic<std::uint32_t> taken{0};
  std::atomic<bool> leaving{false};
  /// @returns true where there was one; it is taken then.
  bool take();
  void give_back() { --taken; }
};

/// What a stage's workers are made from.
struct seat_model {
  std::shared_ptr<worker_source> workers;
  std::string summary;
  label_names labels;
};

/// The node's end of a run: seats for workers, each with a thread of its own, that run what the
/// coordinator sends on the link.
/// @param load finds the model of a stage; from any thread, may take seconds.
std::shared_ptr<node_deployment> make_node_seats(
  std::shared_ptr<node_slots> slots,
  std::function<expected<seat_model>(const std::string& stage)> load);

} // namespace hyperframes
