#include "graphs/check.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace hyperframes;
using namespace hyperframes::fakes;

TEST_CASE("a good graph is read whole") {
  const auto r = read(good);
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  const auto& g = *r.graph;
  CHECK(g.name == "inspection");
  CHECK(std::get<duration>(g.latency_budget.value) == std::chrono::milliseconds{500});
  CHECK(g.latency_budget.mark.to_string() == "g.yaml:3:17");
  CHECK(std::get<std::int64_t>(g.memory.value) == std::int64_t{4} << 30);
  CHECK(g.memory.source == value_source::built_in);
  REQUIRE(g.streams.size() == 12);
  CHECK(g.streams[4].id == "station2.cam1");
  CHECK(g.streams[4].group == "station2");
  CHECK(g.streams[4].config->size("size") == pixel_size{64, 48});
  CHECK_FALSE(g.streams[4].config->has("path"));
  REQUIRE(g.stages.size() == 7);
  CHECK(g.stages[2].name == "bundle");
  CHECK(g.stages[2].mark.to_string() == "g.yaml:11:3");
  CHECK(g.stages[2].config->group("release").time("timeout") == std::chrono::milliseconds{300});
  CHECK(g.stages[6].streams.size() == 12);
}

TEST_CASE("edges and their defaults") {
  const auto r = read(good);
  REQUIRE(r.graph);
  const auto& g = *r.graph;
  REQUIRE(g.edges.size() == 6);
  const auto capacity = [&](std::size_t e) {
    return std::get<std::int64_t>(g.edges[e].capacity.value);
  };
  CHECK(g.edges[0].type == port_type::frame);
  CHECK(capacity(0) == 8);
  CHECK(std::holds_alternative<std::monostate>(g.edges[0].overflow.value)); // the cameras decide
  CHECK(g.edges[1].type == port_type::aligned_set);
  CHECK(std::get<std::string>(g.edges[1].overflow.value) == "block");
  CHECK(g.edges[2].type == port_type::hyperframe);
  CHECK(capacity(2) == 16);
  CHECK(g.edges[2].capacity.source == value_source::file);
  CHECK(std::get<std::string>(g.edges[2].overflow.value) == "drop_oldest");
  CHECK(g.edges[3].type == port_type::batch);
  CHECK(capacity(3) == 3); // a worker's batch and two that wait
  CHECK(g.edges[5].type == port_type::frame_result);
}

TEST_CASE("an object that is not written has its fields' defaults") {
  const auto r =
    read(with(", batch: { max: 16 }", "", with(", release: { count: 8, timeout: 300ms }", "")));
  REQUIRE(r.graph);
  CHECK(r.graph->stages[4].config->group("batch").integer("max") == 8);
  CHECK(r.graph->stages[2].config->group("release").has("timeout") == false);
}

TEST_CASE("small things that are accepted") {
  for (const auto& text :
       {with("size: 8", "size: \"8\""), with("fps: 30", "fps: 29.97"),
        with("timeout: 300ms", "timeout: 0.3 s"),
        with("streams: \"*\"", "streams: [\"station1.*\", \"station{2..3}.cam?\"]"),
        with("nodes: {}", "nodes:"), with("nodes: {}\n", ""),
        with("    group: station{1..3}\n", ""), with("name: inspection\n", ""),
        with("latency_budget: 500ms\n", ""), with("from: capture", "from: [capture]")})
    CHECK(faults_of(text) == "");
  CHECK(read(with("name: inspection\n", "")).graph->name == "g");
}

namespace {
struct row {
  std::string what, by, faults;
};
void check(const std::vector<row>& rows) {
  for (const auto& r : rows) {
    CAPTURE(r.by);
    CHECK(faults_of(with(r.what, r.by)) == r.faults);
  }
}
} // namespace

