// Where stages run: `nodes` of a graph and `node` of a stage.
#include "graphs/check.hpp"
#include "graphs/graph.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hyperframes;

namespace {

const std::string head = "hyperframes: 1\n"
                         "streams:\n"
                         "  - { id: cam, camera: { type: synthetic, scene: counter } }\n"
                         "stages:\n"
                         "  capture:  { type: capture }\n"
                         "  bundle:   { type: bundle, from: capture, size: 8 }\n"
                         "  schedule: { type: schedule, from: bundle }\n";
const std::string tail = "  unbundle: { type: unbundle, from: infer }\n"
                         "  nothing:  { type: \"null\", from: unbundle }\n";

std::string graph_with(const std::string& node, const std::string& nodes) {
  return head + "  infer:    { type: infer, from: schedule, backend: simulated" + node + " }\n"
         + tail + nodes;
}

std::string faults_of(const std::string& text) {
  return to_string(read_graph_text(text, "g.yaml", built_in()).faults);
}

} // namespace

TEST_CASE("a stage's nodes: one, a list, any") {
  const std::string nodes =
    "nodes: { a: 127.0.0.1:4101, b: \"[::1]:4102\", c: host.example:4103 }\n";
  struct row {
    const char* node;
    std::vector<std::size_t> at;
  };
  for (const auto& r : std::initializer_list<row>{
         {"", {}}, {", node: b", {1}}, {", node: [c, a]", {2, 0}}, {", node: any", {0, 1, 2}}}) {
    CAPTURE(r.node);
    const auto read = read_graph_text(graph_with(r.node, nodes), "g.yaml", built_in());
    CHECK(to_string(read.faults) == "");
    REQUIRE(read.graph);
    CHECK(read.graph->stages[3].nodes == r.at);
    CHECK(read.graph->nodes[1].at == node_address{"::1", 4102});
    CHECK(read.graph->nodes[1].at.to_string() == "[::1]:4102");
  }
}

TEST_CASE("faults of nodes") {
  struct row {
    const char *node, *nodes, *faults;
  };
  for (const auto& r : std::initializer_list<row>{
         {", node: a", "",
          "g.yaml:8:70: infer.node is 'a', but there is no such node: the graph has no `nodes`\n"},
         {", node: any", "", "g.yaml:8:70: infer.node is any, but the graph has no `nodes`\n"},
         {", node: belt", "nodes: { belt1: h:1 }\n",
          "g.yaml:8:70: infer.node is 'belt', but there is no such node: did you mean 'belt1'?\n"},
         {", node: [a, a]", "nodes: { a: h:1 }\n",
          "g.yaml:8:74: infer.node names 'a' twice: remove one of them\n"},
         {", node: []", "nodes: { a: h:1 }\n",
          "g.yaml:8:70: infer.node is an empty list: name a node, or remove `node`\n"},
         {", node: { a: b }", "nodes: { a: h:1 }\n",
          "g.yaml:8:70: infer.node is keys and values: expected the name of a node, a list of "
          "names, or any\n"},
         {"", "nodes: [a]\n",
          "g.yaml:11:8: nodes is a list: expected names and addresses, such as nodes: { line1: "
          "10.0.0.2:4100 }\n"},
         {"", "nodes: { a: 4100 }\n",
          "g.yaml:11:13: nodes.a is '4100': expected host:port, such as 10.0.0.2:4100\n"},
         {"", "nodes: { a: h:70000 }\n",
          "g.yaml:11:13: nodes.a is 'h:70000': expected host:port, such as 10.0.0.2:4100\n"},
         {"", "nodes: { a: [h] }\n",
          "g.yaml:11:13: nodes.a is a list: expected its address, host:port, such as "
          "10.0.0.2:4100\n"},
         {"", "nodes: { a: h:1, b: h:1 }\n",
          "g.yaml:11:21: the nodes 'a' and 'b' have the same address: remove one of them\n"},
         {"", "nodes: { any: h:1 }\n",
          "g.yaml:11:10: the node 'any' may hold letters, digits and the signs _- only, and not be "
          "'any'\n"}}) {
    CAPTURE(r.node);
    CAPTURE(r.nodes);
    CHECK(faults_of(graph_with(r.node, r.nodes)) == r.faults);
  }
}

TEST_CASE("what must run in the process that runs the graph says so") {
  auto text = graph_with("", "nodes: { a: h:1 }\n");
  const std::string unbundle = "type: unbundle, from: infer";
  text.replace(text.find(unbundle), unbundle.size(), unbundle + ", node: a");
  CHECK(
    faults_of(text)
    == "g.yaml:9:50: unbundle.node: a stage of type 'unbundle' runs in the process that runs the "
       "graph; "
       "remove `node`\n");
}

TEST_CASE("frames do not leave their process") {
  const auto with_nodes = [](std::vector<std::pair<std::string, std::string>> at) {
    auto text = graph_with("", "nodes: { a: h:1, b: h:2 }\n");
    for (const auto& [type, where] : at) {
      const auto begin = "{ type: " + type;
      text.replace(text.find(begin), begin.size(), begin + ", node: " + where);
    }
    return text;
  };
  CHECK(faults_of(with_nodes({{"capture", "a"}, {"bundle", "a"}})) == "");
  CHECK(faults_of(with_nodes({{"capture", "a"}, {"bundle", "a"}, {"schedule", "b"}, {"infer", "any"}})) == "");
  CHECK(faults_of(with_nodes({{"schedule", "[b, a]"}})) == "");
  CHECK(
    faults_of(with_nodes({{"capture", "a"}, {"bundle", "[a, b]"}}))
    == "g.yaml:6:49: bundle runs on a or b and takes items of type frame from 'capture', which runs on a: only "
       "hyperframes, batches and triggers leave their process; give both the same `node`\n");
  CHECK(
    faults_of(with_nodes({{"bundle", "b"}}))
    == "g.yaml:6:44: bundle runs on b and takes items of type frame from 'capture', which runs in the process "
       "that runs the graph: only hyperframes, batches and triggers leave their process; give both the same "
       "`node`\n");
}

TEST_CASE("what the program hands in is captured in its process") {
  auto text = graph_with("", "nodes: { a: h:1 }\n");
  const auto put = [&](const std::string& old, const std::string& with) { text.replace(text.find(old), old.size(), with); };
  put("type: synthetic, scene: counter", "type: push, size: 64x64, fps: 10");
  put("{ type: capture", "{ type: capture, node: a");
  put("{ type: bundle", "{ type: bundle, node: a");
  CHECK(
    faults_of(text)
    == "g.yaml:3:11: stream 'cam' has camera 'push', whose frames come from the program, and 'capture' runs on a: "
       "capture it in the process that runs the graph\n");
}

TEST_CASE("a graph keeps its text for other processes, with what it takes of the environment") {
  graph_options options;
  options.environment = {{"TIME", "20ms"}, {"SECRET", "x"}};
  options.overrides = {{"name", "other"}};
  auto text = graph_with("", "");
  text.replace(text.find("size: 8"), 7, "size: 8, release: { count: 8, timeout: \"${TIME}\" }");
  const auto read = read_graph_text(text, "g.yaml", built_in(), options);
  REQUIRE(read.graph);
  CHECK(read.graph->source.text == text);
  CHECK(read.graph->source.options.overrides == options.overrides);
  CHECK(
    read.graph->source.options.environment == std::map<std::string, std::string>{{"TIME", "20ms"}});
}
