// What is planned against what runs.
#include "graphs/batch_plan.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/process.hpp"
#include "tests/system/summary_checks.hpp"

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

/// Nothing takes time but a simulated device.
std::string device_graph(const std::string& streams, const std::string& more = {}) {
  return "hyperframes: 1\n"
         "latency_budget: 2s\n"
         "streams:\n"
         + streams
         + "stages:\n"
           "  capture:  { type: capture }\n"
         + (more.empty() ? "  bundle:   { type: bundle, from: capture, size: 4 }\n" : more)
         + "  schedule: { type: schedule, from: bundle }\n"
           "  infer:    { type: infer, from: schedule, backend: simulated, simulated: { fixed: "
           "8ms, per_slot: "
           "3ms },\n"
           "              batch: { max: 8 } }\n"
           "  unbundle: { type: unbundle, from: infer }\n"
           "  nothing:  { type: \"null\", from: unbundle }\n";
}

std::string cameras(const std::string& ids, int fps, const std::string& more = {}) {
  return "  - { id: \"" + ids
         + "\", group: line, camera: { type: synthetic, scene: counter, size: 32x32, fps: "
         + std::to_string(fps) + ", frames: 100" + more + " } }\n";
}

const stage_costs device{.k = 1, .infer = {{1, 11ms}, {8, 32ms}}, .infer_on_cpu = false};

} // namespace

TEST_CASE("what is planned of a device comes to pass on the virtual clock") {
  const std::string aligned = "  align:    { type: align, from: capture, tolerance: 5ms }\n"
                              "  bundle:   { type: bundle, from: align, over: both, size: 2 }\n";
  const std::string graphs[] = {
    device_graph(file_camera("film", 400)),
    device_graph(file_camera("\"film{1..3}\"", 100)),
    device_graph(cameras("cam", 25)),
    device_graph(cameras("cam{1..8}", 25)),
    device_graph(cameras("cam{1..3}", 20), aligned),
    with(device_graph(cameras("cam{1..8}", 25)), "batch: { max", "workers: 2, batch: { max")};
  for (std::size_t i = 0; i < std::size(graphs); ++i) {
    CAPTURE(i);
    const auto g = graph::from_text(graphs[i]);
    const auto summary = run_virtually(g);
    check_ledger(summary);
    const auto task = batch_task_of(g.checked(), g.plan(), {});
    const auto planned = play_flow(cost_model{device}, task.load, task.as_is);
    CHECK(count_of(summary.ledger, outcome::delivered) == planned.delivered);
    CHECK(planned.fps == doctest::Approx(summary.fps).epsilon(0.03));
    CHECK(in_ms(planned.p50) == doctest::Approx(in_ms(summary.total.p50)).epsilon(0.05));
    CHECK(in_ms(planned.p99) == doctest::Approx(in_ms(summary.total.p99)).epsilon(0.05));
  }
}

TEST_CASE("threads of a stage's own count their CPU time: readers and workers, while it runs too") {
  const auto g =
    graph::from_text(with(chain(file_camera("cam", 400)), "type: callback", "type: \"null\""));
  running run{g};
  const auto cpu_of = [](const run_summary& s, const std::string& name) {
    for (const auto& line : s.stages)
      if (line.name == name)
        return line.cpu;
    return duration{-1};
  };
  CHECK(run.so_far().ledger.captured <= 400);
  const auto whole = run.finish();
  check_ledger(whole);
  CHECK(cpu_of(whole, "capture") > 0ms);
  CHECK(cpu_of(whole, "infer") > 0ms);
  CHECK(cpu_of(whole, "bundle") == 0ms);
  CHECK(cpu_of(run.so_far(), "capture") == cpu_of(whole, "capture"));
  CHECK(run.so_far().ledger.captured == 400);
  const auto on_virtual_clock = run_virtually(graph::from_text(device_graph(cameras("cam", 25))));
  CHECK(cpu_of(on_virtual_clock, "capture") == 0ms);
}

// The command.

