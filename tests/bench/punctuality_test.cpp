#include "tools/bench/punctuality.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace hyperframes::bench;
using std::chrono::milliseconds;

namespace {

/// A hundred that are off by 0.1 ms, but for some.
std::vector<double> hundred(std::vector<double> others) {
  others.resize(100, 0.1);
  return others;
}

} // namespace

TEST_CASE("the 99th of a hundred, early or late") {
  CHECK(p99_of_size(hundred({9})) == 0.1);
  CHECK(p99_of_size(hundred({9, 8})) == 8);
  CHECK(p99_of_size(hundred({-9, -8})) == 8);
  CHECK(std::isinf(p99_of_size(hundred({INFINITY, INFINITY}))));
  CHECK(std::isnan(p99_of_size({})));
}

TEST_CASE("what is off by more than 2 ms idle or 5 ms loaded is told, also what was never seen") {
  const auto met = [](bool loaded, const std::vector<double>& one) {
    return punctuality_report("", {{milliseconds{20}, loaded, {one, one, one, one, one}}}).met();
  };
  CHECK(met(false, hundred({1.9, 1.9})));
  CHECK_FALSE(met(false, hundred({2.1, 2.1})));
  CHECK_FALSE(met(false, hundred({-2.1, -2.1})));
  CHECK(met(true, hundred({4.9, 4.9})));
  CHECK_FALSE(met(true, hundred({5.1, 5.1})));
  CHECK_FALSE(met(true, hundred({INFINITY, INFINITY})));
}
