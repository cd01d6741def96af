#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

using namespace hyperframes::bench;

TEST_CASE("a hundredth of the CPU time spent waiting is too much, whatever the queue costs") {
  const auto report = [](double waiting) {
    const std::vector<double> ours{2, waiting, 0.1}, queue{2, 0.5, 3};
    return locks_report({5, ours}, {5, queue});
  };
  CHECK(report(0.019).met());
  CHECK_FALSE(report(0.02).met());
  CHECK(report(0.019).results.at(2).value == doctest::Approx(25));
}

TEST_CASE("both ways bring every frame through, and their waits are seen") {
  for (const auto* way : {"hyperframes", "one queue"}) {
    const auto run = locks_once({way, "300"}); // throws where a frame is lost
    REQUIRE(run.size() == 3);
    CHECK(run[0] > 0);
    CHECK(run[1] >= 0);
  }
}
