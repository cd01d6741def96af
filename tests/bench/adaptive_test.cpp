#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

using namespace hyperframes::bench;

namespace {

batch_rounds rounds(double adaptive, double missed = 0) {
  return {
    {std::vector<double>(5, adaptive)},
    {std::vector<double>(5, missed)},
    {{{100, 90, 100, 90, 100}}, {{90, 100, 90, 100, 90}}}};
}

} // namespace

TEST_CASE("batches that adapt too little, too slowly or beyond the target are told") {
  CHECK(adaptive_report(rounds(112), rounds(98)).met());
  CHECK_FALSE(adaptive_report(rounds(109), rounds(98)).met());
  CHECK_FALSE(adaptive_report(rounds(112), rounds(96)).met());
  CHECK_FALSE(adaptive_report(rounds(112, 0.02), rounds(98)).met());
  CHECK_FALSE(adaptive_report(rounds(112), rounds(98, 0.02)).met());
  // Each round's best size is taken, whichever it is.
  CHECK(adaptive_report(rounds(112), rounds(98)).results.front().value == doctest::Approx(1.12));
}

TEST_CASE("the device is slower from halfway on, and batches beyond the target do not count") {
  const auto run = [](const char* batch, bool changes) {
    return run_batches({batch, changes, 1, 4});
  };
  const auto steady = run("max: 16", false), changed = run("max: 16", true);
  CHECK(steady.fps == doctest::Approx(1000).epsilon(0.03)); // 16 frames in 16 ms
  CHECK(steady.missed == 0);
  CHECK(changed.fps < 0.9 * steady.fps);
  const auto too_large = run("max: 28", true); // 22 ms, then 30
  CHECK(too_large.fps == doctest::Approx(28 / 0.022 / 2).epsilon(0.03));
  CHECK(too_large.missed == doctest::Approx(22.0 / 52).epsilon(0.05));
  CHECK(run("max: 64, adaptive: true, target: 24ms", true).fps > 500);
}
