#include "actors/capture.hpp"
#include "graphs/plan.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace hyperframes;
using namespace hyperframes::fakes;
using namespace std::chrono_literals;

namespace {

struct planned {
  checked_graph graph;
  graph_plan plan;
};

planned plan_of(const std::string& text) {
  auto r = read(text);
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  auto p = plan_graph(*r.graph);
  REQUIRE_MESSAGE(p.plan, to_string(p.faults));
  return {std::move(*r.graph), std::move(*p.plan)};
}

std::string plan_faults(const std::string& text) {
  auto r = read(text);
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  const auto p = plan_graph(*r.graph);
  CHECK(p.plan.has_value() == p.faults.empty());
  return to_string(p.faults);
}

/// One stream into hyperframes of four; stages stand on lines 5 to 10.
std::string small_graph(
  const std::string& camera = "{ type: fake }", const std::string& bundle = "size: 4",
  const std::string& more = "") {
  return "hyperframes: 1\nstreams:\n  - { id: a, camera: " + camera + " }\nstages:\n"
         + "  cap: { type: capture }\n"
           "  bun: { type: bundle, "
         + bundle
         + ", from: cap }\n"
           "  sch: { type: schedule, from: bun }\n"
           "  inf: { type: infer, model: m, from: sch }\n"
           "  unb: { type: unbundle, from: inf }\n"
           "  out: { type: null, from: unb }\n"
         + more;
}

} // namespace

TEST_CASE("facts, groups and policies") {
  const auto [g, plan] = plan_of(good);
  const auto& facts = *plan.facts;
  CHECK(facts.name == "inspection");
  CHECK(facts.latency_budget == 500ms);
  REQUIRE(facts.groups.size() == 3);
  CHECK(facts.groups[1].name == "station2");
  CHECK(facts.groups[1].streams == std::vector<stream_index>{4, 5, 6, 7});
  CHECK(facts.streams[6].group == 1);
  CHECK(facts.streams[6].member == 2);
  CHECK(facts.streams[6].media->video.width == 64);
  CHECK(std::get<std::string>(g.edges[0].overflow.value) == "block"); // files are held back
  CHECK(g.edges[0].overflow.source == value_source::derived);
  CHECK(plan.below[2] == g.stages[4].resource);
  CHECK(plan.below[0] == g.stages[4].resource);
  CHECK(plan.below[4] == nullptr);

  const auto live = plan_of(small_graph("{ type: fake, live: true }"));
  CHECK(std::get<std::string>(live.graph.edges[0].overflow.value) == "drop_oldest");
}

TEST_CASE("bounds of a small graph") {
  const auto [g, plan] = plan_of(small_graph());
  // Edges: ring + outlet + the receiver's hands, times the own frames of an item.
  const std::uint64_t frames[]{10, 18 * 4, 5 * 8, 10 * 4, 0};
  REQUIRE(plan.edges.size() == 5);
  for (std::size_t e = 0; e < 5; ++e) {
    CAPTURE(e);
    CHECK(plan.edges[e].frames_per_stream == frames[e]);
  }
  // Those above, and what capture (1) and bundle (4) hold.
  CHECK(plan.reorder[4] == 10 + 72 + 40 + 40 + 1 + 4);
  CHECK(plan.reorder[0] == 0);
  // One is open, 18 on the edge into schedule, 5 batches of two on the edge into infer.
  CHECK(plan.tensors[1] == 1 + 18 + 5 * 2);
  CHECK(plan.tensor_bytes[1] == 4 * 3 * 32 * 32 * 4);
  CHECK(plan.prefetch[0] == 30);
  // Read ahead, the edge behind capture, and what capture and bundle keep.
  CHECK(plan.frames_ahead[0] == 30 + 10 + 1 + 1);
}

