// Workers on other processes: real ones, with certificates, that leave, come and are killed.
#include "tests/system/placed.hpp"

#include <random>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

std::vector<std::int32_t> classes_of(const collected_results& results) {
  std::vector<std::int32_t> labels;
  for (const auto& r : results.of(0))
    labels.push_back(
      r->inferred && !r->inferred->classes.empty() ? r->inferred->classes[0].label : -1);
  return labels;
}

} // namespace

TEST_CASE("workers on nodes give what workers of this process give, in order") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  node_process a{folder, "a"}, b{folder, "b", "0", {"--slots", "2"}};
  constexpr std::uint64_t frames = 400;
  const auto streams = file_camera("cam", frames);

  collected_results here, there;
  told events;
  running local{graph::from_text(chain(streams)), calling({{"program", here.taker()}})};
  check_all_delivered(local.finish(), here, frames);

  running run{
    graph::from_text(placed(streams, 3, {a.entry(), b.entry()})),
    on_nodes(there, events, network_of(certs))};
  check_all_delivered(run.finish(), there, frames);
  CHECK(classes_of(here) == classes_of(there));
  CHECK(std::ranges::count(classes_of(there), -1) == 0);
  REQUIRE((there.of(0)[0]->labels && here.of(0)[0]->labels));
  CHECK(*there.of(0)[0]->labels == *here.of(0)[0]->labels);
  for (const auto& e : events.events)
    FAIL_CHECK(e);
}

TEST_CASE("a node that is killed costs nobody a frame, and one that comes takes its worker") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  auto a = std::make_unique<node_process>(folder, "a");
  node_process b{folder, "b"};
  constexpr std::uint64_t frames = 20'000;
  collected_results results;
  told events;
  const auto network = network_of(certs);
  running run{
    graph::from_text(placed(file_camera("cam", frames), 2, {a->entry(), b.entry()})),
    on_nodes(results, events, network)};
  wait_for("the first results", [&] { return results.count() > 200; });
  wait_for("its worker", [&] {
    const auto facts = network->ask(a->address(), std::chrono::seconds{10});
    return facts && facts->taken > 0;
  });
  a->kill();
  CHECK(!run.finished());
  a = std::make_unique<node_process>(folder, "a", a->port());
  check_all_delivered(run.finish(), results, frames);
  CHECK(events.has("is lost: node 'a' is gone"));
}

TEST_CASE("a node that leaves gives its workers back: no batch is tried twice") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  node_process a{folder, "a"}, b{folder, "b", "0", {"--slots", "2"}};
  constexpr std::uint64_t frames = 6000;
  collected_results results;
  told events;
  running run{
    graph::from_text(placed(file_camera("cam", frames), 2, {a.entry(), b.entry()})),
    on_nodes(results, events, network_of(certs))};
  wait_for("the first results", [&] { return results.count() > 200; });
  CHECK(a.leave() == 0);
  CHECK(a.err().find("in use") == std::string::npos);
  check_all_delivered(run.finish(), results, frames);
  CHECK(!events.has("is lost"));
}

TEST_CASE("nodes that are killed and come again at random: one outcome a frame, in order") {
  const auto seed = std::random_device{}();
  MESSAGE("seed ", seed);
  std::mt19937 random{seed};
  test_folder folder;
  const auto certs = make_certificates(folder);
  std::vector<std::unique_ptr<node_process>> nodes;
  std::vector<std::string> entries;
  for (const auto* name : {"a", "b", "c"}) {
    nodes.push_back(std::make_unique<node_process>(folder, name));
    entries.push_back(nodes.back()->entry());
  }
  constexpr std::uint64_t frames = 8000;
  collected_results results;
  told events;
  running run{
    graph::from_text(
      placed(file_camera("cam", frames / 2) + file_camera("cam2", frames / 2), 3, entries)),
    on_nodes(results, events, network_of(certs))};
  for (int round = 1; round <= 6 && !run.finished(); ++round) {
    wait_for("results", [&] {
      return results.count() >= std::min<std::uint64_t>(frames, round * frames / 8)
             || run.finished();
    });
    auto& node = nodes[random() % nodes.size()];
    const auto name = std::string{"abc"}.substr(static_cast<std::size_t>(&node - nodes.data()), 1);
    const auto port = node->port();
    node->kill();
    node = std::make_unique<node_process>(folder, name, port);
  }
  check_all_delivered(run.finish(), results, frames);
}

