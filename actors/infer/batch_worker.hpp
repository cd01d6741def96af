#pragma once

#include "actors/infer/batch_runner.hpp"
#include "actors/infer/worker_faults.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace hyperframes {

/// Runs batches somewhere: one for each worker, used by its thread alone.
class batch_worker {
public:
  virtual ~batch_worker() = default;
  /// @param fault that was asked for. Throws `worker_lost` where it cannot go on: the batch is
  /// tried once more, by another one.
  virtual batch_outcome run(const batch& work, std::optional<worker_fault_kind> fault) = 0;
};

/// What a worker must be ready for.
struct worker_wish {
  std::uint32_t slots = 1;             ///< of the largest batch
  std::uint32_t width = 0, height = 0; ///< pixels of a frame
};

/// Where workers come from. Thread-safe.
class worker_source {
public:
  virtual ~worker_source() = default;
  /// Called on the thread that will use the worker. May take seconds.
  /// @returns a worker that is warm, or why there is none.
  virtual expected<std::unique_ptr<batch_worker>> open(const worker_wish& wish) = 0;
  /// How many workers may be lost before the stage fails.
  virtual std::uint32_t replacements() const = 0;
  /// The graph starts with the first worker: the others come when they can.
  virtual bool may_come_later() const { return false; }
};

/// Workers in this process, each with a session of its own.
/// @param faults whether faults may be asked for.
std::shared_ptr<worker_source> local_workers(model_ptr model, bool faults);

} // namespace hyperframes
