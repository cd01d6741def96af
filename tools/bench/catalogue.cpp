#include "tools/bench/benchmark.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/part.hpp"

namespace hyperframes::bench {

const std::vector<benchmark>& benchmarks() {
  static const std::vector<benchmark> all{
    {"hop", "A frame costs less CPU in a stage than in the queues that others use", {}, hop},
    {"start", "The first hyperframe after ready takes no longer than the others", {}, start},
  };
  return all;
}

const std::vector<part>& parts() {
  static const std::vector<part> all{
    {"start", start_once},
  };
  return all;
}

} // namespace hyperframes::bench
