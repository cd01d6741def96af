#include "tools/bench/benchmark.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/part.hpp"

namespace hyperframes::bench {

const std::vector<benchmark>& benchmarks() {
  static const std::vector<benchmark> all{
    {"hop", "A frame costs less CPU in a stage than in the queues that others use", {}, hop},
    {"release", "A hyperframe is released when its time says so", {}, release},
    {"expiry", "A queued hyperframe expires when its time says so", {}, expiry},
#ifdef HYPERFRAMES_BENCH_ALLOCATIONS
    {"copies", "Pixels are written twice, and no frame costs a heap allocation", {}, copies},
#endif
    {"accelerator", "A (simulated) device is kept busy", {}, accelerator},
    {"adaptive",
     "Batches that adapt beat the best fixed size where the load changes",
     {},
     adaptive},
    {"cameras",
     "48 cameras run in real time, and a frame costs the same with 500 streams",
     {},
     cameras},
    {"light", "Small frames and a light model run faster and cheaper than one by one", {}, light},
#ifdef HYPERFRAMES_BENCH_LOCKS
    {"locks", "Threads that capture hardly ever wait for a lock", {}, locks},
#endif
    {"memory", "What goes round between threads costs less than from the standard library", {}, memory},
    {"modes",
     "A film runs as fast as its decoding, packing and inference can",
     {"VIDEO", "MODEL"},
     modes},
    {"pack",
     "A frame becomes a tensor in one pass, several times faster than with OpenCV",
     {},
     pack},
    {"plan", "What is planned of a graph comes to pass", {}, plan},
    {"processes",
     "Frames go to another process of the host in a time that does not depend on their size",
     {},
     processes},
    {"start", "The first hyperframe after ready takes no longer than the others", {}, start},
  };
  return all;
}

const std::vector<part>& parts() {
  static const std::vector<part> all{
#ifdef HYPERFRAMES_BENCH_ALLOCATIONS
    {"copies", copies_once},
#endif
    {"chain", chain_once},
    {"live cameras", live_cameras_once},
    {"many streams", many_streams_once},
    {"ladder", climb_once},
    {"ladder steps", steps_once},
#ifdef HYPERFRAMES_BENCH_LOCKS
    {"locks", locks_once},
#endif
    {"plan", plan_once},
    {"receive", receive_passing},
    {"start", start_once},
  };
  return all;
}

} // namespace hyperframes::bench
