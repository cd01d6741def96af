#include "graphs/schema.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace hyperframes;
using namespace hyperframes::fakes;

TEST_CASE("the schema holds every stage, camera and parameter") {
  const auto schema = nlohmann::json::parse(graph_schema(known()));
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema["required"] == nlohmann::json{"hyperframes", "streams", "stages"});
  const auto& defs = schema["$defs"];
  for (const auto& s : known().stages.all()) {
    CAPTURE(s->name);
    const auto& one = defs["stage_" + s->name];
    if (s->name != "null")
      CHECK(one["properties"]["type"]["const"] == s->name);
    CHECK(one["additionalProperties"] == false);
    CHECK(one["properties"].contains("from") == !s->inputs.empty());
    for (const auto& p : s->parameters)
      CHECK(one["properties"].contains(p.name));
  }
  for (const auto& c : known().cameras.all())
    for (const auto& p : c->parameters)
      CHECK(defs["camera_" + c->name]["properties"].contains(p.name));
  CHECK(defs["stage"]["allOf"].size() == known().stages.all().size());
}

TEST_CASE("the schema holds ranges, choices, defaults and what is required") {
  const auto schema = nlohmann::json::parse(graph_schema(known()));
  const auto& bundle = schema["$defs"]["stage_bundle"];
  CHECK(bundle["required"] == nlohmann::json{"type", "size"});
  const auto& size = bundle["properties"]["size"];
  CHECK(size["anyOf"][0]["type"] == "integer");
  CHECK(size["anyOf"][0]["minimum"] == 1);
  CHECK(size["anyOf"][0]["maximum"] == 4096);
  CHECK(size["description"] == "What size means. (1 to 4096 slots)");
  CHECK(
    bundle["properties"]["over"]["anyOf"][0]["enum"] == nlohmann::json{"time", "cameras", "both"});
  CHECK(bundle["properties"]["over"]["default"] == "time");
  const auto& release = bundle["properties"]["release"];
  CHECK(release["type"] == "object");
  CHECK(release["additionalProperties"] == false);
  CHECK(release["properties"].contains("timeout"));
  CHECK(schema["$defs"]["stage_align"]["properties"]["wait"]["default"] == "40ms");
  CHECK(
    schema["$defs"]["stage_capture"]["properties"]["streams"]["default"] == nlohmann::json{"*"});
  CHECK(schema["properties"]["memory"]["default"] == std::int64_t{4} << 30);
}

TEST_CASE("a bare null is the name of the stage null, as in a graph file") {
  const auto schema = nlohmann::json::parse(graph_schema(known()));
  const nlohmann::json either{"null", nullptr};
  const auto& defs = schema["$defs"];
  CHECK(defs["stage_null"]["properties"]["type"]["enum"] == either);
  const auto& names = defs["stage"]["properties"]["type"]["enum"];
  CHECK(std::ranges::count(names, nlohmann::json(nullptr)) == 1);
  const auto rule = std::ranges::find_if(defs["stage"]["allOf"], [](const nlohmann::json& r) {
    return r["then"]["$ref"] == "#/$defs/stage_null";
  });
  REQUIRE(rule != defs["stage"]["allOf"].end());
  CHECK((*rule)["if"]["properties"]["type"]["enum"] == either);
  CHECK(faults_of(with("type: jsonl, from: unbundle, path: results.jsonl", "type: null, from: unbundle")) == "");
}
