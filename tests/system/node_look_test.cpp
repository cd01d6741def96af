// Cameras and models that only nodes have: who runs the graph asks for them, and says what is wrong
// there.
#include "graphs/node_look.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/on_nodes.hpp"
#include "tests/system/summary_checks.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

namespace fs = std::filesystem;

/// A table of frames and a model that have the same names in each folder.
void put_material(
  const std::string& folder, const std::string& model = "means_dynamic.onnx", int frames = 12) {
  fs::copy_file(HYPERFRAMES_TEST_DATA "/models/" + model, folder + "/model.onnx");
  std::ofstream table{folder + "/times.csv"};
  table << "frame_id,capture_time,arrival_time\n";
  for (int i = 0; i < frames; ++i)
    table << i << ',' << i * 40 << "ms," << i * 40 << "ms\n";
}

/// Cameras and workers on nodes.
std::string graph_text_of(const std::string& nodes, const std::string& captured_on = "a") {
  auto text =
    chain("  - { id: cam, camera: { type: timeline, path: times.csv, size: 32x32, fps: 25 } }\n");
  text = with(text, small_model, "model.onnx");
  text = with(text, "{ type: capture", "{ type: capture, node: " + captured_on);
  text = with(text, "{ type: bundle", "{ type: bundle, node: " + captured_on);
  text = with(text, "type: infer", "type: infer, node: any");
  return text + "nodes: { " + nodes + " }\n";
}

graph_options asking(const std::shared_ptr<node_network>& network) {
  graph_options options;
  options.network = [network] { return network; };
  return options;
}

std::string faults_of(const std::string& text, const graph_options& options) {
  try {
    graph::from_text(text, "g.yaml", options);
  } catch (const graph_error& e) {
    return e.what();
  }
  return {};
}

} // namespace

TEST_CASE(
  "cameras and a model that only a node has: the graph runs, and the process needs neither") {
  test_folder folder, there;
  const auto certs = make_certificates(folder);
  put_material(there.path());
  node_process a{folder, "a", "0", {"--folder", there.path()}};
  const auto network = network_of(certs);
  const auto text = graph_text_of(a.entry());
  // Without asking, they are looked for here.
  const auto here = faults_of(text, {});
  CHECK(here.find("times.csv") != std::string::npos);
  CHECK(here.find("model.onnx") != std::string::npos);

  collected_results results;
  told events;
  running run{
    graph::from_text(text, "g.yaml", asking(network)), on_nodes(results, events, network)};
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  CHECK(count_of(summary.ledger, outcome::delivered) == 12);
  check_ledger(summary);
}

TEST_CASE("what a node finds wrong with its cameras stands at their place in the graph") {
  test_folder folder, there;
  const auto certs = make_certificates(folder);
  put_material(there.path());
  fs::remove(there / "times.csv");
  node_process a{folder, "a", "0", {"--folder", there.path()}};
  const auto faults = faults_of(graph_text_of(a.entry()), asking(network_of(certs)));
  CHECK(faults.starts_with("g.yaml:4:"));
  CHECK(
    faults.find("on node 'a': camera.path names 'times.csv', but there is no such file")
    != std::string::npos);
  CHECK(std::ranges::count(faults, '\n') == 1); // said once, by who has looked
}

TEST_CASE("of two nodes the one counts that has the cameras") {
  test_folder folder, empty, there;
  const auto certs = make_certificates(folder);
  put_material(there.path());
  put_material(empty.path());
  fs::remove(empty / "times.csv");
  node_process a{folder, "a", "0", {"--folder", empty.path()}},
    b{folder, "b", "0", {"--folder", there.path()}};
  const auto nodes = a.entry() + ", " + b.entry();
  CHECK(faults_of(graph_text_of(nodes, "[a, b]"), asking(network_of(certs))) == "");
}

TEST_CASE("nobody could be asked: a fault that says why") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  auto a = std::make_unique<node_process>(folder, "a");
  const auto entry = a->entry();
  a->kill();
  const auto faults = faults_of(graph_text_of(entry), asking(network_of(certs)));
  CHECK(
    faults.find("capture and infer run on nodes, and none of them could be asked for its cameras and "
                "models: node 'a': no node takes part")
    != std::string::npos);
  CHECK(std::ranges::count(faults, '\n') == 1);
}

TEST_CASE("a node with another model under the same name is no place for a worker") {
  test_folder folder, there, other;
  const auto certs = make_certificates(folder);
  put_material(there.path(), "means_dynamic.onnx", 5000); // it ends for no other reason before
  put_material(other.path(), "mean_gray.onnx");
  node_process a{folder, "a", "0", {"--folder", there.path()}},
    b{folder, "b", "0", {"--folder", other.path()}};
  const auto network = network_of(certs);
  const auto nodes = a.entry() + ", " + b.entry();
  const auto g = graph::from_text(graph_text_of(nodes), "g.yaml", asking(network));
  const auto looks = look_on_all_nodes(g.checked(), *network);
  REQUIRE(looks.size() == 2);
  CHECK(looks[0].faults.empty());
  REQUIRE(looks[1].faults.size() == 1);
  CHECK(looks[1].faults[0].message.starts_with("on node 'b': infer has another model, "));

  collected_results results;
  told events;
  std::string why;
  try {
    running run{
      graph::from_text(
        with(graph_text_of(nodes), "node: any", "workers: 2, node: any"), "g.yaml",
        asking(network)),
      on_nodes(results, events, network)};
    why = run.finish().failed.value_or(""); // the first worker may be warm before the second is refused
  } catch (const failure& e) {
    why = e.what();
  }
  CHECK(why.find("node 'b'") != std::string::npos);
  CHECK(why.find("has another model, ") != std::string::npos);
}

TEST_CASE("validate --connect lists the nodes, and explain says where stages run") {
  test_folder folder, there;
  make_certificates(folder);
  put_material(there.path());
  node_process a{folder, "a", "0", {"--folder", there.path()}};
  std::ofstream{folder / "g.yaml"}
    << with(graph_text_of(a.entry()), "node: any", "node: any, workers: 3");
  const auto good = finish({HYPERFRAMES_COMMAND, "validate", "g.yaml", "--connect"}, folder.path());
  CHECK(good.err == "");
  CHECK(good.status == 0);
  CHECK(
    good.out.find(
      "infer has 3 workers, and its nodes have 1 free slots: the others wait until one has\n")
    != std::string::npos);
  CHECK(good.out.find("g.yaml: 1 stream, 6 stages, no faults\n") != std::string::npos);
  CHECK(good.out.find("capture, bundle, infer") != std::string::npos);

  const auto explained =
    finish({HYPERFRAMES_COMMAND, "explain", "g.yaml", "--connect"}, folder.path());
  CHECK(explained.status == 0);
  CHECK(
    explained.out.find("runs in another process, on node a (127.0.0.1:" + a.port() + ')')
    != std::string::npos);

  a.kill();
  const auto gone = finish({HYPERFRAMES_COMMAND, "validate", "g.yaml", "--connect"}, folder.path());
  CHECK(gone.status == 2);
  CHECK(gone.err.find("could be asked for its cameras and models") != std::string::npos);
}
