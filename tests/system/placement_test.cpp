// Whole stages in other processes: the same graph gives the same in both placements, and what a node that
// is killed held ends as lost.
#include "runtime/net/node_network.hpp"
#include "tests/system/collected.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/on_nodes.hpp"
#include "tests/system/summary_checks.hpp"

#include <algorithm>
#include <mutex>
#include <random>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

/// `chain` with `node: where` at the stages that are named.
std::string placed(
  const std::string& streams, const std::vector<std::pair<std::string, std::string>>& at,
  const std::vector<std::string>& nodes) {
  auto text = chain(streams);
  for (const auto& [type, where] : at)
    text = with(text, "{ type: " + type, "{ type: " + type + ", node: " + where);
  text += "nodes: { ";
  for (const auto& n : nodes)
    text += n + ", ";
  return text + "}\n";
}

struct seen {
  std::vector<frame_position> at;
  std::vector<outcome> what;
  std::vector<std::int32_t> classes;
  friend bool operator==(const seen&, const seen&) = default;
};

seen what_came(const collected_results& results, stream_index stream) {
  seen s;
  for (const auto& r : results.of(stream)) {
    s.at.push_back(r->meta.position());
    s.what.push_back(r->what);
    s.classes.push_back(
      r->inferred && !r->inferred->classes.empty() ? r->inferred->classes[0].label : -1);
  }
  return s;
}

} // namespace

TEST_CASE("stages on nodes give what stages of this process give") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  node_process a{folder, "a"}, b{folder, "b"};
  constexpr std::uint64_t frames = 400;
  const auto streams = file_camera("cam", frames) + file_camera("cam2", frames);
  collected_results here;
  running local{graph::from_text(chain(streams)), calling({{"program", here.taker()}})};
  const auto expected = local.finish();
  REQUIRE(here.count() == 2 * frames);

  using places = std::vector<std::pair<std::string, std::string>>;
  for (const auto& at : std::initializer_list<places>{
         {{"capture", "a"}, {"bundle", "a"}},
         {{"schedule", "a"}},
         {{"capture", "a"}, {"bundle", "a"}, {"schedule", "a"}},
         {{"capture", "a"}, {"bundle", "a"}, {"schedule", "b"}},
         {{"capture", "a"}, {"bundle", "a"}, {"schedule", "b"}, {"infer", "a"}}}) {
    CAPTURE(at.size());
    CAPTURE(at.front().first);
    CAPTURE(at.back().second);
    collected_results there;
    told events;
    running run{
      graph::from_text(placed(streams, at, {a.entry(), b.entry()})),
      on_nodes(there, events, network_of(certs))};
    const auto summary = run.finish();
    CHECK(there.fault() == "");
    CHECK(events.events == std::vector<std::string>{});
    check_ledger(summary);
    for (stream_index s : {0U, 1U})
      CHECK(what_came(here, s) == what_came(there, s));
    // What both ends of an edge count is in one place.
    for (std::size_t e = 0; e < summary.edges.size(); ++e) {
      INFO("edge ", summary.edges[e].from, " -> ", summary.edges[e].to);
      CHECK(summary.edges[e].items == expected.edges[e].items);
      CHECK(summary.edges[e].drops == 0);
    }
    check_depths(summary);
  }
}

TEST_CASE("a node with cameras is killed: what it held is lost, and they begin a new epoch elsewhere") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  auto a = std::make_unique<node_process>(folder, "a");
  node_process b{folder, "b"};
  constexpr std::uint64_t frames = 6000;
  collected_results results;
  told events;
  running run{
    graph::from_text(placed(
      file_camera("cam", frames), {{"capture", "[a, b]"}, {"bundle", "[a, b]"}},
      {a->entry(), b.entry()})),
    on_nodes(results, events, network_of(certs))};
  wait_for("the first results", [&] { return results.count() > 200; });
  a->kill();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  check_ledger(summary);
  const auto& sums = summary.ledger;
  CHECK(sums.captured == frames); // a file goes on where it was
  CHECK(results.count() == frames);
  CHECK(count_of(sums, outcome::delivered) + count_of(sums, reason::worker_lost) == frames);
  CHECK(count_of(sums, outcome::delivered) > frames / 2);
  CHECK(results.of(0).back()->meta.epoch == 1);
  CHECK(events.has("capture, bundle: node 'a' is gone"));
  CHECK(events.has("runs on a node again"));
}

