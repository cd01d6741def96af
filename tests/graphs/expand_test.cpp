#include "graphs/document.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace hyperframes;
using namespace hyperframes::fakes;

namespace {

graph_options overrides(std::vector<std::pair<std::string, std::string>> list) {
  graph_options o;
  o.overrides = std::move(list);
  return o;
}

std::vector<std::string> ids_of(const std::string& entry) {
  const auto r = read(with(
    "  - id: station{1..3}.cam{1..4}\n    group: station{1..3}\n    camera: { type: fake, scene: "
    "parts, size: 64x48, fps: 30 }\n",
    entry));
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  std::vector<std::string> ids;
  for (const auto& s : r.graph->streams)
    ids.push_back(
      s.id + ' ' + s.group + ' ' + (s.config->has("scene") ? s.config->text("scene") : "-"));
  return ids;
}

} // namespace

TEST_CASE("ranges make streams") {
  using list = std::vector<std::string>;
  CHECK(ids_of("  - { id: \"a{1..2}\", camera: fake }\n") == list{"a1 a1 -", "a2 a2 -"});
  CHECK(
    ids_of("  - id: s{1..2}.c{1..2}\n    group: s{1..2}\n    camera: { type: fake, scene: "
           "\"{1..2}\" }\n")
    == list{"s1.c1 s1 1", "s2.c2 s2 2"}); // equal ranges advance together
  CHECK(
    ids_of("  - id: s{1..2}.c{1..3}\n    group: s{1..2}\n    camera: { type: fake, scene: "
           "\"{1..3}of{1..2}\" }\n")
    == list{
      "s1.c1 s1 1of1", "s1.c2 s1 2of1", "s1.c3 s1 3of1", "s2.c1 s2 1of2", "s2.c2 s2 2of2",
      "s2.c3 s2 3of2"});
  CHECK(
    ids_of("  - { id: \"c{08..11}\", camera: fake }\n")
    == list{"c08 c08 -", "c09 c09 -", "c10 c10 -", "c11 c11 -"});
  CHECK(ids_of("  - { id: \"c{2..0}\", camera: fake }\n") == list{"c2 c2 -", "c1 c1 -", "c0 c0 -"});
  CHECK(
    ids_of("  - { id: c, camera: { type: fake, scene: \"{a}..{1...2}\" } }\n")
    == list{"c c {a}..{1...2}"});
}

TEST_CASE("ranges that cannot be meant") {
  CHECK(
    faults_of(with("scene: parts", "scene: \"{1..9}\""))
    == "g.yaml:5:9: the range {1..9} stands in this stream but not in its id: the ids would not be "
       "unique; put "
       "{1..9} into `id`\n");
  CHECK(
    faults_of(with("id: station{1..3}.cam{1..4}", "id: \"a{1..5000}b{1..5001}\""))
      .find("g.yaml:5:5: the ranges give more than 10000 streams\n")
    != std::string::npos);
}

TEST_CASE("what has braces and is no range says so") {
  const std::pair<const char*, const char*> cases[] = {
    {"c{1..}", "'{1..}' is no range: expected whole numbers from 0 on both sides of the dots, such "
               "as {1..4}"},
    {"c{a..c}", "'{a..c}' is no range: expected whole numbers from 0 on both sides of the dots, "
                "such as {1..4}"},
    {"c{-1..4}", "'{-1..4}' is no range: expected whole numbers from 0 on both sides of the dots, "
                 "such as {1..4}"},
    {"c{1-4}", "'{1-4}' is no range: expected {first..last}, such as {1..4}"},
    {"c{1..4", "'{1..4' has no '}' behind it: expected a range such as {1..4}"},
    {"c1..4}", "'}' has no '{' before it: expected a range such as {1..4}"},
    {"c{1..99999}", "'{1..99999}' has more than 10000 values"},
  };
  for (const auto& [text, sentence] : cases) {
    CAPTURE(text);
    const auto id = faults_of(with(
      "  - id: station{1..3}.cam{1..4}\n    group: station{1..3}\n",
      "  - id: \"" + std::string{text} + "\"\n"));
    CHECK(id == "g.yaml:5:9: the stream id '" + std::string{text} + "': " + sentence + '\n');
    const auto captured =
      faults_of(with("streams: \"*\"", "streams: [\"*\", \"" + std::string{text} + "\"]"));
    CHECK(
      captured == "g.yaml:9:45: capture captures '" + std::string{text} + "': " + sentence + '\n');
  }
}

TEST_CASE("variables stand for values") {
  graph_options o;
  o.environment = {{"SIZE", "4"}, {"EMPTY", ""}};
  const auto r = read(
    with(
      "size: 8", "size: \"${SIZE}\"",
      with(
        "count: 8", "count: \"${NONE:-3}\"", with("name: inspection", "name: ${EMPTY:-x}y$${Z}"))),
    o);
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  CHECK(r.graph->name == "xy${Z}");
  const auto& bundle = *r.graph->stages[2].config;
  CHECK(bundle.integer("size") == 4);
  CHECK(bundle.at("size").source == value_source::environment);
  CHECK(bundle.group("release").integer("count") == 3);
  CHECK(bundle.group("release").at("count").source == value_source::file);
}

