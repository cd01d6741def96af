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

TEST_CASE("slots of pools are resident as far as they were ever in use") {
  // 4 slots of 1 MiB, 10 of half a MiB; what has no slots has no memory.
  const auto m = memory_of_pools(R"(# TYPE hyperframes_pool_slots gauge
hyperframes_pool_memory_bytes{graph="g",pool="pool of stream a"} 4194304 1796289472712
hyperframes_pool_memory_bytes{graph="g",pool="tensors of bundle"} 5242880 1796289472712
hyperframes_pool_memory_bytes{graph="g",pool="gone"} 0 1796289472712
hyperframes_pool_peak_slots_in_use{graph="g",pool="pool of stream a"} 3 1796289472712
hyperframes_pool_peak_slots_in_use{graph="g",pool="tensors of bundle"} 8 1796289472712
hyperframes_pool_peak_slots_in_use{graph="g",pool="gone"} 2 1796289472712
hyperframes_pool_peak_memory_bytes{graph="g",pool="pool of stream a"} 999 1796289472712
hyperframes_pool_slots{graph="g",pool="pool of stream a"} 4 1796289472712
hyperframes_pool_slots{graph="g",pool="tensors of bundle"} 10 1796289472712
hyperframes_pool_slots{graph="g",pool="gone"} 0 1796289472712
hyperframes_pool_slots_in_use{graph="g",pool="pool of stream a"} 1 1796289472712
hyperframes_pool_slots_in_use{graph="g",pool="tensors of bundle"} 2 1796289472712
ok
)");
  CHECK(m.touched == 7);
  CHECK(m.in_use == 2);
}