TEST_CASE("faults at the top") {
  check({
    {"hyperframes: 1\n", "",
     "g.yaml:1:1: the key 'hyperframes' is missing: a graph file begins with hyperframes: 1\n"},
    {"hyperframes: 1", "hyperframes: 2",
     "g.yaml:1:14: hyperframes is '2': this build reads version 1\n"},
    {"hyperframes: 1", "hyperframes: [1]",
     "g.yaml:1:14: hyperframes is a list: this build reads version 1\n"},
    {"latency_budget", "latency_buget",
     "g.yaml:3:1: a graph has no key 'latency_buget': did you mean 'latency_budget'?\n"},
    {"latency_budget: 500ms", "latency_budget: 500",
     "g.yaml:3:17: latency_budget is '500': expected a duration such as 40ms; it needs a unit: "
     "500ms or 500s?\n"},
    {"latency_budget: 500ms", "latency_budget: 0ms",
     "g.yaml:3:17: latency_budget is 0ms: expected at least 1us\n"},
    {"latency_budget: 500ms", "latency_budget:",
     "g.yaml:3:1: latency_budget has no value: expected a duration such as 40ms, or leave the key "
     "out\n"},
    {"latency_budget: 500ms", "memory: 4 gigs",
     "g.yaml:3:9: memory is '4 gigs': expected a number of bytes such as 256MB; units are kB, MB, "
     "GB, TB, KiB, MiB, GiB and TiB\n"},
    {"latency_budget: 500ms", "seed: -1", "g.yaml:3:7: seed is -1: expected at least 0\n"},
    {"nodes: {}", "nodes: { a: here }",
     "g.yaml:16:13: nodes.a is 'here': expected host:port, such as 10.0.0.2:4100\n"},
    {good, "hyperframes: 1\n",
     "g.yaml:1:1: the key 'streams' is missing: expected a list, each entry with id and camera\n"
     "g.yaml:1:1: the key 'stages' is missing: expected keys and values, each stage under its "
     "name\n"},
    {good, "hyperframes: 1\nstreams: 3\nstages: [a]\n",
     "g.yaml:2:10: streams is '3': expected a list, each entry with id and camera\n"
     "g.yaml:3:9: stages is a list: expected keys and values, each stage under its name\n"},
    {good, "hyperframes: 1\nstreams: []\nstages: {}\n",
     "g.yaml:2:10: streams is an empty list: expected a list, each entry with id and camera\n"
     "g.yaml:3:9: stages is empty: expected keys and values, each stage under its name\n"},
  });
}

TEST_CASE("faults of streams and cameras") {
  const std::string stream = "  - id: station{1..3}.cam{1..4}\n    group: station{1..3}\n    "
                             "camera: { type: fake, scene: parts, size: 64x48, fps: 30 }\n";
  check({
    {stream, "  - cam1\n",
     "g.yaml:5:5: this stream is 'cam1': expected keys and values such as { id: cam1, camera: { "
     "type: ... } }\n"},
    {stream, "  - { camera: fake }\n",
     "g.yaml:5:5: stream needs 'id': expected a text (The stream's unique name; `cam{1..4}` makes "
     "four streams.)\n"},
    {stream, "  - { id: a }\n",
     "g.yaml:5:5: stream needs 'camera': expected camera: { type: ... }\n"},
    {stream, "  - { id: \"a b\", camera: fake }\n",
     "g.yaml:5:11: the stream id 'a b' may hold letters, digits and the signs _-./ only\n"},
    {stream, "  - { id: a, group: \"x:y\", camera: fake }\n",
     "g.yaml:5:21: the group 'x:y' may hold letters, digits and the signs _-./ only\n"},
    {stream,
     "  - { id: a, camera: fake }\n  - { id: b, camera: fake }\n  - { id: a, camera: fake }\n",
     "g.yaml:7:11: the stream id 'a' stands twice, first at g.yaml:5:11\n"},
    {stream, "  - { id: a, priority: high, camera: fake }\n",
     "g.yaml:5:24: stream.priority is 'high': expected a whole number\n"},
    {stream, "  - { id: a, grop: x, camera: fake }\n",
     "g.yaml:5:14: stream has no parameter 'grop': did you mean 'group'?\n"},
    {"type: fake", "type: fkae", "g.yaml:7:21: there is no camera 'fkae': did you mean 'fake'?\n"},
    {"type: fake", "type: gige",
     "g.yaml:7:21: there is no camera 'gige': known are fake and push\n"},
    {"type: fake, ", "",
     "g.yaml:7:13: camera has no type: expected type: with one of fake or push\n"},
    {"fps: 30", "fsp: 30", "g.yaml:7:54: camera has no parameter 'fsp': did you mean 'fps'?\n"},
    {"fps: 30", "fps: fast", "g.yaml:7:59: camera.fps is 'fast': expected a number\n"},
    {"fps: 30", "fps: 33ms",
     "g.yaml:7:59: camera.fps is '33ms': expected a number, without a unit: it counts Hz\n"},
    {"fps: 30", "fps: 5000", "g.yaml:7:59: camera.fps is 5000: expected 0 to 1000 Hz\n"},
    {"64x48", "99999999999x48",
     "g.yaml:7:47: camera.size is 99999999999x48: expected 16 to 4096 for each side\n"},
    {"64x48", "64", "g.yaml:7:47: camera.size is '64': expected a size such as 640x480\n"},
    {"64x48", "64x8", "g.yaml:7:47: camera.size is 64x8: expected 16 to 4096 for each side\n"},
    {"fps: 30", "live: yes", "g.yaml:7:60: camera.live is 'yes': expected true or false\n"},
    {"scene: parts", "scene: [a, b]", "g.yaml:7:34: camera.scene is a list: expected a text\n"},
  });
}