TEST_CASE("a live stream has no read-ahead; kept frames stay with hyperframes and results") {
  CHECK(plan_of(small_graph("{ type: fake, live: true }")).plan.frames_ahead[0] == 4 + 10 + 1 + 1);
  const auto [g, plan] = plan_of(small_graph("{ type: fake }", "size: 4, keep_frames: true"));
  CHECK(
    plan.frames_ahead[0] == 30 + 10 + 1 + 8 + plan.tensors[1] * 4 + 10 * 4 + plan.reorder[4] + 10);
}

TEST_CASE("what goes ahead of its hyperframe has tensors of its own") {
  const auto [g, plan] = plan_of(small_graph("{ type: fake }", "size: 4, stream_first: true"));
  // 18 on the edge into schedule; in each of 5 batches of 8 slots two times three others, or 8
  // first ones.
  CHECK(plan.tensors[1] == 1 + 18 + 5 * 2);
  CHECK(plan.tensor_bytes[1] == 4 * 3 * 32 * 32 * 4);
  CHECK(plan.first_tensors[1] == 1 + 18 + 5 * 8);
  CHECK(plan.first_tensor_bytes[1] == 3 * 32 * 32 * 4);
  const auto line =
    std::ranges::find(plan.memory, "first tensors of bun", &graph_plan::memory_line::what);
  REQUIRE(line != plan.memory.end());
  CHECK(line->bytes == 59 * 3 * 32 * 32 * 4);
  CHECK(line->how == "59 first parts x 1 slot x 12.3 kB");
  // Pairs: a batch of 8 slots holds four others where it holds two whole ones.
  CHECK(plan_of(small_graph("fake", "size: 2")).plan.tensors[1] == 1 + 18 + 5 * 4);
  CHECK(
    plan_of(small_graph("fake", "size: 2, stream_first: true")).plan.tensors[1] == 1 + 18 + 5 * 8);
  const auto kept =
    plan_of(small_graph("{ type: fake }", "size: 4, keep_frames: true, stream_first: true"));
  CHECK(
    kept.plan.frames_ahead[0]
    == 30 + 10 + 1 + 8 + plan.tensors[1] * 4 + 59 + 10 * 4 + kept.plan.reorder[4] + 10);
  CHECK(plan_of(small_graph()).plan.first_tensors[1] == 0);
  // Of sets, the first set.
  const auto sets =
    plan_of("hyperframes: 1\nstreams:\n  - { id: \"c{1..2}\", group: g, camera: fake }\nstages:\n"
            "  cap: { type: capture }\n  ali: { type: align, from: cap }\n"
            "  bun: { type: bundle, over: both, size: 3, stream_first: true, from: ali }\n"
            "  sch: { type: schedule, from: bun }\n  inf: { type: infer, model: m, from: sch }\n"
            "  unb: { type: unbundle, from: inf }\n  out: { type: null, from: unb }\n");
  CHECK(sets.plan.tensors[2] == 1 + 18 + 5 * 2);
  CHECK(sets.plan.first_tensors[2] == 1 + 18 + 5 * 4);
  CHECK(sets.plan.first_tensor_bytes[2] == 2 * 3 * 32 * 32 * 4);
}

TEST_CASE("a pool has no more slots than its stream has frames") {
  const auto slots = [](const std::string& camera, const std::string& bundle) {
    return plan_of(small_graph(camera, bundle)).plan.frames_ahead[0];
  };
  const std::string keep = "size: 4, keep_frames: true";
  CHECK(slots("{ type: fake }", keep) > 300);
  CHECK(slots("{ type: fake, frames: 50, exact: true }", keep) == 50);
  CHECK(slots("{ type: fake, frames: 50, live: true, exact: true }", keep) == 50);
  CHECK(slots("{ type: fake, frames: 20, exact: true }", "size: 4") == 20);
  CHECK(
    slots("{ type: fake, frames: 100000, exact: true }", keep) == slots("{ type: fake }", keep));
  CHECK(
    slots("{ type: fake, frames: 50 }", keep) == slots("{ type: fake }", keep)); // a header may lie
  CHECK(slots("{ type: fake, frames: 0, exact: true }", keep) == 1);
}

