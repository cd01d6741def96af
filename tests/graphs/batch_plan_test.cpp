#include "graphs/batch_plan.hpp"
#include "graphs/batch_plan_report.hpp"
#include "graphs/hyperframes.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

/// The example of docs/planning.md, on a device.
stage_costs example() {
  return {
    .acquire = 500us,
    .pack = 1ms,
    .schedule = 1ms,
    .k = 0.8,
    .infer = {{1, 2ms}, {8, 7ms}},
    .infer_on_cpu = false};
}

batch_task cameras(std::uint32_t n, double fps, std::optional<duration> target = {}) {
  batch_task t;
  t.graph = "line";
  t.bundle = "bundle";
  t.schedule = "schedule";
  t.infer = "infer";
  t.above_schedule = "bundle";
  t.load = {.streams = n, .fps = fps, .frames = 200};
  t.as_is.shared.cores = 8;
  t.as_is.shared.readers = std::min(n, 8U);
  t.target = target;
  return t;
}

batch_task film() {
  auto t = cameras(1, 30);
  t.load.live = false;
  return t;
}

bool says(const batch_plan& p, const std::string& part) {
  return std::ranges::any_of(
    p.remarks, [&](const std::string& s) { return s.find(part) != std::string::npos; });
}

const batch_choice& of_size(const batch_plan& p, std::uint32_t size) {
  for (const auto& c : p.sweep)
    if (c.with.size == size)
      return c;
  FAIL("no such size");
  return p.best;
}

/// Of all remarks together.
std::string text_of(const batch_plan& p, const batch_task& t, const cost_model& m) {
  return to_text({p, t, m, "given", 1000, 2000});
}

} // namespace

TEST_CASE("a plan takes the smallest hyperframe that carries nearly the most") {
  const cost_model m{example()};
  const auto p = plan_batches(m, film());
  CHECK(p.best.with.size == 2); // batches hold several: only scheduling wants more
  CHECK(p.best.with.batch >= 8);
  CHECK(p.gain > 1);
  double most = 0;
  for (const auto& c : p.sweep)
    most = std::max(most, c.capacity.fps);
  CHECK(p.best.capacity.fps >= 0.95 * most);
  for (const auto& c : p.sweep)
    if (c.with.size < p.best.with.size)
      CHECK(c.capacity.fps < 0.95 * most);
  CHECK(p.best.with.hyperframes >= 2);
  CHECK(p.best.timeout == 0ms);
}

TEST_CASE("a target bounds the hyperframe: by the formula, and by what is played") {
  const cost_model m{example()};
  const auto t = cameras(1, 30, 200ms);
  const auto p = plan_batches(m, t);
  CHECK(p.largest_size == m.largest_size(200ms, {}, 30, 1, 64));
  CHECK(p.largest_size == 5);
  CHECK(p.best.in_time);
  CHECK(p.best.with.size <= 6); // 5 x 33.3 ms and its inference
  CHECK(p.best.played.p99 <= 200ms);
  CHECK(p.best.timeout >= event_wait(p.best.with.size, 30));
  CHECK(p.best.timeout <= 200ms);
  CHECK(!of_size(p, 8).in_time);
  CHECK(p.best.frame_wait == frame_wait(p.best.with.size, 30));
  CHECK(p.best.ring == ring_size(p.best.played.p99, 30));
  CHECK(p.best.limit == flow_limit::cameras);
}

TEST_CASE("a target that no hyperframe keeps") {
  const cost_model m{example()};
  const auto t = cameras(1, 30, 1ms);
  const auto p = plan_batches(m, t);
  CHECK(p.largest_size == 0);
  CHECK(!p.best.in_time);
  CHECK(p.best.with.size == 1);
  CHECK(says(p, "the target of 1ms cannot be met, not even by a frame alone"));
  CHECK(text_of(p, t, m).find("CANNOT be met") != std::string::npos);
}

TEST_CASE("more cameras than can be carried are said so, with what stands in the way") {
  auto costs = example();
  costs.infer_on_cpu = true;
  const cost_model m{costs};
  auto t = cameras(100, 30, 2s);
  t.as_is.shared.cores = 2;
  const auto p = plan_batches(m, t);
  CHECK(!p.best.in_time);
  CHECK(says(p, "the target of 2s cannot be met: 3000 frames come in a second"));
  CHECK(p.best.limit != flow_limit::cameras);
  t.target.reset();
  CHECK(says(plan_batches(m, t), "100 cameras at 30 fps are 3000 frames per second"));
}

TEST_CASE("a device too few gets another one, and no more than are needed") {
  stage_costs costs{.k = 1, .infer = {{1, 10ms}, {8, 80ms}}, .infer_on_cpu = false};
  auto t = cameras(4, 60, 500ms); // 240 frames of 10 ms
  CHECK(plan_batches(cost_model{costs}, t).best.with.shared.workers == 3);
  costs.infer_on_cpu = true;
  t.as_is.shared.cores = 2;
  CHECK(plan_batches(cost_model{costs}, t).best.with.shared.workers <= 2);
}

