#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

using namespace hyperframes::bench;

namespace {

/// Throughput planned and measured, p99 planned and measured.
report of(double fps_planned, double fps, double p99_planned, double p99) {
  const std::vector<double> round{fps_planned, fps, p99_planned, p99, 0};
  return plan_report({{"line", {round, round, {900, 100, 900, 100, 0}, round, round}}});
}

} // namespace

TEST_CASE("a plan that is near meets its goals, with one round that was disturbed") {
  CHECK(of(1000, 1000, 10, 10).met());
  CHECK(of(1140, 1000, 8.6, 10).met());
  CHECK(of(860, 1000, 11.4, 10).met());
}

TEST_CASE("a plan that is too high or too low is told, for throughput and for latency") {
  for (const double factor : {0.84, 1.16}) {
    const auto throughput = of(1000 * factor, 1000, 10, 10),
               latency = of(1000, 1000, 10 * factor, 10);
    CHECK_FALSE(throughput.results[0].met());
    CHECK(throughput.results[1].met());
    CHECK(latency.results[0].met());
    CHECK_FALSE(latency.results[1].met());
  }
}

TEST_CASE("a measurement of nothing meets no goal") {
  const std::vector<double> nothing{0, 0, 0, 0, 0};
  const auto r = plan_report({{"line", {nothing, nothing, nothing, nothing, nothing}}});
  CHECK_FALSE(r.results[0].met());
  CHECK_FALSE(r.results[1].met());
}