TEST_CASE("faults of stages") {
  check({
    {"type: bundle", "type: bundel",
     "g.yaml:11:21: there is no stage type 'bundel': did you mean 'bundle'?\n"},
    {"type: bundle", "typ: bundle",
     "g.yaml:11:3: bundle has no type: expected type: with one of capture, select, align, bundle, "
     "schedule, infer, unbundle, jsonl, null or split\n"},
    {"unbundle: { type: unbundle, from: infer }", "unbundle: unbundle",
     "g.yaml:14:13: unbundle is 'unbundle': expected keys and values such as { type: capture }\n"},
    {"bundle:   {", "bun dle:  {",
     "g.yaml:11:3: the stage name 'bun dle' may hold letters, digits and the signs _- only\n"
     "g.yaml:12:46: schedule takes from 'bundle', but there is no such stage: did you mean 'bun "
     "dle'?\n"},
    {"tolerance", "tolerence",
     "g.yaml:10:43: align has no parameter 'tolerence': did you mean 'tolerance'?\n"},
    {"size: 8, ", "",
     "g.yaml:11:3: bundle needs 'size': expected a whole number (What size means.)\n"},
    {"size: 8", "size: 0", "g.yaml:11:60: bundle.size is 0: expected 1 to 4096 slots\n"},
    {"over: time", "over: times",
     "g.yaml:11:48: bundle.over is 'times': expected one of time, cameras or both; did you mean "
     "'time'?\n"},
    {"timeout: 300ms", "timeout: 300",
     "g.yaml:11:93: bundle.release.timeout is '300': expected a duration such as 40ms; it needs a "
     "unit: 300ms or 300s?\n"},
    {"timeout: 300ms", "timeout: 300 msec",
     "g.yaml:11:93: bundle.release.timeout is '300 msec': expected a duration such as 40ms; units "
     "are ns, us, ms, s, min and h\n"},
    {"timeout: 300ms", "timeout: 0ms",
     "g.yaml:11:93: bundle.release.timeout is 0ms: expected 1ms to 1h\n"},
    {"timeout: 300ms", "timout: 300ms",
     "g.yaml:11:84: bundle.release has no parameter 'timout': did you mean 'timeout'?\n"},
    {"release: { count: 8, timeout: 300ms }", "release: 8",
     "g.yaml:11:72: bundle.release is '8': expected keys and values, out of count, timeout and "
     "late\n"},
    {"count: 8", "count: 9",
     "g.yaml:11:81: release.count is above size: it can never be reached\n"},
    {"type: infer, ", "type: infer, node: edge1, ",
     "g.yaml:13:34: infer.node: a stage of type 'infer' runs in the process that runs the graph; remove `node`\n"},
  });
}