TEST_CASE("where what waits can expire, few batches wait in front of a worker") {
  struct row {
    const char* what;
    std::string text;
    std::int64_t capacity;
    value_source source;
  };
  const auto live = small_graph("{ type: fake, live: true }");
  const std::string budget = "latency_budget: 2s\n";
  const row rows[]{
    {"a file", small_graph(), 3, value_source::built_in},
    {"a file with a budget has no deadline", small_graph() + budget, 3, value_source::built_in},
    {"a file with a ttl", with("sch: { ", "sch: { ttl: 1s, ", small_graph()), 2,
     value_source::derived},
    {"live without a bound", live, 3, value_source::built_in},
    {"live with a budget", live + budget, 2, value_source::derived},
    {"live with a ttl", with("sch: { ", "sch: { ttl: 1s, ", live), 2, value_source::derived},
    {"three workers", with("model: m", "model: m, workers: 3", live + budget), 6,
     value_source::derived},
    {"as it was written", with("from: sch", "from: { stage: sch, capacity: 5 }", live + budget), 5,
     value_source::file},
  };
  for (const auto& r : rows) {
    CAPTURE(r.text);
    const auto p = plan_of(r.text);
    const auto edge = std::ranges::find(p.graph.edges, port_type::batch, &checked_edge::type);
    REQUIRE(edge != p.graph.edges.end());
    CHECK(std::get<std::int64_t>(edge->capacity.value) == r.capacity);
    CHECK(edge->capacity.source == r.source);
  }
}

TEST_CASE("whole hyperframes in a batch") {
  struct row {
    std::string size, most;
    std::uint64_t hyperframes, slots, room;
  };
  const row rows[]{
    {"4", "8", 2, 4, 8}, {"3", "8", 2, 3, 8}, {"12", "8", 1, 12, 12}, {"5", "8", 1, 5, 8}};
  for (const auto& r : rows) {
    const auto p = plan_of(with(
      "model: m", "model: m, batch: { max: " + r.most + " }",
      small_graph("fake", "size: " + r.size)));
    REQUIRE(p.plan.fill.size() == 6);
    CHECK(p.plan.fill[2].room == 0);
    CHECK(p.plan.fill[3].hyperframes == r.hyperframes);
    CHECK(p.plan.fill[3].slots == r.slots);
    CHECK(p.plan.fill[3].room == r.room);
  }
}

TEST_CASE("first parts fill what the others leave free in a batch") {
  const auto fill = plan_of(small_graph("fake", "size: 4, stream_first: true")).plan.fill[3];
  CHECK(fill.hyperframes == 2);
  CHECK(fill.slots == 3);
  CHECK(fill.firsts == 2);
  CHECK(fill.first_slots == 1);
  CHECK(fill.room == 8);
}

TEST_CASE("a model that leaves its size open takes that of the frames") {
  const auto [g, plan] = plan_of(with("model: m", "model: own_size", small_graph()));
  CHECK(plan.tensor_bytes[1] == 4 * 3 * 64 * 48 * 4);
}

TEST_CASE("a bundler without a model makes no tensors") {
  const auto [g, plan] = plan_of(
    "hyperframes: 1\nstreams:\n  - { id: a, camera: fake }\nstages:\n  cap: { type: capture }\n"
    "  bun: { type: bundle, size: 4, from: cap }\n  out: { type: jsonl, path: x, from: bun }\n");
  CHECK(plan.tensors[1] == 0);
  CHECK(plan.tensor_bytes[1] == 0);
}

TEST_CASE("memory is the sum of its lines, the largest first") {
  const auto [g, plan] = plan_of(small_graph());
  std::uint64_t sum = 0;
  for (const auto& l : plan.memory)
    sum += l.bytes;
  CHECK(plan.memory_total == sum);
  CHECK(std::ranges::is_sorted(plan.memory, std::greater<>{}, &graph_plan::memory_line::bytes));
  const auto pool =
    std::ranges::find(plan.memory, "pool of stream a", &graph_plan::memory_line::what);
  REQUIRE(pool != plan.memory.end());
  CHECK(pool->bytes == (42 + 2) * 64 * 48 * 3);
  CHECK(pool->how == "44 slots x 9.2 kB");
  const auto twelve = plan_of(good);
  CHECK(twelve.plan.memory[0].what == "pools of streams 'station1.cam1' and 11 more");
}

