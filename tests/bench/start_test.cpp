#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

using namespace hyperframes::bench;

TEST_CASE("a first hyperframe that takes longer than the others is told") {
  const std::vector<double> even{0.010, 0.010, 0.011, 0.009}, cold{0.040, 0.010, 0.011, 0.009};
  CHECK(start_report({even, even, even, even, even}).met());
  const auto bad = start_report({cold, even, cold, even, cold});
  CHECK_FALSE(bad.met());
  CHECK(bad.results.front().value == doctest::Approx(4));
  CHECK(bad.results.front().max == doctest::Approx(4));
}
