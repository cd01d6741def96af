#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

using namespace hyperframes::bench;

namespace {

constexpr double MiB = 1 << 20;

bool met(
  double lost, double p99, double fps, double last_memory,
  const std::vector<double>& per_frame = {1e-6, 1.1e-6, 1.15e-6, 1.19e-6}) {
  std::vector<double> live{lost, p99, 20e-6};
  for (const auto memory : {100.0, 100.0, 101.0, 100.0, last_memory}) {
    live.push_back(fps);
    live.push_back(memory * MiB);
  }
  std::vector<samples> scale;
  for (const auto cost : per_frame)
    scale.push_back({std::vector<double>(5, cost)});
  return cameras_report(live, scale).met();
}

} // namespace

TEST_CASE("lost frames, late ones, slow cameras, memory that grows and dear streams are told") {
  CHECK(met(0, 300, 1439, 101));
  CHECK_FALSE(met(1, 300, 1439, 101));
  CHECK_FALSE(met(0, 501, 1439, 101));
  CHECK_FALSE(met(0, 300, 1400, 101));
  CHECK_FALSE(met(0, 300, 1439, 103));
  CHECK_FALSE(met(0, 300, 1439, 101, {1e-6, 1e-6, 1e-6, 1.21e-6}));
  CHECK_FALSE(met(0, 300, 1439, 101, {1.3e-6, 1e-6, 1e-6, 1e-6}));
}

TEST_CASE("cameras are read for as long as asked, and every frame has its outcome") {
  const auto live = live_cameras_once({"3", "0.5"});
  REQUIRE(live.size() == 3 + 2 * 5);
  CHECK(live[1] > 0);
  CHECK(live[2] > 0);
  for (std::size_t i = 4; i < live.size(); i += 2)
    CHECK(live[i] > MiB);
  for (const auto* streams : {"1", "20"})
    CHECK(many_streams_once({streams, "400"}).at(0) > 0);
}
