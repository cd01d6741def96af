#include "tools/bench/hop.hpp"

#include "runtime/error.hpp"
#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

using namespace hyperframes::bench;

namespace {

const std::vector<std::pair<const char*, chain>> chains{
  {"HyperFrames", hyperframes_chain},
  {"CAF", caf_chain},
  {"threads", thread_chain},
#ifdef HYPERFRAMES_BENCH_TBB
  {"oneTBB", tbb_chain},
#endif
#ifdef HYPERFRAMES_BENCH_GSTREAMER
  {"GStreamer", gstreamer_chain},
#endif
};

} // namespace

TEST_CASE("every chain, short or long, fast or paced, brings all frames to its end") {
  for (const auto& [name, run] : chains)
    for (const unsigned stages : {1U, 9U})
      for (const auto every : {std::chrono::microseconds{0}, std::chrono::microseconds{20}}) {
        CAPTURE(name);
        CAPTURE(stages);
        CHECK(run({stages, 200, every}) > 0); // throws where one is missing
      }
}

TEST_CASE("a profiler may run one chain alone, by its name in the report") {
  CHECK(chain_once({"HyperFrames", "2", "200"}).at(0) > 0);
  CHECK_THROWS_WITH_AS(
    chain_once({"HyperFrame", "2", "200"}),
    doctest::Contains("HyperFrame: is no framework that `hop` knows"), hyperframes::failure);
}