TEST_CASE("numbers beyond all bounds are told as such") {
  check({
    {"size: 8", "size: 99999999999999999999",
     "g.yaml:11:60: bundle.size is 99999999999999999999: expected 1 to 4096 slots\n"},
    {"nodes: {}", "seed: 99999999999999999999",
     "g.yaml:16:7: seed is 99999999999999999999: expected at least 0 and below 2^63\n"},
    {"nodes: {}", "memory: 99999999999TB",
     "g.yaml:16:9: memory is 99999999999TB: expected at least 1B and below 9200 PB\n"},
    {"nodes: {}", "memory: -5", "g.yaml:16:9: memory is -5: expected at least 1B\n"},
    {"timeout: 300ms", "timeout: 99999999999999h",
     "g.yaml:11:93: bundle.release.timeout is 99999999999999h: expected 1ms to 1h\n"},
    {"wait: 40ms", "wait: 99999999999999h",
     "g.yaml:10:66: align.wait is 99999999999999h: expected below 292 years\n"},
  });
}

TEST_CASE("an empty text is no value where one is needed") {
  check({
    {"path: results.jsonl", "path: \"\"",
     "g.yaml:15:50: results.path is empty: expected a text (What path means.)\n"},
    {"scene: parts", "path: \"\"",
     "g.yaml:7:33: camera.path is empty: expected the name of a file (What path means.), or leave "
     "the key out\n"},
    {"id: station{1..3}.cam{1..4}\n    group: station{1..3}", "id: \"\"",
     "g.yaml:5:9: stream.id is empty: expected a text (The stream's unique name; `cam{1..4}` makes "
     "four streams.)\n"},
    {"from: infer", "from: \"\"",
     "g.yaml:14:37: unbundle.from.stage is empty: expected a text (The stage that the items come "
     "from.)\n"},
  });
}

TEST_CASE("five different faults are all told, in the order of the lines") {
  auto text = with("type: fake", "type: fkae");
  text = with("tolerance: 10ms", "tolerance: 10", text);
  text = with("size: 8", "size: 9000", text);
  text = with("from: schedule", "from: scheduler", text);
  text = with("path: results.jsonl", "paht: results.jsonl", text);
  CHECK(
    faults_of(text)
    == "g.yaml:7:21: there is no camera 'fkae': did you mean 'fake'?\n"
       "g.yaml:10:54: align.tolerance is '10': expected a duration such as 40ms; it needs a unit: "
       "10ms or 10s?\n"
       "g.yaml:11:60: bundle.size is 9000: expected 1 to 4096 slots\n"
       "g.yaml:13:34: infer takes from 'scheduler', but there is no such stage: did you mean "
       "'schedule'?\n"
       "g.yaml:15:3: results needs 'path': expected a text (What path means.)\n"
       "g.yaml:15:44: results has no parameter 'paht': did you mean 'path'?\n");
}

TEST_CASE("files that are none") {
  const auto folder = std::filesystem::temp_directory_path() / "hyperframes_check_test";
  std::filesystem::create_directories(folder);
  const auto dir = folder.string();
  CHECK(
    to_string(read_graph_file(dir + "/none.yaml", known()).faults)
    == dir + "/none.yaml: there is no such file\n");
  CHECK(
    to_string(read_graph_file(dir, known()).faults)
    == dir + ": this is a directory: expected a graph file\n");
  const auto path = dir + "/g.yaml";
  std::ofstream(path) << good;
  const auto r = read_graph_file(path, known());
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  CHECK(r.graph->folder == dir);
  CHECK(r.graph->streams[0].mark.to_string() == path + ":5:9");
  std::ofstream(path, std::ios::binary) << std::string(
    "\x7f"
    "ELF\0\0\0",
    7);
  CHECK(
    to_string(read_graph_file(path, known()).faults)
    == path
         + ":1:5: this is not a text: expected UTF-8, found a byte that it cannot contain here\n");
  std::ofstream(path) << std::string((16U << 20) + 1, ' ');
  CHECK(
    to_string(read_graph_file(path, known()).faults)
    == path + ": the file has more than 16 MiB: expected a graph\n");
  std::filesystem::remove_all(folder);
}
