// The rehearsal: every fault that the project knows of, in one graph.
#include "tests/system/collected.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/summary_checks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

const std::string drill = HYPERFRAMES_SOURCE_DIR "/graphs/drill.yaml";

graph drill_to(const std::string& path) {
  graph_options options;
  options.overrides = {{"stages.results.path", path}};
  return graph::from_file(drill, options);
}

/// What must hold whatever goes wrong.
/// @param threads in real time: the worker that hangs is left behind, and a machine that stands
/// still for longer than the latency budget makes frames expire, as it should.
void check_drill(const run_summary& s, const std::vector<std::string>& lines, bool threads) {
  check_ledger(s, threads ? 1 : 0);
  CHECK_FALSE(s.failed);
  CHECK(lines.size() == s.ledger.captured);
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> last; // epoch, next id
  for (const auto& text : lines) {
    const auto j = nlohmann::json::parse(text);
    auto& [epoch, next] = last[j["stream"]];
    const std::uint64_t e = j["epoch"], id = j["frame_id"];
    if (e > epoch)
      epoch = e, next = 0;
    CHECK(e == epoch);
    CHECK(id == next);
    next = id + 1;
  }
  for (const auto& stream : s.streams) {
    if (stream.id.find("sound") == std::string::npos)
      continue;
    INFO("stream ", stream.id);
    // Its own frames are sound; what fails is a frame that a worker was told to fail on.
    // A machine that is late makes frames fall to their policies, and to nothing else.
    std::uint64_t by_policy = 0;
    if (threads)
      for (const auto why : {reason::deadline, reason::edge_full, reason::pool_empty, reason::stale})
        by_policy += count_of(stream.sums, why);
    CHECK(
      count_of(stream.sums, outcome::delivered) + count_of(stream.sums, reason::inference)
        + by_policy
      == stream.sums.captured);
    CHECK(by_policy <= stream.sums.captured / 10);
    CHECK(stream.epochs == 1);
  }
  const auto line = [&](const std::string& id) {
    const auto at = std::ranges::find(s.streams, id, &run_summary::stream_line::id);
    REQUIRE(at != s.streams.end());
    return *at;
  };
  CHECK(line("clocks.jumping").epochs == 3);
  if (!threads) // left for the arrivals before it is far behind the others
    CHECK(count_of(line("clocks.lying").sums, reason::stale) <= 6);
  CHECK(line("lives.mute").silences >= 1);
  CHECK(line("lives.mute").longest_gap >= std::chrono::seconds{7});
  CHECK(count_of(line("frames.damaged").sums, reason::corrupt) > 10);
  CHECK(line("frames.gappy").device_lost >= 4);
  CHECK(count_of(s.ledger, reason::inference) > 0);
  for (const auto& e : s.edges)
    CHECK(e.peak_depth <= e.capacity + (e.overflow.starts_with("drop") ? 1 : 0));
}

const std::set<std::string> all_kinds{
  "corrupt", "duplicate", "gap",  "hang", "jitter", "jump_back", "jump_forward", "lying_rate",
  "resize",  "silence",   "skew", "slow", "throw",  "vanish",    "wrong_shape"};

std::set<std::string> kinds_of(const run_summary& s) {
  std::set<std::string> kinds;
  for (const auto& line : s.injected) {
    CHECK(line.times > 0);
    kinds.insert(line.kind);
  }
  return kinds;
}

} // namespace

TEST_CASE(
  "the drill on the virtual clock: every fault happens and is named, and every rule holds") {
  const test_folder folder;
  std::string lines[2];
  for (auto& text : lines) {
    const auto summary = run_virtually(drill_to(folder / "drill.jsonl"));
    text = content_of(folder / "drill.jsonl");
    check_drill(summary, lines_of(text), false);
    CHECK(summary.ledger.captured > 17'000);
    CHECK(kinds_of(summary) == all_kinds);
    CHECK(to_text(summary).find("fault asked for") != std::string::npos);
  }
  CHECK((lines[0] == lines[1]));
}

TEST_CASE("the whole drill on threads, in real time") {
  const test_folder folder;
  run_summary summary;
  {
    running run{drill_to(folder / "drill.jsonl")};
    summary = run.finish();
  }
  check_drill(summary, lines_of(content_of(folder / "drill.jsonl")), true);
  CHECK(
    summary.ledger.captured
    > 15'000); // of a camera that nobody asks in time the device loses frames
  CHECK(kinds_of(summary) == all_kinds);
}
