#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

using namespace hyperframes::bench;

TEST_CASE("every memory takes and gives back all blocks, on one thread and between two") {
  const auto r = memory({{}, [](std::size_t, const std::string&) {}});
  REQUIRE(r.results.size() == 9);
  for (const auto& reading : r.results)
    CHECK(reading.min > 0);
  CHECK(r.results.front().wanted);
}