namespace {

const std::string worked_costs[] = {"--cost", "acquire=0.5ms", "--cost", "pack=1ms",
                                    "--cost", "schedule=1ms",  "--cost", "infer=2ms",
                                    "--cost", "infer.8=7ms"};

finished_process plan_of(
  const test_folder& folder, const std::string& text, const std::vector<std::string>& more,
  bool costs = true) {
  write_file(folder / "graph.yaml", text);
  std::vector<std::string> arguments = {HYPERFRAMES_COMMAND, "plan", "graph.yaml"};
  if (costs)
    arguments.insert(arguments.end(), std::begin(worked_costs), std::end(worked_costs));
  arguments.insert(arguments.end(), more.begin(), more.end());
  return finish(arguments, folder.path());
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The arguments behind `as arguments`.
std::vector<std::string> arguments_of(const std::string& out) {
  const auto at = out.find("as arguments\n\n");
  REQUIRE(at != std::string::npos);
  std::istringstream line{lines_of(out.substr(at))[2]};
  std::vector<std::string> words;
  for (std::string word; line >> word;)
    words.push_back(word);
  return words;
}

} // namespace

TEST_CASE("plan takes given costs, and the graph takes what it plans") {
  const test_folder folder;
  const auto p =
    plan_of(folder, device_graph(cameras("cam{1..4}", 25)), {"--target-latency", "400ms"});
  INFO(p.err);
  CHECK(p.status == 0);
  CHECK(holds(p.out, "(simulated): 4 live streams, 25 frames per second each"));
  CHECK(holds(p.out, "a frame alone costs 4.5 ms"));
  CHECK(holds(p.out, "target: p99 within 400ms, by formula B up to"));
  CHECK(holds(p.out, ": can be met"));
  CHECK(holds(p.out, "latency_budget: 400ms\nstages:\n  bundle:\n    size: "));
  std::vector<std::string> explain = {HYPERFRAMES_COMMAND, "explain", "graph.yaml"};
  const auto sets = arguments_of(p.out);
  CHECK(sets.size() >= 10);
  explain.insert(explain.end(), sets.begin(), sets.end());
  const auto e = finish(explain, folder.path());
  INFO(e.err);
  CHECK(e.status == 0);
  CHECK(holds(e.out, "--set stages.bundle.size"));
}

TEST_CASE("plan: other cameras, other rates, an impossible target") {
  const test_folder folder;
  const auto graph = device_graph(cameras("cam{1..4}", 25));
  const auto many = plan_of(folder, graph, {"--cameras", "200", "--fps", "50"});
  CHECK(many.status == 0);
  CHECK(holds(many.out, "200 live streams, 50 frames per second each"));
  CHECK(holds(many.out, "cannot be met: 10000 frames come"));
  const auto never = plan_of(folder, graph, {"--target-latency", "1ms"});
  CHECK(never.status == 0);
  CHECK(holds(never.out, "CANNOT be met"));
  CHECK(holds(never.out, "not even by a frame alone"));
}

TEST_CASE("plan shows every size as a table and a picture") {
  const test_folder folder;
  const auto p = plan_of(folder, device_graph(cameras("cam", 25)), {"--sweep", "sweep.svg"});
  CHECK(p.status == 0);
  CHECK(holds(p.out, "cost of a frame"));
  CHECK(content_of(folder / "sweep.svg").starts_with("<svg "));
  const auto lost =
    plan_of(folder, device_graph(cameras("cam", 25)), {"--sweep", "none/sweep.svg"});
  CHECK(lost.status == 1);
  CHECK(holds(lost.err, "none/sweep.svg: the picture could not be written"));
}

TEST_CASE("plan says what is wrong with its arguments") {
  struct row {
    std::vector<std::string> more;
    bool costs;
    std::string sentence;
  };
  const row rows[] = {
    {{},
     false,
     "plan: the cost of acquire, pack and schedule is not known: measure with --calibrate, or give "
     "it, "
     "as in --cost acquire=0.5ms"},
    {{"--cost", "pack"}, true, "expected name=time, such as --cost pack=1ms or --cost infer.8=7ms"},
    {{"--cost", "pakc=1ms"}, true, "is no cost: did you mean 'pack'?"},
    {{"--cost", "pack=fast"}, true, "expected a time such as 0.5ms, found 'fast'"},
    {{"--cost", "infer.0=1ms"}, true, "is no cost"},
    {{"--cost", "k=0"}, true, "expected a number above 0"},
    {{"--target-latency", "soon"}, true, "expected a time above 0, such as 200ms"},
    {{"--cameras", "0"}, true, "expected 1 to 10000"},
    {{"--fps", "0"}, true, "expected frames per second above 0"}};
  for (const auto& r : rows) {
    CAPTURE(r.sentence);
    const test_folder folder;
    const auto p = plan_of(folder, device_graph(cameras("cam", 25)), r.more, r.costs);
    CHECK(p.status == 2);
    CHECK_MESSAGE(holds(p.err, r.sentence), p.err);
  }
}

TEST_CASE("plan measures, and writes nothing of the graph's") {
  const test_folder folder;
  const auto graph = with(
    device_graph(cameras("cam{1..2}", 25)), "{ type: \"null\", from: unbundle }",
    "{ type: jsonl, from: unbundle, path: results.jsonl }");
  const auto p = plan_of(folder, graph, {"--calibrate"}, false);
  INFO(p.err);
  CHECK(p.status == 0);
  CHECK(holds(p.err, "measuring hyperframes of 1\n"));
  CHECK(holds(p.out, "costs, measured\n"));
  CHECK(!std::filesystem::exists(folder / "results.jsonl"));
  const auto mixed = plan_of(folder, graph, {"--calibrate", "--cost", "acquire=3ms"}, false);
  CHECK(holds(mixed.out, "costs, measured and given\n  acquire   3 ms"));
}
