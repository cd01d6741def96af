#include "tools/bench/pack.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace hyperframes::bench;

TEST_CASE("packing that is no faster than OpenCV is told") {
  const samples fast{{0.5, 0.5, 0.6, 0.4, 0.5}}, slow{{3, 3, 3, 3, 3}};
  CHECK(pack_report({fast, slow, slow, fast}).met());
  const auto bad = pack_report({slow, slow, fast, fast});
  CHECK_FALSE(bad.met());
  CHECK(bad.results.front().value == doctest::Approx(1));
  CHECK(bad.results[2].value == doctest::Approx(6)); // of what reading and writing takes
}

TEST_CASE("those that are compared make the same tensor") {
  pack_work work;
  work.hyperframes();
  const std::vector<float> ours(work.tensor().begin(), work.tensor().end());
  work.opencv();
  double difference = 0, contrast = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    difference += std::abs(double(ours[i]) - work.tensor()[i]);
    contrast += std::abs(ours[i] - 0.5);
  }
  CHECK(difference / double(ours.size()) < 0.01);
  CHECK(contrast / double(ours.size()) > 0.1); // nor is it empty
}