TEST_CASE("a worker that finds no place until the graph ends is no fault") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  node_process a{folder, "a"}; // with one slot
  constexpr std::uint64_t frames = 2000;
  collected_results results;
  told events;
  running run{
    graph::from_text(placed(file_camera("cam", frames), 2, {a.entry()})),
    on_nodes(results, events, network_of(certs))};
  check_all_delivered(run.finish(), results, frames);
  for (const auto& e : events.events)
    CHECK(e.find("a worker waits for a node: 'a'") != std::string::npos);
}

TEST_CASE("a graph whose nodes are not there does not start, and says which") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  std::string gone;
  {
    node_process a{folder, "a"};
    gone = a.entry();
    a.kill();
  }
  collected_results results;
  told events;
  std::string why;
  try {
    running run{
      graph::from_text(placed(file_camera("cam", 8), 1, {gone})),
      on_nodes(results, events, network_of(certs))};
  } catch (const failure& e) {
    why = e.what();
  }
  CHECK(why.find("infer: none of its nodes takes a worker: 'a' (127.0.0.1:") != std::string::npos);
  CHECK(why.find("it cannot be connected to: Connection refused") != std::string::npos);
}

TEST_CASE("a node of another authority is refused, and refuses") {
  test_folder ours, theirs;
  const auto certs = make_certificates(ours);
  make_certificates(theirs);
  node_process a{theirs, "a"};
  collected_results results;
  told events;
  CHECK_THROWS_AS(
    (running{
      graph::from_text(placed(file_camera("cam", 8), 1, {a.entry()})),
      on_nodes(results, events, network_of(certs))}),
    failure);
  CHECK(a.leave() == 0);
  CHECK(a.err().find("refused: a connection from 127.0.0.1") != std::string::npos);
}

TEST_CASE("a graph cannot make a node read a file outside of its folder") {
  test_folder folder, elsewhere;
  const auto certs = make_certificates(folder);
  std::filesystem::copy_file(small_model, elsewhere / "model.onnx");
  node_process a{folder, "a"};
  collected_results results;
  told events;
  std::string why;
  try {
    running run{
      graph::from_text(
        with(placed(file_camera("cam", 8), 1, {a.entry()}), small_model, elsewhere / "model.onnx")),
      on_nodes(results, events, network_of(certs))};
  } catch (const failure& e) {
    why = e.what();
  }
  CHECK(
    why.find(
      "infer.model: '" + (elsewhere / "model.onnx")
      + "' lies outside of the folder that this node allows")
    != std::string::npos);
}

TEST_CASE(
  "hyperframes nodes lists who is there, and run deploys with the certificates of its folder") {
  test_folder folder;
  make_certificates(folder);
  node_process a{folder, "a", "0", {"--slots", "3"}};
  write_file(
    folder / "graph.yaml",
    with(
      with(
        placed(file_camera("cam", 80), 2, {a.entry(), "b: 127.0.0.1:1"}),
        "  program:  { type: callback, from: unbundle }\n",
        "  results:  { type: jsonl, from: unbundle, path: results.jsonl }\n"),
      "node: any", "node: a"));
  const auto listed = finish({HYPERFRAMES_COMMAND, "nodes", "graph.yaml"}, folder.path());
  CHECK(listed.status == 1); // b is not there
  CHECK(listed.out.find("127.0.0.1:" + a.port() + "  there") != std::string::npos);
  CHECK(listed.out.find("127.0.0.1:1 ") != std::string::npos);
  const auto run = finish({HYPERFRAMES_COMMAND, "run", "graph.yaml", "--quiet"}, folder.path());
  CHECK(run.err == "");
  CHECK(run.status == 0);
  CHECK(lines_of(content_of(folder / "results.jsonl")).size() == 80);
}

TEST_CASE("without certificates a node listens on loopback only, and says how to make them") {
  test_folder folder;
  const auto without =
    finish({HYPERFRAMES_COMMAND, "node", "--listen", "127.0.0.1:0", "--name", "a"}, folder.path());
  CHECK(without.status == 2);
  CHECK(without.err.find("certs/a.pem: cannot be read") != std::string::npos);
  CHECK(without.err.find("hyperframes certs init") != std::string::npos);
  const auto outside = finish(
    {HYPERFRAMES_COMMAND, "node", "--insecure", "--listen", "0.0.0.0:0", "--name", "a"},
    folder.path());
  CHECK(outside.status == 1);
  CHECK(
    outside.err.find("without certificates only loopback addresses are listened at")
    != std::string::npos);
}
