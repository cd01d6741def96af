// Nodes behind a network that stands still, is cut, or is slow: workers, and stages as a whole.
#include "graphs/node_host.hpp"
#include "tests/net/relay.hpp"
#include "tests/system/placed.hpp"

#include <filesystem>

using namespace hyperframes;
using namespace hyperframes::test;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds dead_after{400};
const std::string stands_still =
  "nothing came for 400 ms: the other side, or the network between, stands still";

/// A node of this process, behind a relay.
struct near_node {
  explicit near_node(std::string name)
    : name(std::move(name)),
      host(make_node_host({this->name, "test", 2, HYPERFRAMES_TEST_DATA})),
      network(std::nullopt, {}, dead_after) {
    between.to(network.offer({"127.0.0.1", 0}, host));
  }
  std::string entry() const { return name + ": 127.0.0.1:" + std::to_string(between.port()); }

  std::string name;
  relay between;
  std::shared_ptr<node_host> host;
  node_network network;
};

std::shared_ptr<node_network> coordinator() {
  return std::make_shared<node_network>(
    std::nullopt, std::function<void(const std::string&)>{}, dead_after);
}

/// `chain` with `node: where` at capture and bundle.
std::string captured_on(
  const std::string& where, const std::string& streams, const std::vector<std::string>& nodes) {
  auto text = chain(streams);
  for (const auto* type : {"capture", "bundle"})
    text = with(
      text, std::string{"{ type: "} + type, std::string{"{ type: "} + type + ", node: " + where);
  text += "nodes: { ";
  for (const auto& n : nodes)
    text += n + ", ";
  return text + "}\n";
}

void check_some_lost(
  const run_summary& summary, const collected_results& results, std::uint64_t frames) {
  CHECK(results.fault() == "");
  CHECK(results.count() == frames);
  check_ledger(summary);
  CHECK(summary.ledger.captured == frames);
  CHECK(
    count_of(summary.ledger, outcome::delivered) + count_of(summary.ledger, reason::worker_lost)
    == frames);
  CHECK(count_of(summary.ledger, outcome::delivered) > frames / 2);
}

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(
    std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{}));
}

} // namespace

TEST_CASE(
  "a worker's node that stands still is found by its heartbeat, and its batch is tried elsewhere") {
  near_node a{"a"}, b{"b"};
  constexpr std::uint64_t frames = 20000;
  collected_results results;
  told events;
  running run{
    graph::from_text(placed(file_camera("cam", frames), 2, {a.entry(), b.entry()})),
    on_nodes(results, events, coordinator())};
  wait_for("workers", [&] { return a.host->taken() == 1 && b.host->taken() == 1; });
  a.between.pass(0);
  check_all_delivered(run.finish(), results, frames);
  CHECK(events.has("is lost: node 'a' is gone: " + stands_still));
  CHECK(!events.has("node 'b'"));
  CHECK(!events.has("failed"));
  // It finds out by itself, and its place is free again.
  CHECK(eventually([&] { return a.host->taken() == 0 && b.host->taken() == 0; }));
}

TEST_CASE("workers whose connections are cut again and again: each frame once, in order, and "
          "nothing is kept") {
  near_node a{"a"}, b{"b"};
  constexpr std::uint64_t frames = 12000;
  const auto files = open_files();
  {
    collected_results results;
    told events;
    running run{
      graph::from_text(placed(file_camera("cam", frames), 2, {a.entry(), b.entry()})),
      on_nodes(results, events, coordinator())};
    wait_for("workers", [&] { return a.host->taken() == 1 && b.host->taken() == 1; });
    for (std::uint64_t round = 1; round <= 6; ++round) {
      wait_for("results", [&] { return results.count() > round * frames / 8; });
      (round % 2 ? a : b).between.cut();
    }
    check_all_delivered(run.finish(), results, frames);
    CHECK(events.has("is lost: node 'a' is gone"));
    CHECK(events.has("is lost: node 'b' is gone"));
  }
  CHECK(eventually([&] { return a.host->taken() == 0 && b.host->taken() == 0; }));
  // Connections of either end, and memory that was lent.
  CHECK(eventually([&] { return open_files() <= files; }));
}