TEST_CASE("waits add up along the longest path") {
  const auto live = with("fps: 30", "fps: 30, live: true");
  const auto [g, plan] = plan_of(live);
  REQUIRE(plan.waits.size() == 3);
  CHECK(plan.waits[0].what == "align.wait");
  CHECK(plan.waits[1].what == "bundle.release.timeout");
  CHECK(plan.waits[2].what == "schedule.ttl");
  CHECK(plan.longest_wait == 440ms);
  // A ttl counts only where it is the smaller bound.
  CHECK(plan_of(with("ttl: 100ms", "ttl: 200ms", live)).plan.longest_wait == 340ms);
  // Release rules are alternatives; without any, `late` holds: 1.5 x 8 / 30 fps.
  CHECK(
    plan_of(with(", timeout: 300ms", "", with("latency_budget: 500ms\n", "", live)))
      .plan.longest_wait
    == 540ms);
  CHECK(
    plan_of(with("timeout: 300ms", "timeout: 300ms, late: true", with("fps: 30", "fps: 60", live)))
      .plan.longest_wait
    == 340ms);
  CHECK(
    plan_of(small_graph("{ type: fake, live: true }", "size: 1, release: { timeout: 3s }"))
      .plan.longest_wait
    == 0ms);
  // Files are waited for: only a ttl ends what they wait.
  CHECK(plan_of(good).plan.longest_wait == 100ms);
}

TEST_CASE("faults of the plan") {
  const auto one = [](const std::string& what, const std::string& by) {
    return plan_faults(with(what, by, small_graph()));
  };
  CHECK(
    one("{ type: fake }", "{ type: fake, path: none.avi }")
    == "g.yaml:3:42: camera.path names 'none.avi', but there is no such file (looked for "
       "none.avi)\n");
  CHECK(
    one("{ type: fake }", "{ type: fake, path: / }")
    == "g.yaml:3:42: camera.path names '/', which is a directory: expected a file\n");
  CHECK(
    one("{ type: fake }", "{ type: fake, broken: true }")
    == "g.yaml:3:11: the stream 'a' cannot be read: the device does not answer: is it plugged "
       "in?\n");
  CHECK(
    plan_faults(with("id: a", "id: \"a{1..4}\"", small_graph("{ type: fake, broken: true }")))
    == "g.yaml:3:11: the streams 'a1' to 'a4' cannot be read: the device does not answer: is it "
       "plugged in?\n");
  CHECK(
    one("model: m", "model: broken")
    == "g.yaml:8:30: inf cannot be prepared: the model cannot be read: expected ONNX\n");
  CHECK(one("model: m", "model: time4") == "");
  CHECK(one("size: 4", "size: 6, over: both") == "");
  CHECK(
    plan_faults(with("size: 4", "size: 6", with("model: m", "model: time4", small_graph())))
    == "g.yaml:6:30: bun makes hyperframes of 6 slots, but the model (fake time4 [N,3,32,32] "
       "float32 -> [N,4]) takes runs of 4 frames: size must be a multiple of 4\n");
  CHECK(
    plan_faults(with("over: time", "over: cameras", with("model: parts.onnx", "model: time4")))
    == "g.yaml:11:3: bundle mixes the cameras of a group, but the model (fake time4 [N,3,32,32] "
       "float32 -> [N,4]) wants 4 consecutive frames of one: write over: time\n");
  CHECK(
    one("{ type: unbundle", "{ type: unbundle, reorder: 20")
    == "g.yaml:9:35: unb.reorder is 20, but the stages above may hold 167 frames of a stream, "
       "which would then be lost: raise it to 167, or leave it out\n");
  CHECK(one("{ type: unbundle", "{ type: unbundle, reorder: 2000") == "");
  CHECK(
    plan_faults(small_graph("{ type: fake, live: true }") + "latency_budget: 100ms\n")
    == "g.yaml:11:17: latency_budget is 100ms, but the waits alone may take 200ms: "
       "bun.release.late 200ms; raise the budget or lower a wait\n");
  CHECK(
    plan_faults(small_graph() + "memory: 1MB\n")
    == "g.yaml:11:9: the graph would take 2.0 MB, but memory allows 1.0 MB: the largest are "
       "tensors of bun 1.4 MB (29 hyperframes x 4 slots x 12.3 kB), pool of stream a 406 kB (44 "
       "slots x 9.2 kB) and batches of inf 98.3 kB (1 worker x 8 slots x 12.3 kB); lower "
       "capacities or sizes, or raise `memory`\n");
  CHECK(
    plan_faults(small_graph("{ type: fake }", "size: 4") + "memory: 100kB\n")
    == "g.yaml:11:9: the graph would take 2.0 MB, but memory allows 100 kB: the largest are "
       "tensors of bun 1.4 MB (29 hyperframes x 4 slots x 12.3 kB), pool of stream a 406 kB (44 "
       "slots x 9.2 kB) and batches of inf 98.3 kB (1 worker x 8 slots x 12.3 kB); lower "
       "capacities or sizes, or raise `memory`\n");
  CHECK(
    plan_faults(with(
      "from: cap", "from: { stage: cap, overflow: block }",
      small_graph("{ type: fake, live: true }")))
    == "g.yaml:6:63: the edge cap -> bun blocks, but it carries live streams ('a'), which cannot "
       "be held back: use drop_oldest, drop_newest or fail\n");
  CHECK(
    plan_faults(with(
      "  - { id: a", "  - { id: b, camera: { type: fake, live: true } }\n  - { id: a",
      small_graph()))
    == "g.yaml:7:39: the edge cap -> bun carries live streams ('b'), which must drop, and files "
       "('a'), which must be held back: capture them in two stages, or set `overflow` for both\n");
}

