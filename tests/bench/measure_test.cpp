#include "tools/bench/measure.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

using namespace hyperframes::bench;

TEST_CASE("the median of an odd and of an even number of values, whatever their order") {
  CHECK(samples{{5, 1, 3}}.median() == 3);
  CHECK(samples{{4, 1, 3, 2}}.median() == 2.5);
  CHECK(samples{{5, 1, 3}}.least() == 1);
  CHECK(samples{{5, 1, 3}}.most() == 5);
}

TEST_CASE("what was not measured is no number") {
  CHECK(std::isnan(samples{}.median()));
  CHECK(std::isnan(samples{{1, NAN, 3}}.median()));
  CHECK(std::isnan(samples{{1, NAN, 3}}.least()));
  CHECK(std::isnan(samples{{1, NAN, 3}}.most()));
}

TEST_CASE(
  "contestants take turns, each round begins with another, and the first round does not count") {
  std::string order;
  double value = 0;
  const auto play = [&](char name) {
    return contestant{std::string(1, name), [&, name] {
                        order += name;
                        return value++;
                      }};
  };
  const auto all = take_turns({play('a'), play('b'), play('c')}, 5);
  CHECK(order == "abcbcacababcbcacab");
  REQUIRE(all.size() == 3);
  CHECK(all[0].values == std::vector<double>{5, 7, 9, 14, 16});
  CHECK(all[1].values == std::vector<double>{3, 8, 10, 12, 17});
  CHECK(all[2].values == std::vector<double>{4, 6, 11, 13, 15});
}

TEST_CASE("fewer than five rounds are refused") {
  CHECK_THROWS_WITH_AS(
    take_turns({{"a", [] { return 0.0; }}}, 4), "a median of 4 rounds, expected 5 at least",
    std::invalid_argument);
}

TEST_CASE("ratios are taken round by round") {
  const auto r = ratios({{10, 30, 20}}, {{5, 10, 40}});
  CHECK(r.values == std::vector<double>{2, 3, 0.5});
}
