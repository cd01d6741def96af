#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

using namespace hyperframes::bench;

TEST_CASE("a device that idles, and stages that do not overlap, are told") {
  const auto met = [](double fps, double busy, double alone, double deep) {
    const auto of = [](double v) { return samples{std::vector<double>(5, v)}; };
    return accelerator_report({of(fps), of(busy), of(alone), {of(220), of(400), of(deep)}}).met();
  };
  CHECK(met(1100, 96, 300, 450)); // 1100 / (1000 / 4.5) = 4.95
  CHECK_FALSE(met(1080, 96, 300, 450));
  CHECK_FALSE(met(1100, 94, 300, 450));
  CHECK_FALSE(met(1100, 96, 400, 450));
  CHECK_FALSE(met(1100, 96, 300, 430));
}

TEST_CASE("with one frame under way its steps take their times, one after the other") {
  CHECK(fps_at_depth(1) < 1000 / 4.5);
}