TEST_CASE("a part's node that stands still is found by its heartbeat: what it held is lost, "
          "another one goes on") {
  near_node a{"a"}, b{"b"};
  constexpr std::uint64_t frames = 4000;
  collected_results results;
  told events;
  running run{
    graph::from_text(captured_on("[a, b]", file_camera("cam", frames), {a.entry(), b.entry()})),
    on_nodes(results, events, coordinator())};
  wait_for("the first results", [&] { return results.count() > 200; });
  a.between.pass(0);
  check_some_lost(run.finish(), results, frames);
  CHECK(events.has("capture, bundle: node 'a' is gone: " + stands_still));
  CHECK(events.has("runs on a node again"));
  CHECK(results.of(0).back()->meta.epoch == 1);
}

TEST_CASE("a part whose connection is cut again and again: each frame once, in order, and nothing "
          "is kept") {
  near_node a{"a"};
  constexpr std::uint64_t frames = 6000;
  const auto files = open_files();
  {
    collected_results results;
    told events;
    running run{
      graph::from_text(captured_on("a", file_camera("cam", frames), {a.entry()})),
      on_nodes(results, events, coordinator())};
    for (std::uint32_t round = 1; round <= 4; ++round) {
      wait_for("results", [&] { return results.count() > round * frames / 8; });
      a.between.cut();
    }
    check_some_lost(run.finish(), results, frames);
    CHECK(results.of(0).back()->meta.epoch == 4);
  }
  CHECK(eventually([&] { return open_files() <= files; }));
}

TEST_CASE("a network that is slow costs no frame, of workers and of a part") {
  near_node a{"a"}, b{"b"};
  for (auto* n : {&a, &b})
    n->between.delay(milliseconds{10});
  constexpr std::uint64_t frames = 200;
  collected_results results;
  told events;
  running run{
    graph::from_text(with(
      captured_on("a", file_camera("cam", frames), {a.entry(), b.entry()}),
      "type: infer, from: schedule", "type: infer, from: schedule, node: b")),
    on_nodes(results, events, coordinator())};
  check_all_delivered(run.finish(), results, frames);
  CHECK(events.events == std::vector<std::string>{});
}

TEST_CASE("tensors are lent on one host, and sent where memory cannot be shared") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  constexpr std::uint64_t frames = 64, tensor = 256 * 256 * 3 * 4;
  // Processes that do not see each other's ids cannot borrow.
  const std::vector<std::string> apart{"/usr/bin/env", "unshare", "--user",       "--map-root-user",
                                       "--pid",        "--fork",  "--kill-child", "--mount-proc"};
  auto probe = apart;
  probe.emplace_back("true");
  const bool can_be_apart = finish(probe, "/").status == 0;
  if (!can_be_apart)
    MESSAGE("skipped in part: no namespaces of process ids for this user");
  for (const bool shared : {true, false}) {
    if (!shared && !can_be_apart)
      continue;
    INFO(shared);
    node_process a{folder, "a", "0", {}, shared ? std::vector<std::string>{} : apart};
    relay between;
    between.to(static_cast<std::uint16_t>(std::stoi(a.port())));
    const std::vector<std::string> entries{"a: 127.0.0.1:" + std::to_string(between.port())};
    const auto large = [](const std::string& text) {
      return with(text, "model: " + small_model, "backend: simulated, input: { size: 256x256 }");
    };
    for (const auto& graph :
         {placed(file_camera("cam", frames), 1, entries),
          captured_on("a", file_camera("cam", frames), entries)}) {
      const auto before = between.passed();
      collected_results results;
      told events;
      running run{graph::from_text(large(graph)), on_nodes(results, events, network_of(certs))};
      check_all_delivered(run.finish(), results, frames);
      const auto passed = between.passed() - before;
      CHECK(passed > (shared ? 0 : frames * tensor));
      CHECK(passed < frames * tensor * (shared ? 0.02 : 1.1));
    }
  }
}
