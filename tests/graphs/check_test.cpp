#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::fakes;

TEST_CASE("a good graph is read whole") {
  const auto r = read(good);
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  const auto& g = *r.graph;
  CHECK(g.name == "inspection");
  CHECK(std::get<duration>(g.latency_budget.value) == std::chrono::milliseconds{500});
  REQUIRE(g.streams.size() == 12);
  CHECK(g.streams[0].id == "station1.cam1");
  CHECK(g.streams[1].id == "station1.cam2");
  CHECK(g.streams[4].id == "station2.cam1");
  CHECK(g.streams[4].group == "station2");
  CHECK(g.streams[11].id == "station3.cam4");
  REQUIRE(g.stages.size() == 7);
  CHECK(g.edges.size() == 6);
  CHECK(g.stages[6].streams.size() == 12);
  CHECK(g.stages[2].config->integer("size") == 8);
}
