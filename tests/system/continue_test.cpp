// `hyperframes run` is killed, and goes on with --continue.
#include "actors/sinks/announced.hpp"
#include "tests/system/node_process.hpp"
#include "tests/system/on_nodes.hpp"
#include "tests/system/summary_checks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>

using namespace hyperframes;
using namespace hyperframes::test;
using nlohmann::json;

namespace {

constexpr std::uint64_t film_frames = 2500;

/// Two cameras, and a film, each with its results.
std::string two_lines() {
  return "hyperframes: 1\n"
         "name: going\n"
         "streams:\n"
         "  - { id: \"cam{1..2}\", camera: { type: synthetic, size: 32x32, fps: 200 } }\n"
         + file_camera("film", film_frames)
         + "stages:\n"
           "  cameras:   { type: capture, streams: \"cam*\" }\n"
           "  bundle:    { type: bundle, from: cameras, size: 4, release: { count: 4, timeout: "
           "20ms } }\n"
           "  schedule:  { type: schedule, from: bundle }\n"
           "  infer:     { type: infer, from: schedule, backend: simulated, simulated: { fixed: "
           "1ms, per_slot: 0ms } }\n"
           "  unbundle:  { type: unbundle, from: infer }\n"
           "  results:   { type: jsonl, from: unbundle, path: cameras.jsonl, flush: 5ms }\n"
           "  player:    { type: capture, streams: film }\n"
           "  bundle2:   { type: bundle, from: player, size: 4 }\n"
           "  schedule2: { type: schedule, from: bundle2 }\n"
           "  infer2:    { type: infer, from: schedule2, backend: simulated, simulated: { fixed: "
           "2ms, per_slot: 0ms } }\n"
           "  unbundle2: { type: unbundle, from: infer2 }\n"
           "  results2:  { type: jsonl, from: unbundle2, path: film.jsonl, flush: 5ms }\n";
}

std::vector<std::string> command(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{HYPERFRAMES_COMMAND, "run", "g.yaml"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::uint64_t size_of(const std::string& path) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(path, none);
  return none ? 0 : bytes;
}

/// By stream and epoch: how many frames.
using epochs = std::map<std::pair<std::string, std::uint32_t>, std::uint64_t>;

/// What the run before has captured, as it stands beside its results.
void note_captured(const std::string& results, epochs& into) {
  const auto kept = content_of(announced_path(results));
  if (kept.empty()) // killed before it began
    return;
  for (const auto& s : read_announced(kept).value().streams)
    for (const auto& [epoch, frames] : s.frames)
      into[{s.id, epoch}] = frames;
}

/// Whether a run that was not there `before` has captured frames.
bool captures(const std::string& results, const epochs& before) {
  epochs now;
  note_captured(results, now);
  return std::ranges::any_of(now, [&](const auto& e) { return !before.contains(e.first); });
}

/// Frames of the film that were captured `before` and by the run now.
std::uint64_t film_of(const std::string& results, epochs before) {
  note_captured(results, before);
  std::uint64_t frames = 0;
  for (const auto& [of, n] : before)
    frames += of.first == "film" ? n : 0;
  return frames;
}

struct lines_found {
  epochs frames;
  std::uint64_t lost = 0, delivered = 0;
};

/// Checks that each stream's lines are in order: epochs go up, and the frames of each are 0, 1, 2
/// ...
void read_lines(const std::string& path, lines_found& into) {
  const auto text = content_of(path);
  REQUIRE(text.ends_with('\n'));
  std::map<std::string, std::uint32_t> epoch_of;
  for (const auto& line : lines_of(text)) {
    const auto j = json::parse(line);
    const auto id = j["stream"].get<std::string>();
    const auto epoch = j["epoch"].get<std::uint32_t>();
    auto& now = epoch_of[id];
    CHECK(epoch >= now);
    now = epoch;
    CHECK(j["frame_id"] == into.frames[{id, epoch}]);
    ++into.frames[{id, epoch}];
    into.lost += j["reason"] == "restart" ? 1 : 0;
    into.delivered += j["outcome"] == "delivered" ? 1 : 0;
  }
}

} // namespace

TEST_CASE(
  "a run that is killed at twenty moments goes on each time, and every frame has one line") {
  const test_folder folder;
  write_file(folder / "g.yaml", two_lines());
  const std::vector<std::string> files{folder / "cameras.jsonl", folder / "film.jsonl"};
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  MESSAGE("seed ", seed);
  std::mt19937 random{seed};
  epochs captured;
  for (int kill = 0; kill < 20; ++kill) {
    process run{command({"--continue"}), folder.path()};
    // Half of them while it makes the files whole, or begins; the others while it writes lines of
    // its own.
    const auto& watched = files[random() % 2];
    const auto all_played = [&] { return film_of(files[1], captured) == film_frames; };
    if (random() % 2 == 0)
      run.wait_until([&] { return captures(watched, captured) || all_played(); });
    const auto enough = size_of(watched) + random() % 20'000;
    run.wait_until([&] { return size_of(watched) >= enough || all_played(); });
    run.signal(SIGKILL);
    CHECK(run.wait() == 1000 + SIGKILL);
    for (const auto& f : files)
      note_captured(f, captured);
  }
  // The film is read to its end, behind what was captured of it.
  write_file(folder / "g.yaml", with(two_lines(), "fps: 200", "fps: 200, frames: 40"));
  const auto last = finish(command({"--continue", "--summary", "s.json"}), folder.path());
  CHECK_MESSAGE(last.status == 0, last.err);
  CHECK(json::parse(content_of(folder / "s.json"))["ledger"]["closed"] == true);
  for (const auto& f : files)
    note_captured(f, captured);
  lines_found found;
  for (const auto& f : files)
    read_lines(f, found);
  CHECK(found.frames == captured);
  CHECK(found.lost > 0);
  CHECK(found.delivered > 0);
  CHECK(film_of(files[1], captured) == film_frames);
  CHECK_FALSE(std::filesystem::exists(announced_path(files[0]) + ".new"));
}

TEST_CASE("a run that ended goes on in a new epoch; one that begins anew replaces everything") {
  const test_folder folder;
  write_file(
    folder / "g.yaml",
    chain(file_camera("film", 20)) + "  lines: { type: jsonl, from: unbundle, path: r.jsonl }\n");
  const auto graph = with(
    content_of(folder / "g.yaml"), "  program:  { type: callback, from: unbundle }\n",
    "  counted: { type: \"null\", from: capture }\n"); // has an account of its own
  write_file(folder / "g.yaml", graph);
  const auto run = [&](const std::vector<std::string>& more) {
    const auto r = finish(command(more), folder.path());
    CHECK_MESSAGE(r.status == 0, r.err);
    return r.err;
  };
  CHECK(run({}).find("goes on") == std::string::npos);
  CHECK(lines_of(content_of(folder / "r.jsonl")).size() == 20);
  CHECK(
    run({"--continue"}).find("goes on in r.jsonl: 0 frames of the run before")
    != std::string::npos);
  CHECK(lines_of(content_of(folder / "r.jsonl")).size() == 20); // the film has no more
  write_file(folder / "g.yaml", with(graph, "frames: 20", "frames: 25"));
  run({"--continue"});
  const auto lines = lines_of(content_of(folder / "r.jsonl"));
  REQUIRE(lines.size() == 25);
  const auto j = json::parse(lines[20]);
  CHECK(j["epoch"] == 1);
  CHECK(j["frame_id"] == 0);
  CHECK(j["hyperframe"]["run"] == 2);
  CHECK(j["trace_id"] == json::parse(lines[19])["trace_id"].get<std::uint64_t>() + 1);
  run({});
  CHECK(lines_of(content_of(folder / "r.jsonl")).size() == 25);
  CHECK(read_announced(content_of(folder / "r.jsonl.announced")).value().run == 0);
}

TEST_CASE("what replaces results and keeps nothing of what it captures takes away what was kept") {
  const test_folder folder;
  const auto text = with(
    chain(file_camera("film", 20))
      + "  lines: { type: jsonl, from: unbundle, path: " + folder / "r.jsonl" + " }\n",
    "  program:  { type: callback, from: unbundle }\n", "");
  const auto beside = folder / "r.jsonl.announced";
  write_file(folder / "g.yaml", with(text, "model: " + small_model, "backend: simulated"));
  const auto kept_one = [&] {
    CHECK(finish(command(), folder.path()).status == 0);
    CHECK(std::filesystem::exists(beside));
  };
  kept_one();
  running run{graph::from_text(text), {}}; // a program
  check_ledger(run.finish());
  CHECK_FALSE(std::filesystem::exists(beside));
  const auto refused = finish(command({"--continue"}), folder.path());
  CHECK(refused.status == 1);
  CHECK(refused.err.find("r.jsonl: has lines, and there is no ") != std::string::npos);
  kept_one();
  const auto virtually = finish(command({"--clock", "virtual"}), folder.path());
  CHECK_MESSAGE(virtually.status == 0, virtually.err);
  CHECK_FALSE(std::filesystem::exists(beside));
  const auto both = finish(command({"--clock", "virtual", "--continue"}), folder.path());
  CHECK(both.status == 2);
  CHECK(
    both.err
    == "error: --continue: is for real time: on the virtual clock a run is the same each time, so "
       "run it from "
       "its beginning\n");
}

TEST_CASE("a run whose stages are on a node is killed and goes on") {
  const test_folder folder;
  make_certificates(folder);
  node_process node{folder, "far"};
  auto text = with(
    chain(file_camera("film", 3000)), "  program:  { type: callback, from: unbundle }\n",
    "  lines: { type: jsonl, from: unbundle, path: r.jsonl, flush: 5ms }\n");
  text = with(text, "type: capture }", "type: capture, node: far }");
  text = with(
    text, "type: bundle, from: capture, size: 8",
    "type: bundle, from: capture, size: 8, node: far");
  text = with(
    text, "model: " + small_model, "backend: simulated, simulated: { fixed: 6ms, per_slot: 0ms }");
  write_file(folder / "g.yaml", text + "nodes: { " + node.entry() + " }\n");
  epochs captured;
  const auto results = folder / "r.jsonl";
  for (int i = 0; i < 2; ++i) {
    process run{command({"--continue"}), folder.path()};
    REQUIRE_MESSAGE(run.wait_until([&] { return captures(results, captured); }), run.err());
    const auto before = size_of(results);
    REQUIRE_MESSAGE(run.wait_until([&] { return size_of(results) > before + 20'000; }), run.err());
    run.signal(SIGKILL);
    run.wait();
    note_captured(results, captured);
  }
  const auto last = finish(command({"--continue"}), folder.path());
  CHECK_MESSAGE(last.status == 0, last.err);
  note_captured(results, captured);
  lines_found found;
  read_lines(results, found);
  CHECK(found.frames == captured);
  CHECK(found.frames.size() == 3);
  CHECK(found.lost > 0);
  std::uint64_t all = 0;
  for (const auto& [of, n] : captured)
    all += n;
  CHECK(all == 3000);
}