TEST_CASE("defaults may hold braces and variables, which are looked at where they are taken") {
  const auto name = [](const std::string& text, std::map<std::string, std::string> environment) {
    graph_options o;
    o.environment = std::move(environment);
    const auto r = read(with("name: inspection", "name: \"" + text + '"'), o);
    return r.graph ? r.graph->name : to_string(r.faults);
  };
  CHECK(name("${A:-${B:-x}y}z", {}) == "xyz");
  CHECK(name("${A:-${B:-x}y}z", {{"B", "b"}}) == "byz");
  CHECK(name("${A:-${B}}", {{"A", "a"}}) == "a");
  CHECK(
    name("${A:-${B}}", {})
    == "g.yaml:2:12: the variable 'B' is not set: set it, or give a default as in ${B:-value}\n");
  CHECK(name("${A:-out-{stream}}.mp4", {}) == "out-{stream}.mp4");
  CHECK(name("${A:-out-{stream}}.mp4", {{"A", "a"}}) == "a.mp4");
  CHECK(name("${A:-$${B}}", {}) == "${B}");
  CHECK(name("${A:-${B:-x}", {}) == "g.yaml:2:7: '${' has no '}' behind it; write $${ for a plain ${\n");
  std::string deep = "x";
  for (int i = 0; i < 40; ++i)
    deep = "${A:-" + deep + '}';
  CHECK(name(deep, {}).find("defaults stand in defaults more than 32 deep") != std::string::npos);
}

TEST_CASE("a variable that cannot be filled in is one fault, not two") {
  for (const auto* key :
       {"size: 8", "type: fake", "type: bundle", "id: station{1..3}.cam{1..4}", "from: schedule",
        "timeout: 300ms", "seed: 1"}) {
    CAPTURE(key);
    const std::string name{key, std::string_view{key}.find(':')};
    const auto faults =
      faults_of(with(key, name + ": \"${NONE}\"", with("nodes: {}", "seed: 1")));
    CHECK_MESSAGE(std::ranges::count(faults, '\n') == 1, faults);
    CHECK(faults.find("the variable 'NONE' is not set") != std::string::npos);
  }
}

TEST_CASE("values of --set take variables as the file does") {
  graph_options o;
  o.environment = {{"SIZE", "4"}};
  o.overrides = {
    {"stages.bundle.size", "${SIZE}"}, {"stages.bundle.release.count", "${COUNT:-3}"}};
  const auto r = read(good, o);
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  CHECK(r.graph->stages[2].config->integer("size") == 4);
  CHECK(r.graph->stages[2].config->at("size").source == value_source::environment);
  CHECK(r.graph->stages[2].config->group("release").integer("count") == 3);
  CHECK(
    r.graph->stages[2].config->group("release").at("count").source == value_source::command_line);
  CHECK(
    faults_of(good, overrides({{"name", "x${NONE}"}}))
    == "--set name: the variable 'NONE' is not set: set it, or give a default as in "
       "${NONE:-value}\n");
}

TEST_CASE("faults of variables") {
  CHECK(
    faults_of(with("name: inspection", "name: a${MISSING}"))
    == "g.yaml:2:8: the variable 'MISSING' is not set: set it, or give a default as in "
       "${MISSING:-value}\n");
  CHECK(
    faults_of(with("name: inspection", "name: ${4x}"))
    == "g.yaml:2:7: '${4x}' names no variable: expected ${NAME} or ${NAME:-default}\n");
  CHECK(
    faults_of(with("name: inspection", "name: a${X"))
    == "g.yaml:2:8: '${' has no '}' behind it; write $${ for a plain ${\n");
}

TEST_CASE("--set changes and adds values") {
  const auto r = read(
    good, overrides(
            {{"streams.0.camera.size", "128x96"},
             {"stages.bundle.size", "4"},
             {"stages.bundle.release", "{ count: 3, timeout: 1s }"},
             {"stages.capture.streams", "*"},
             {"stages.infer.from.capacity", "5"},
             {"seed", "7"}}));
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  const auto& g = *r.graph;
  CHECK(g.streams[11].config->size("size") == pixel_size{128, 96});
  CHECK(g.stages[2].config->integer("size") == 4);
  CHECK(g.stages[2].config->at("size").source == value_source::command_line);
  CHECK(g.stages[2].config->group("release").integer("count") == 3);
  CHECK(std::get<std::int64_t>(g.edges[g.stages[4].inputs[0]].capacity.value) == 5);
  CHECK(std::get<std::int64_t>(g.seed.value) == 7);
  CHECK(g.seed.mark.to_string() == "--set seed");
}

TEST_CASE("faults of --set") {
  struct row {
    std::string path, value, fault;
  };
  const row rows[]{
    {"sed", "1", "--set sed: a graph has no key 'sed': did you mean 'seed'?\n"},
    {"stages.bundel.size", "1",
     "--set stages.bundel.size: the graph has no stage 'bundel': did you mean 'bundle'?\n"},
    {"stages.bundle.sizes", "1",
     "--set stages.bundle.sizes: bundle has no parameter 'sizes': did you mean 'size'?\n"},
    {"streams.1.id", "x",
     "--set streams.1.id: '1' is no position in the list at g.yaml:5:3: it has only 0\n"},
    {"streams.x.id", "x",
     "--set streams.x.id: 'x' is no position in the list at g.yaml:5:3: it has only 0\n"},
    {"name.x", "1", "--set name.x: 'x' cannot be set: name is 'inspection' at g.yaml:2:7\n"},
    {"stages..size", "1",
     "--set stages..size: the path has an empty part: expected keys and positions with dots "
     "between them\n"},
    {"stages.bundle.size", "eight",
     "--set stages.bundle.size: bundle.size is 'eight': expected a whole number\n"},
    {"stages.bundle.release", "{ count: [",
     "--set stages.bundle.release: this is not valid YAML: end of sequence flow not found\n"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.path);
    CHECK(faults_of(good, overrides({{r.path, r.value}})).starts_with(r.fault));
  }
  CHECK(
    faults_of(good, overrides({{"seed", "1"}, {"seed", "2"}}))
    == "--set seed: this value is set twice: remove one of them\n");
}
