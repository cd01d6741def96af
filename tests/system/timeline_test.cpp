// Recorded and injected timing faults through whole graphs, on the virtual clock.
#include "graphs/schema.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/summary_checks.hpp"

#include <nlohmann/json.hpp>

using namespace hyperframes;
using namespace hyperframes::test;
using nlohmann::json;

namespace {

std::string graph_of(const std::string& camera, const std::string& results) {
  return "hyperframes: 1\nname: replay\nseed: 5\n"
         "streams:\n  - { id: cam1, camera: "
         + camera
         + " }\n"
           "stages:\n"
           "  capture: { type: capture }\n"
           "  bundle:  { type: bundle, from: capture, size: 3, release: { count: 3, timeout: 150ms "
           "} }\n"
           "  lines:   { type: jsonl, from: bundle, path: "
         + results + " }\n";
}

/// "count at 80: 0/0@0 0/1@33": why and when it was released, and each frame's epoch, id and
/// capture time, all in ms; "gap" where frames are missing in between.
std::string hyperframes_in(const std::string& text) {
  const auto ms = [](const json& ns) { return std::to_string(ns.get<std::int64_t>() / 1'000'000); };
  std::string all;
  for (const auto& line : lines_of(text)) {
    const auto h = json::parse(line);
    auto words = h["released_by"].get<std::string>() + " at " + ms(h["released_ns"]) + ':';
    for (const auto& slot : h["slots"]) {
      if (!slot["valid"].get<bool>())
        continue;
      const auto& f = slot["frame"];
      words += ' ' + std::to_string(f["epoch"].get<int>()) + '/'
               + std::to_string(f["frame_id"].get<int>()) + '@' + ms(f["capture_time_ns"]);
    }
    all += words + (h["consecutive"].get<bool>() ? "\n" : " gap\n");
  }
  return all;
}

/// Runs it twice, which must be the same to the byte.
std::string run_twice(const graph& g, const std::string& path) {
  std::string text;
  for (int i = 0; i < 2; ++i) {
    check_ledger(run_virtually(g));
    const auto now = content_of(path);
    if (i > 0)
      CHECK((now == text)); // not printed where they differ
    text = now;
  }
  return text;
}

} // namespace

TEST_CASE(
  "a recorded gap, a frame that came twice, a jump back and a silence, played through a graph") {
  const test_folder folder;
  write_file(
    folder / "recorded.csv", "stream,frame_id,capture_time,arrival_time,flags\n"
                             "cam1,0,1.000,10ms,\n"
                             "cam1,1,1.040,50ms,\n"
                             "cam2,0,1.040,55ms,\n" // another camera's
                             "cam1,1,1.040,60ms,duplicate\n"
                             "cam1,2,1.080,90ms,\n"
                             "cam1,5,1.200,210ms,\n" // 3 and 4 were lost
                             "cam1,6,0.100,250ms,\n" // the clock was set back
                             "cam1,7,0.140,290ms,\n"
                             "cam1,8,1.140,1290ms,\n"); // a second of silence
  const auto path = folder / "lines.jsonl";
  const auto g =
    graph::from_text(graph_of("{ type: timeline, path: " + (folder / "recorded.csv") + " }", path));
  const auto text = run_twice(g, path);
  CHECK(
    hyperframes_in(text)
    == "count at 60: 0/0@1000 0/1@1040 0/2@1040\n"
       "timeout at 240: 0/3@1080 0/4@1200 gap\n"
       "timeout at 400: 1/0@100 1/1@140\n"
       "flush at 1290: 1/2@1140\n");
}