TEST_CASE("the first frame of a hyperframe goes ahead where the model takes frames one by one") {
  const auto faults = [](const std::string& model, const std::string& more = {}) {
    return plan_faults(with(
      "model: m", "model: " + model,
      small_graph("{ type: fake }", "size: 4, stream_first: true", more)));
  };
  const std::string says =
    "g.yaml:6:47: bun.stream_first sends the first frame of a hyperframe ahead of the others, "
    "but the model (fake ";
  const std::string out =
    ": leave stream_first out, or take a model that takes frames one by one\n";
  CHECK(faults("m") == "");
  CHECK(
    faults("time4") == says + "time4 [N,3,32,32] float32 -> [N,4]) takes 4 frames together" + out);
  CHECK(
    faults("whole")
    == says + "whole [N,3,32,32] float32 -> [N,4]) gives one result for the whole hyperframe"
         + out);
  // Of several models each is looked at.
  CHECK(
    faults(
      "m",
      "  sch2: { type: schedule, from: bun }\n  inf2: { type: infer, model: whole, from: sch2 }\n"
      "  unb2: { type: unbundle, from: inf2 }\n  out2: { type: null, from: unb2 }\n")
    == says + "whole [N,3,32,32] float32 -> [N,4]) gives one result for the whole hyperframe"
         + out);
}

TEST_CASE("both models and cameras tell what is wrong, at once") {
  CHECK(
    plan_faults(with("model: m", "model: broken", small_graph("{ type: fake, broken: true }")))
    == "g.yaml:3:11: the stream 'a' cannot be read: the device does not answer: is it plugged in?\n"
       "g.yaml:8:30: inf cannot be prepared: the model cannot be read: expected ONNX\n");
}