TEST_CASE("the scheduler's node is killed and comes again: what it held is lost, the rest goes on") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  auto a = std::make_unique<node_process>(folder, "a");
  constexpr std::uint64_t frames = 6000;
  collected_results results;
  told events;
  running run{
    graph::from_text(placed(
      file_camera("cam", frames / 2) + file_camera("cam2", frames / 2), {{"schedule", "a"}}, {a->entry()})),
    on_nodes(results, events, network_of(certs))};
  wait_for("the first results", [&] { return results.count() > 200; });
  const auto port = a->port();
  a->kill();
  a = std::make_unique<node_process>(folder, "a", port);
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  check_ledger(summary);
  const auto& sums = summary.ledger;
  CHECK(sums.captured == frames);
  CHECK(results.count() == frames);
  CHECK(count_of(sums, outcome::delivered) + count_of(sums, reason::worker_lost) == frames);
  CHECK(count_of(sums, outcome::delivered) > frames / 2);
  CHECK(results.of(0).back()->meta.epoch == 0);
}

TEST_CASE("nodes with stages are killed at random: one outcome a frame, in order") {
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
  constexpr std::uint64_t frames = 12'000;
  collected_results results;
  told events;
  running run{
    graph::from_text(placed(
      file_camera("cam", frames / 2) + file_camera("cam2", frames / 2),
      {{"capture", "[a, b, c]"}, {"bundle", "[a, b, c]"}, {"schedule", "[b, c]"}, {"infer", "any"}}, entries)),
    on_nodes(results, events, network_of(certs))};
  for (std::uint64_t round = 1; round <= 6 && !run.finished(); ++round) {
    wait_for("results", [&] { return results.count() >= round * frames / 8 || run.finished(); });
    const auto at = random() % nodes.size();
    const auto port = nodes[at]->port();
    nodes[at]->kill();
    nodes[at] = std::make_unique<node_process>(folder, std::string(1, "abc"[at]), port);
  }
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  CHECK(results.count() == frames);
  CHECK(summary.ledger.captured == frames);
  check_ledger(summary);
}

TEST_CASE("nobody takes the part of a node that is gone: the graph ends, and says why") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  auto a = std::make_unique<node_process>(folder, "a");
  collected_results results;
  told events;
  running run{
    graph::from_text(
      placed(file_camera("cam", 100'000), {{"capture", "a"}, {"bundle", "a"}}, {a->entry()})),
    on_nodes(results, events, network_of(certs))};
  wait_for("the first results", [&] { return results.count() > 100; });
  a->kill();
  run.stop(); // nobody waits for it any more
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  check_ledger(summary);
  CHECK(results.count() == summary.ledger.captured);
  REQUIRE(summary.failed);
  CHECK(summary.failed->find("no node takes it: node 'a': ") != std::string::npos);
}

TEST_CASE("a part whose node refuses it does not start") {
  test_folder folder, elsewhere;
  const auto certs = make_certificates(folder);
  std::filesystem::copy_file("/usr/share/doc/opencv-doc/examples/data/vtest.avi", elsewhere / "film.avi");
  node_process a{folder, "a"};
  collected_results results;
  told events;
  std::string why;
  try {
    running run{
      graph::from_text(placed(
        "  - { id: cam, camera: { type: video, path: " + (elsewhere / "film.avi") + " } }\n",
        {{"capture", "a"}, {"bundle", "a"}}, {a.entry()})),
      on_nodes(results, events, network_of(certs))};
  } catch (const failure& e) {
    why = e.what();
  }
  CHECK(why.find("lies outside of the folder that this node allows") != std::string::npos);
}
