#pragma once

#include "tools/bench/measure.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hyperframes::bench {

/// Batches on a simulated device, on the virtual clock.
struct batch_run {
  std::string batch;      ///< as in `batch: { ... }`
  bool changes = false;   ///< halfway, what a run of the device costs beside its slots doubles
  std::uint64_t seed = 1; ///< of what batches take more or less
  double length = 40;     ///< seconds of the virtual clock
};
struct batch_outcomes {
  double fps = 0;    ///< frames per second in batches that kept the target
  double missed = 0; ///< share of the batches that did not
};
/// Throws `failure` where the ledger does not close.
batch_outcomes run_batches(const batch_run& what);

/// What was measured of one load, a value a round.
struct batch_rounds {
  samples adaptive;           ///< frames per second in time
  samples missed;             ///< share of the adaptive batches
  std::vector<samples> fixed; ///< frames per second in time, of every fixed size
};

} // namespace hyperframes::bench
