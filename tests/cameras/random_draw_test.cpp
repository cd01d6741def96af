#include "cameras/random_draw.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace hyperframes;

TEST_CASE("random_draw gives the same numbers on every machine") {
  random_draw a{7, 3}, b{7, 3}, other_index{7, 4}, other_seed{8, 3};
  const auto first = a.bits();
  CHECK(first == b.bits());
  CHECK(a.bits() == b.bits());
  CHECK(first != other_index.bits());
  CHECK(first != other_seed.bits());
  CHECK(random_draw{0}.bits() == 3777882419325163568u);
}

TEST_CASE("random_draw fills its ranges evenly") {
  std::array<int, 8> count{};
  for (std::uint64_t i = 0; i < 8000; ++i) {
    random_draw draw{1, i}; // a new one each time, as cameras use it
    const auto x = draw.between(-1, 1);
    REQUIRE(x >= -1);
    REQUIRE(x < 1);
    const auto n = draw.below(8);
    REQUIRE(n >= 0);
    REQUIRE(n < 8);
    ++count[static_cast<std::size_t>(n)];
  }
  for (const int c : count) {
    CHECK(c > 880);
    CHECK(c < 1120);
  }
}
