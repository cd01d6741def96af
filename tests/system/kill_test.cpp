// Nodes of cameras, of the scheduler and of workers are killed at random for a set time, beside a
// run that goes on:
//
//   HYPERFRAMES_KILL_SECONDS=600 system_tests --source-file='*kill_test*'
//
// HYPERFRAMES_KILL_SEED draws the same kills again; when they come depends on the machine.
#include "tests/system/held_by.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/on_nodes.hpp"
#include "tests/system/resident.hpp"
#include "tests/system/summary_checks.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <random>

#include <malloc.h>
#include <sys/wait.h>

using namespace hyperframes;
using namespace hyperframes::test;
using std::chrono::steady_clock;

namespace {

constexpr std::uint64_t memory_margin = std::uint64_t{24}
                                        << 20; ///< what a run may leave to the heap

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const auto* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Whether results come in order, one a frame; keeps none of them.
class order_check {
public:
  std::function<void(const item&)> taker() {
    return [this](const item& i) { take(std::get<frame_result_ptr>(i)->meta); };
  }
  std::uint64_t count() const { return count_; }
  const std::string& fault() const { return fault_; } ///< after the end
  std::uint32_t epochs() const {
    std::uint32_t all = 0;
    for (const auto& [stream, at] : last_)
      all += at.epoch + 1;
    return all;
  }

private:
  void take(const frame_meta& m) {
    const auto at = m.position();
    const auto found = last_.find(m.stream);
    const bool next =
      found == last_.end()
        ? at.frame_id == 0
        : (at.epoch == found->second.epoch && at.frame_id == found->second.frame_id + 1)
            || (at.epoch > found->second.epoch && at.frame_id == 0);
    if (!next && fault_.empty())
      fault_ = "stream " + std::to_string(m.stream) + ": (" + std::to_string(at.epoch) + ", "
               + std::to_string(at.frame_id) + ") is not the next one";
    last_[m.stream] = at;
    ++count_;
  }
  std::map<stream_index, frame_position> last_;
  std::string fault_;
  std::atomic<std::uint64_t> count_{0};
};

/// Two nodes for the cameras, two for the scheduler, two for workers.
class field {
public:
  field() {
    for (const auto& name : names) {
      nodes_.push_back(std::make_unique<node_process>(folder, name, "0", more));
      entries_ += nodes_.back()->entry() + ", ";
    }
  }
  std::string graph() const {
    // Results come at other moments than frames, so a kill finds something under way.
    const std::string live = "camera: { type: synthetic, scene: counter, size: 32x32, fps: ";
    auto text = chain("  - { id: one, " + live + "100 } }\n  - { id: two, " + live + "73 } }\n");
    text = with(
      text, "model: " + small_model,
      "backend: simulated, simulated: { fixed: 50ms, per_slot: 0ms }, input: { size: 32x32 }");
    text = with(text, "type: capture", "type: capture, node: [camera1, camera2]");
    text = with(text, "type: bundle", "type: bundle, node: [camera1, camera2]");
    text = with(text, "type: schedule", "type: schedule, node: [schedule1, schedule2]");
    text = with(text, "type: infer", "type: infer, workers: 2, node: [worker1, worker2]");
    return text + "nodes: { " + entries_ + "}\n";
  }
  void kill(std::size_t which) {
    const auto port = nodes_[which]->port();
    nodes_[which]->kill();
    nodes_[which] = std::make_unique<node_process>(folder, names[which], port, more);
    ++kills[which / 2];
  }
  void check_idle(node_network& network) {
    for (const auto& n : nodes_) {
      wait_for("an idle node", [&] {
        const auto facts = network.ask(n->address(), std::chrono::seconds{10});
        return facts && facts->taken == 0 && held_by{n->id()}.mappings == 0;
      });
    }
  }
  void leave() {
    for (const auto& n : nodes_)
      CHECK(n->leave() == 0);
    nodes_.clear();
  }

  static constexpr std::array<const char*, 6> names{"camera1",   "camera2", "schedule1",
                                                    "schedule2", "worker1", "worker2"};
  const std::vector<std::string> more{"--slots", "2"};
  test_folder folder;
  certificate_folder certs = make_certificates(folder);
  std::array<std::uint64_t, 3> kills{}; ///< of nodes of cameras, of the scheduler, of workers

private:
  std::vector<std::unique_ptr<node_process>> nodes_;
  std::string entries_;
};

struct figures {
  std::uint64_t captured = 0;
  std::array<std::uint64_t, outcome_count> outcomes{};
  std::uint32_t epochs = 0;
};

/// One run; kills until `end`, a moment after a number of results that is drawn, or none.
figures run_and_kill(field& nodes, std::mt19937& random, steady_clock::time_point end) {
  order_check results;
  run_options options = calling({{"program", results.taker()}});
  options.network = network_of(nodes.certs);
  running run{graph::from_text(nodes.graph()), options};
  while (steady_clock::now() < end && !run.finished()) {
    const auto next = results.count() + (random() % 4 == 0 ? 0 : random() % 250);
    wait_for("results", [&] { return results.count() >= next || run.finished(); });
    nodes.kill(random() % nodes.names.size());
  }
  CHECK(!run.finished());
  const auto before_end = results.count();
  wait_for("results behind the last kill", [&] { return results.count() > before_end + 100; });
  run.drain();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  check_ledger(summary);
  CHECK(!summary.failed);
  CHECK(results.count() == summary.ledger.captured);
  nodes.check_idle(*options.network);
  return {summary.ledger.captured, summary.ledger.outcomes, results.epochs()};
}

std::uint64_t settled_memory() {
  ::malloc_trim(0);
  return resident_bytes();
}

} // namespace

TEST_CASE(
  "nodes are killed at random for a while: one outcome a frame, in order, and nothing is left") {
  const auto seconds = number_of("HYPERFRAMES_KILL_SECONDS", 20);
  const auto seed = number_of("HYPERFRAMES_KILL_SEED", std::random_device{}());
  MESSAGE("seed ", seed, ", ", seconds, " s");
  std::mt19937 random{static_cast<std::uint32_t>(seed)};
  const held_by before{::getpid()};
  field nodes;
  const auto begin = steady_clock::now();
  // A fifth of it shows what a run takes; then no run may leave more.
  run_and_kill(nodes, random, begin + std::chrono::seconds{seconds} / 5);
  const auto memory = settled_memory();
  const auto f = run_and_kill(nodes, random, begin + std::chrono::seconds{seconds});
  const auto memory_after = settled_memory();
  CHECK(memory_after < memory + memory_margin);
  nodes.leave();
  const held_by after{::getpid()};
  CHECK(after.mappings == 0);
  CHECK(
    after.files <= before.files + 2); // the threads that read cameras, and the clock, keep theirs
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1); // no process is left
  MESSAGE(
    "kills of nodes with cameras ", nodes.kills[0], ", with the scheduler ", nodes.kills[1],
    ", with workers ", nodes.kills[2], "; in the second run ", f.captured, " frames in ", f.epochs,
    " epochs: delivered ", f.outcomes[0], ", skipped ", f.outcomes[1], ", dropped ", f.outcomes[2],
    ", expired ", f.outcomes[3], ", failed ", f.outcomes[4], ", lost ", f.outcomes[5], "; memory ",
    memory >> 10, " KiB, then ", memory_after >> 10);
}
