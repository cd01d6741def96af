#include "tools/bench/soak_turn.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace hyperframes::bench;

TEST_CASE("latency is the median of what was delivered") {
  CHECK(std::isnan(median_latency("")));
  CHECK(median_latency(R"({"outcome":"delivered","timings_ms":{"bundle":2,"total":5.5}}
{"outcome":"dropped","timings_ms":{"bundle":2,"total":900}}
{"outcome":"delivered","timings_ms":{"bundle":2,"total":7.5}}
{"outcome":"delivered","timings_ms":{"bundle":2,"total":6}}
)") == 6);
}

TEST_CASE("queued is the sum over the edges") {
  CHECK(queued_items(R"(# TYPE hyperframes_edge_average_depth gauge
hyperframes_edge_depth{edge="a->b",graph="g"} 9 1796253086059
hyperframes_edge_average_depth{edge="a->b",graph="g"} 1.5 1796253086059
hyperframes_edge_average_depth{edge="b->c",graph="g"} 0.25 1796253086059
ok
)") == 1.75);
}
