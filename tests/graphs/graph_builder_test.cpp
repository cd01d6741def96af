#include "graphs/graph_builder.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::fakes;
using namespace std::chrono_literals;

namespace {

graph_builder good_builder() {
  graph_builder g{"inspection"};
  g.set("latency_budget", 500ms).set("memory", "2GB");
  g.stream("station{1..3}.cam{1..4}", "fake")
    .group("station{1..3}")
    .set("size", pixel_size{64, 48})
    .set("fps", 29.97);
  g.stream("extra", "push").priority(2).set("live", false);
  g.stage("capture", "capture").set("streams", {"station*", "extra"});
  g.stage("align", "align").from("capture").set("wait", 40ms);
  g.stage("bundle", "bundle")
    .from("align")
    .set("size", 8)
    .set("release.count", 8u)
    .set("release.timeout", 300ms);
  g.stage("schedule", "schedule")
    .from("bundle", {.capacity = 16, .capacity_bytes = 64'000'000, .overflow = "drop_oldest"});
  g.stage("infer", "infer").from("schedule").set("model", "parts.onnx").set("batch.max", 16);
  g.stage("unbundle", "unbundle").from("infer");
  g.stage("results", "null").from("unbundle");
  return g;
}

} // namespace

TEST_CASE("a graph built in code is that of the file") {
  const auto r = good_builder().check(known());
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  const auto& g = *r.graph;
  CHECK(g.name == "inspection");
  CHECK(std::get<duration>(g.latency_budget.value) == 500ms);
  CHECK(g.latency_budget.source == value_source::program);
  CHECK(std::get<std::int64_t>(g.memory.value) == 2'000'000'000);
  REQUIRE(g.streams.size() == 13);
  CHECK(g.streams[5].id == "station2.cam2");
  CHECK(g.streams[5].group == "station2");
  CHECK(g.streams[5].config->number("fps") == 29.97);
  CHECK(g.streams[12].priority == 2);
  CHECK(g.stages[2].config->group("release").time("timeout") == 300ms);
  CHECK(std::get<std::int64_t>(g.edges[2].capacity_bytes.value) == 64'000'000);
  CHECK(std::get<std::string>(g.edges[2].overflow.value) == "drop_oldest");
  CHECK(g.stages[0].streams.size() == 13);
  auto copy = *r.graph;
  CHECK(to_string(plan_graph(copy).faults) == "");
}

TEST_CASE("faults name the path of a value") {
  auto g = good_builder();
  g.stage("bundle", "bundle").set("sizes", 3).set("size", 5).set("release", 4);
  g.stage("sink", "nul").from("infr", {.port = "x"}).set("path.deep", "x");
  g.set("name", "twice");
  CHECK(
    to_string(g.check(known()).faults)
    == "name: this value is set twice: remove one of them\n"
       "stages.bundle: the stage 'bundle' is added twice: give one another name\n"
       "stages.bundle.release: this value is set twice: remove one of them\n"
       "stages.bundle.size: this value is set twice: remove one of them\n"
       "stages.bundle.sizes: bundle has no parameter 'sizes': did you mean 'size'?\n"
       "stages.sink.from.0.stage: sink takes from 'infr', but there is no such stage: did you mean "
       "'infer'?\n"
       "stages.sink.type: there is no stage type 'nul': did you mean 'null'?\n");
}

TEST_CASE("an empty graph tells what is missing") {
  CHECK(
    to_string(graph_builder{"x"}.check(known()).faults)
    == "graph x: the key 'streams' is missing: expected a list, each entry with id and camera\n"
       "graph x: the key 'stages' is missing: expected keys and values, each stage under its "
       "name\n");
}

TEST_CASE("a part of a value that is set whole") {
  auto g = good_builder();
  g.stage("more", "bundle").from("align").set("size", 4).set("release", 4).set("release.count", 4);
  CHECK(
    to_string(g.check(known()).faults)
      .find("stages.more.release: this value is set twice, whole and in part: remove one of them\n")
    != std::string::npos);
}

TEST_CASE("a moved builder goes on") {
  auto g = good_builder();
  auto h = std::move(g);
  h.set("seed", 3);
  const auto r = h.check(known(), "/tmp");
  REQUIRE(r.graph);
  CHECK(r.graph->folder == "/tmp");
  CHECK(std::get<std::int64_t>(r.graph->seed.value) == 3);
}
