// Whole graphs of simulated parts on the virtual clock: the same to the byte each time.
#include "tests/system/films.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

std::string shaky_cameras(const std::string& path) {
  return "hyperframes: 1\n"
         "name: shaky\n"
         "seed: 7\n"
         "streams:\n"
         "  - { id: \"cam{1..3}\", group: line, camera: { type: synthetic, scene: counter, size: "
         "32x32,\n"
         "      fps: 25, frames: 100, jitter: 5ms, drop: 0.1, drift: 200 } }\n"
         "stages:\n"
         "  capture: { type: capture }\n"
         "  align:   { type: align, from: capture, tolerance: 12ms, wait: 40ms, missing: partial "
         "}\n"
         "  bundle:  { type: bundle, from: align, over: both, size: 4, release: { timeout: 200ms } "
         "}\n"
         "  lines:   { type: jsonl, from: bundle, path: "
         + path + " }\n";
}

} // namespace

TEST_CASE("two runs on the virtual clock give the same lines, byte by byte") {
  const test_folder folder;
  std::string lines[2];
  duration walls[2];
  for (int i = 0; i < 2; ++i) {
    const auto summary = run_virtually(graph::from_text(shaky_cameras(folder / "lines.jsonl")));
    check_ledger(summary);
    CHECK(summary.ledger.captured > 200);
    CHECK(summary.ledger.captured <= 300);
    walls[i] = summary.wall;
    lines[i] = content_of(folder / "lines.jsonl");
    CHECK(lines_of(lines[i]).size() >= 25);
  }
  CHECK((lines[0] == lines[1])); // not printed where they differ
  CHECK(walls[0] == walls[1]);
  CHECK(walls[0] >= std::chrono::milliseconds{3'900}); // 100 frames at 25 fps
}

TEST_CASE("a graph may run on the virtual clock again: its hyperframes are numbered anew") {
  const test_folder folder;
  const auto g = graph::from_text(shaky_cameras(folder / "lines.jsonl"));
  check_ledger(run_virtually(g));
  const auto lines = content_of(folder / "lines.jsonl");
  check_ledger(run_virtually(g));
  CHECK((content_of(folder / "lines.jsonl") == lines));
}

TEST_CASE("the virtual clock can be halted: what is under way is drained") {
  const test_folder folder;
  const auto summary = run_virtually(
    graph::from_text(shaky_cameras(folder / "lines.jsonl")), graph_time{std::chrono::seconds{1}});
  CHECK(summary.ledger.captured > 50);
  CHECK(summary.ledger.captured < 85);
  check_ledger(summary);
}

TEST_CASE("a real camera does not run on the virtual clock") {
  const auto path = film("Megamind.avi");
  const auto g = graph::from_text(
    "hyperframes: 1\n"
    "streams:\n"
    "  - { id: film, camera: { type: video, path: "
      + path
      + " } }\n"
        "stages:\n"
        "  capture: { type: capture }\n"
        "  nothing: { type: \"null\", from: capture }\n",
    "film.yaml");
  CHECK_THROWS_WITH_AS(
    run_virtually(g),
    doctest::Contains(
      "film.yaml:3:11: stream 'film' has camera 'video', which is real: on the virtual clock every "
      "part must be simulated; use camera `synthetic` or `timeline`"),
    failure);
}

TEST_CASE("real inference does not run on the virtual clock") {
  const auto g = graph::from_text(
    with(chain(file_camera("cam", 5)), "type: callback", "type: \"null\""), "infer.yaml");
  CHECK_THROWS_WITH_AS(run_virtually(g), doctest::Contains("infer"), failure);
}

TEST_CASE("a simulated device takes its time on the virtual clock, to the nanosecond") {
  const auto text = [](int workers) {
    return "hyperframes: 1\n"
           "streams:\n"
           + file_camera("cam", 80)
           + "stages:\n"
             "  capture:  { type: capture }\n"
             "  bundle:   { type: bundle, from: capture, size: 8 }\n"
             "  schedule: { type: schedule, from: bundle }\n"
             "  infer:    { type: infer, from: schedule, backend: simulated, simulated: { fixed: 10ms, per_slot: "
             "1ms },\n"
             "              workers: "
           + std::to_string(workers)
           + ", batch: { max: 8 } }\n"
             "  unbundle: { type: unbundle, from: infer }\n"
             "  nothing:  { type: \"null\", from: unbundle }\n";
  };
  const auto one = run_virtually(graph::from_text(text(1)));
  check_ledger(one);
  CHECK(count_of(one.ledger, outcome::delivered) == 80);
  CHECK(one.simulated);
  CHECK(one.wall == std::chrono::milliseconds{180}); // ten batches of 10 ms + 8 x 1 ms
  const auto two = run_virtually(graph::from_text(text(2)));
  check_ledger(two);
  CHECK(two.wall == std::chrono::milliseconds{90});
}

TEST_CASE("a silence is told once: who, since when, and what follows") {
  struct row {
    const char* what;
    std::string align, follows;
    std::size_t silences = 2; // one of 700 ms, one of 3 s
  };
  const std::string without = "while others of its group go on, the sets of align leave without it";
  const row rows[]{
    {"nobody waits for it", "", "", 1},
    {"align does", ", type: align", "; " + without, 1},
    {"for longer", ", type: align, silent_after: 2s", "; from 2s on, " + without, 1},
    {"for less", ", type: align, silent_after: 500ms", "; " + without, 2},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    const std::string cam = "camera: { type: synthetic, scene: counter, size: 32x32, fps: 20, frames: 200";
    auto stages = std::string{"  capture: { type: capture }\n"};
    if (!r.align.empty())
      stages += "  align: { from: capture" + r.align + " }\n";
    const auto g = graph::from_text(
      "hyperframes: 1\nstreams:\n  - { id: sound, group: g, " + cam + " } }\n  - { id: mute, group: g, "
      + cam
      + ", faults: [ { kind: silence, at: [40], for: 700ms }, { kind: silence, at: [100], for: 3s } ] } }\n"
        "stages:\n"
      + stages + "  nothing: { type: \"null\", from: " + (r.align.empty() ? "capture" : "align") + " }\n");
    std::vector<std::string> told;
    run_options options;
    options.on_event = [&](const event& e) {
      if (e.sentence.find("silent") != std::string::npos || e.sentence.find("back") != std::string::npos)
        told.push_back(e.sentence);
    };
    run_virtually(g, never, options);
    std::vector<std::string> expected;
    if (r.silences > 1)
      expected = {"stream mute is silent since 1.950 s" + r.follows, "stream mute is back after 0.750 s"};
    expected.push_back("stream mute is silent since 4.950 s" + r.follows);
    expected.push_back("stream mute is back after 3.050 s");
    std::string all, wanted;
    for (const auto& t : told)
      all += t + '\n';
    for (const auto& t : expected)
      wanted += t + '\n';
    CHECK(all == wanted);
  }
}