TEST_CASE("the frames of one run are the timeline of the next") {
  const test_folder folder;
  const auto frames_of = [&](const std::string& camera, const std::string& name) {
    check_ledger(run_virtually(graph::from_text(
      "hyperframes: 1\n"
      "streams: [ { id: cam1, camera: "
      + camera
      + " } ]\n"
        "stages:\n"
        "  capture: { type: capture }\n"
        "  lines:   { type: jsonl, from: capture, path: "
      + (folder / name) + " }\n")));
    return lines_of(content_of(folder / name));
  };
  const auto recorded = frames_of(
    "{ type: synthetic, size: 32x32, fps: 20, frames: 12, jitter: 9ms, drop: 0.2 }",
    "recorded.jsonl");
  const auto played =
    frames_of("{ type: timeline, path: " + (folder / "recorded.jsonl") + " }", "again.jsonl");
  REQUIRE(recorded.size() == 12);
  REQUIRE(played.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    const auto a = json::parse(recorded[i]), b = json::parse(played[i]);
    for (const auto* key : {"frame_id", "device_id", "capture_time_ns", "arrived_ns", "flags"})
      CHECK(a[key] == b[key]);
  }
}

TEST_CASE("injected faults: the same to the byte each time, and other ones with another seed") {
  const test_folder folder;
  const auto path = folder / "lines.jsonl";
  const auto text = graph_of(
    "{ type: synthetic, size: 32x32, fps: 25, frames: 400, faults: [\n"
    "      { kind: gap, at: [100, 200], count: 5 }, { kind: jitter, rate: 0.1, by: 80ms },\n"
    "      { kind: duplicate, rate: 0.02 }, { kind: jump_back, at: 150, by: 2s },\n"
    "      { kind: jump_forward, at: 250, by: 20s }, { kind: corrupt, rate: 0.05 },\n"
    "      { kind: resize, at: 300, size: 64x64, count: 20 }, { kind: skew, by: 1s, drift: 300 },\n"
    "      { kind: silence, at: 350, for: 700ms }, { kind: lying_rate, fps: 30, at: 380 } ] }",
    path);
  const auto lines_of_seed = run_twice(graph::from_text(text), path);
  CHECK(lines_of(lines_of_seed).size() > 100);
  CHECK((run_twice(graph::from_text(with(text, "seed: 5", "seed: 6")), path) != lines_of_seed));
}

TEST_CASE("faults are checked with the graph, described, and in the schema") {
  const auto refused = [](const std::string& entry) {
    try {
      graph::from_text(
        graph_of("{ type: synthetic, faults: [ " + entry + " ] }", "lines.jsonl"), "graph.yaml");
    } catch (const failure& f) {
      return std::string{f.what()};
    }
    return std::string{};
  };
  CHECK(refused("{ kind: gpa, at: 1 }").find("did you mean 'gap'?") != std::string::npos);
  CHECK(
    refused("{ kind: gap, at: 1, rate: 0.5 }")
      .find("camera.faults.0, a gap, has both 'at' and 'rate'")
    != std::string::npos);
  CHECK(refused("{ kind: gap, at: -1 }").find("camera.faults.0.at") != std::string::npos);
  CHECK(refused("{ kind: gap, at: 1, sise: 3 }").find("did you mean 'size'?") != std::string::npos);
  CHECK(
    refused("{ kind: gap, at: 1 }, { kind: jitter, rate: 1.5, by: 3ms }")
      .find("camera.faults.1.rate is 1.5: expected 0 to 1")
    != std::string::npos);

  const auto schema = json::parse(graph_schema(built_in()));
  for (const auto* camera : {"synthetic", "timeline", "video", "images", "push"})
    CHECK(schema["$defs"][std::string{"camera_"} + camera]["properties"].contains("faults"));
}

TEST_CASE("a fault in an inline row stands where it is written") {
  try {
    graph::from_text(
      graph_of(
        "{ type: timeline, rows: [ { arrival_time: 5ms }, { arrival_time: 1ms } ] }", "x.jsonl"),
      "graph.yaml");
    FAIL("it was taken");
  } catch (const failure& f) {
    CHECK(std::string{f.what()}.find("graph.yaml:5:") != std::string::npos);
    CHECK(std::string{f.what()}.find("before the row above it") != std::string::npos);
  }
}