TEST_CASE("two models below one bundler must want the same tensor") {
  const std::string two =
    "  sch2: { type: schedule, from: bun }\n  inf2: { type: infer, model: M, from: sch2 }\n"
    "  unb2: { type: unbundle, from: inf2 }\n  out2: { type: null, from: unb2 }\n";
  CHECK(plan_faults(small_graph("fake", "size: 4", with("M", "other", two))) == "");
  CHECK(
    plan_faults(small_graph("fake", "size: 4", with("M", "wide", two)))
    == "g.yaml:6:3: bun packs for inf (fake m [N,3,32,32] float32 -> [N,4]) and for inf2 (fake "
       "wide [N,3,32,32] float32 -> [N,4]), which want different tensors: give each a bundle stage "
       "of its own\n");
}

TEST_CASE("cameras of one hyperframe must have one size where the model takes theirs") {
  const std::string text =
    "hyperframes: 1\nstreams:\n  - { id: a, group: g, camera: fake }\n"
    "  - { id: b, group: g, camera: { type: fake, size: 32x32 } }\nstages:\n  cap: { type: capture "
    "}\n"
    "  ali: { type: align, from: cap }\n  bun: { type: bundle, over: cameras, size: 1, from: ali "
    "}\n"
    "  sch: { type: schedule, from: bun }\n  inf: { type: infer, model: own_size, from: sch }\n"
    "  unb: { type: unbundle, from: inf }\n  out: { type: null, from: unb }\n";
  CHECK(
    plan_faults(text)
    == "g.yaml:4:11: the streams 'a' (video bgr24 64x48) and 'b' (video bgr24 32x32) share the "
       "hyperframes of bun, but the model takes frames in their own size: set the model's input "
       "size\n");
  CHECK(plan_faults(with("own_size", "m", text)) == "");
}

TEST_CASE("files are looked for in the graph's folder") {
  const auto folder = std::filesystem::temp_directory_path() / "hyperframes_plan_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "film.avi") << "x";
  std::ofstream(folder / "g.yaml") << small_graph("{ type: fake, path: film.avi }");
  auto r = read_graph_file((folder / "g.yaml").string(), known());
  REQUIRE(r.graph);
  CHECK(to_string(plan_graph(*r.graph).faults) == "");
  std::filesystem::remove_all(folder);
}

TEST_CASE("remarks on rules that can never fire") {
  struct row {
    std::string text, remark;
  };
  const auto live = [](const std::string& bundle) {
    return small_graph("{ type: fake, live: true }", bundle);
  };
  const auto plain = with(", wait: 40ms", "", with(", timeout: 300ms", ""));
  const row rows[]{
    {with("ttl: 100ms", "ttl: 500ms", with("fps: 30", "fps: 30, live: true")),
     "schedule.ttl 500ms is not below latency_budget 500ms: the deadline always comes first, ttl "
     "never fires\n"},
    {with("ttl: 100ms", "ttl: 500ms", plain),
     "schedule: order: deadline acts as fifo, as files have no deadline\n"},
    {plain, "schedule: order: deadline acts as fifo, as files have no deadline\n"},
    {with("sch: { ", "sch: { order: deadline, ", live("size: 4")),
     "sch: order: deadline acts as fifo, as the graph has no latency_budget\n"},
    {with("sch: { ", "sch: { order: priority, ", live("size: 4")),
     "sch: order: priority acts as fifo, as all streams have the priority 0\n"},
    {with("from: cap", "from: ali", small_graph()) + "  ali: { type: align, from: cap }\n",
     "ali: every group has one stream, so every set has one member: give streams a common "
     "`group`\n"},
    {with("from: cap", "from: { stage: cap, overflow: drop_oldest }", small_graph()),
     "the edge cap -> bun has overflow: drop_oldest: a file is read faster than it is worked on, "
     "so most frames of 'a' will be dropped\n"},
    {with("model: m", "model: fixed6", small_graph()),
     "inf: batch.max 8 is no multiple of the model's batch of 6: batches have 6 slots\n"},
  };
  for (const auto& r : rows) {
    const auto plan = plan_of(r.text).plan;
    std::string all;
    for (const auto& m : plan.remarks)
      all += m + '\n';
    CAPTURE(r.text);
    CHECK(all == r.remark);
  }
  CHECK(plan_of(small_graph()).plan.remarks.empty());
}