TEST_CASE("no worker is added where another stage is the limit") {
  const stage_costs costs{
    .pack = 5ms, .k = 1, .infer = {{1, 4ms}, {8, 32ms}}, .infer_on_cpu = false};
  const auto p =
    plan_batches(cost_model{costs}, cameras(8, 60, 500ms)); // 480 frames, 200 are packed
  CHECK(!p.best.in_time);
  CHECK(p.best.capacity.by == flow_limit::pack);
  CHECK(p.best.with.shared.workers == 1);
}

TEST_CASE("bundling that gains under 10 % is said, with the bottleneck") {
  auto costs = example();
  costs.infer = {{1, 50ms}, {8, 390ms}};
  const auto p = plan_batches(cost_model{costs}, film());
  CHECK(p.gain < 0.1);
  CHECK(says(p, "one frame's inference is the bottleneck, 50 ms of the 52.5 ms"));
  costs.infer = {{1, 1ms}, {8, 1ms}};
  costs.acquire = 20ms;
  CHECK(says(plan_batches(cost_model{costs}, film()), "acquire is the bottleneck, which"));
  CHECK(plan_batches(cost_model{example()}, film()).remarks.empty());
}

TEST_CASE("streams in step find room in the queue, and share batches") {
  const auto p = plan_batches(cost_model{example()}, cameras(12, 15, 1s));
  CHECK(p.best.in_time);
  CHECK(p.best.with.hyperframes >= 12);
  CHECK(p.best.with.batch % p.best.with.size == 0);
  CHECK(p.best.played.dropped == 0);
  // Without a target a hyperframe waits for one batch, in which fewer come at this rate.
  CHECK(plan_batches(cost_model{example()}, cameras(12, 15)).best.with.hyperframes == 12);
}

TEST_CASE("a model of a fixed batch is given whole ones; a set of cameras has one moment") {
  auto t = film();
  t.fixed_batch = 4;
  const auto whole = plan_batches(cost_model{example()}, t);
  for (const auto& c : whole.sweep)
    CHECK(c.with.batch % 4 == 0);
  t.fixed_batch = 0;
  t.has_size = false;
  const auto one = plan_batches(cost_model{example()}, t);
  CHECK(one.sweep.size() == 1);
  for (const auto& [path, value] : values_of(one, t))
    CHECK(path != "stages.bundle.size");
}

TEST_CASE("values as YAML and as arguments") {
  const cost_model m{example()};
  auto t = cameras(1, 30, 300ms);
  t.target_asked = true;
  t.has_release_count = true;
  batch_plan p;
  p.best.with = {.size = 4, .batch = 8, .shared = {.workers = 2}, .hyperframes = 3};
  p.best.timeout = 200ms;
  const plan_report r{p, t, m, "given"};
  CHECK(
    to_yaml(r)
    == "latency_budget: 300ms\n"
       "stages:\n"
       "  bundle:\n"
       "    size: 4\n"
       "    release:\n"
       "      count: 4\n"
       "      timeout: 200ms\n"
       "  schedule:\n"
       "    from:\n"
       "      stage: bundle\n"
       "      capacity: 3\n"
       "  infer:\n"
       "    workers: 2\n"
       "    batch:\n"
       "      max: 8\n");
  CHECK(
    to_arguments(r)
    == "--set latency_budget=300ms --set stages.bundle.size=4 --set stages.bundle.release.count=4 "
       "--set stages.bundle.release.timeout=200ms --set stages.schedule.from.capacity=3 --set "
       "stages.infer.workers=2 --set stages.infer.batch.max=8");
}

TEST_CASE("the report: costs, both columns, the worked example, the mark of a simulated device") {
  const cost_model m{example()};
  auto t = film();
  auto p = plan_batches(m, t);
  p.best.with.size = 8;
  const auto text = text_of(p, t, m);
  for (const auto* part :
       {"line: 1 file, as fast as the graph takes its frames; 8 cores", "costs, given",
        "a frame alone costs 4.5 ms, in a hyperframe of 8 slots 2.3 ms",
        "8 slots, 0.875 ms each, on a device beside the cores", "as it is", "planned"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text.find("(simulated)") == std::string::npos);
  t.simulated = true;
  CHECK(text_of(p, t, m).starts_with("line (simulated): "));
  CHECK(draw_sweep({p, t, m, "given"}).find("(simulated)") != std::string::npos);
  t.has_faults = true;
  CHECK(says(plan_batches(m, t), "the graph asks for faults, which no prediction counts"));
}

TEST_CASE("a sweep has a line and a dot for each B") {
  const cost_model m{example()};
  const auto t = cameras(2, 30, 400ms);
  const auto p = plan_batches(m, t);
  const plan_report r{p, t, m, "given"};
  const auto table = sweep_table(r);
  CHECK(std::ranges::count(table, '\n') == static_cast<std::ptrdiff_t>(p.sweep.size()) + 1);
  CHECK(table.find("2.3 ms") != std::string::npos);
  CHECK(table.find("yes") != std::string::npos);
  CHECK(table.find("no") != std::string::npos);
  const auto svg = draw_sweep(r);
  std::size_t dots = 0;
  for (auto at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1))
    ++dots;
  CHECK(dots == 3 * p.sweep.size());
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
}
