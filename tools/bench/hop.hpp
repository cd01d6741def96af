#pragma once

#include "runtime/time.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Chains of stages that do nothing, as each framework's users would build them.
namespace hyperframes::bench {

struct chain_load {
  unsigned stages = 1; ///< between the feeder and the sink
  std::uint64_t frames = 0;
  duration every{}; ///< between two frames; 0: as fast as the chain takes them
};

/// Sends all frames through the chain and waits for the last one.
/// @returns the seconds of CPU that the whole process has used meanwhile.
using chain = std::function<double(const chain_load&)>;

double hyperframes_chain(const chain_load& load);
double caf_chain(const chain_load& load);
double thread_chain(const chain_load& load);
double tbb_chain(const chain_load& load);       ///< where oneTBB was found
double gstreamer_chain(const chain_load& load); ///< where GStreamer was found

/// Waits for the moments at which a paced feeder sends; does not wait without a pace.
class pace {
public:
  explicit pace(duration every) : every_(every), next_(std::chrono::steady_clock::now()) {}
  void wait();

private:
  duration every_;
  std::chrono::steady_clock::time_point next_;
};

} // namespace hyperframes::bench
