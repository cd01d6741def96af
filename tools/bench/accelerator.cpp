#include "graphs/hyperframes.hpp"
#include "tools/bench/benchmarks.hpp"

#include <algorithm>

namespace hyperframes::bench {

namespace {

/// What one frame costs one by one: acquire 0.5, pack 1, schedule 1, infer 2 ms.
constexpr double naive_fps = 1000 / 4.5;

struct outcome_of_run {
  double fps, busy; ///< busy: share of the time that the device worked
};

outcome_of_run once(unsigned batch) {
  const auto g = graph::from_text(
    R"(
hyperframes: 1
name: accelerator
streams:
  - { id: film, camera: { type: synthetic, scene: counter, size: 32x32, realtime: false, frames: )"
    + std::to_string(batch == 1 ? 1000 : 3000) + R"( } }
stages:
  capture:  { type: capture }
  bundle:   { type: bundle, from: capture, size: )"
    + std::to_string(batch) + R"( }
  schedule: { type: schedule, from: bundle }
  infer:    { type: infer, from: schedule, backend: simulated, batch: { max: )"
    + std::to_string(batch) + R"( },
              simulated: { fixed: 1285714ns, per_slot: 714286ns } }
  unbundle: { type: unbundle, from: infer }
  results:  { type: "null", from: unbundle }
)");
  running run{g};
  run.wait(std::chrono::minutes{5});
  const auto s = run.finish();
  if (!s.closed() || !s.simulated)
    throw failure(make_error(errc::stage_failed, "accelerator", "the ledger is open"));
  const auto infer = std::ranges::find(s.stages, "infer", &run_summary::stage_line::name);
  return {s.fps, in_seconds(infer->busy) / in_seconds(s.wall)};
}

} // namespace

report accelerator_report(const accelerator_runs& runs) {
  samples naive;
  for (const auto v : runs.batches_of_8.values)
    naive.values.push_back(v / naive_fps);
  report r{
    "SIMULATED device: a batch of B frames takes 9/7 + 5/7 B ms off the CPU (2 ms for one, 7 ms "
    "for 8); what is measured is whether the runtime keeps it busy. 3000 frames of 32x32 through "
    "capture, bundle, schedule, infer and unbundle, from the start of the stages to the end of the "
    "last sink. The naive program is a model, not a run: acquire 0.5, pack 1, schedule 1, infer 2 "
    "ms, one after the other, 4.5 ms a frame. Busy: time in the device's calls divided by the "
    "whole. Batches of 8 against batches of 1, in hyperframes of 8 and of 1; a device that is "
    "never idle allows 2 / (7 / 8) = 2.29. Depth: the naive program's four steps as stages that "
    "take those times off the CPU, batches of 1, 400 frames, as many under way at once as the "
    "depth says.",
    {reading_of("simulated: speed against the naive model", "x", naive, at_least(4.9)),
     reading_of("simulated: device busy", "%", runs.busy_percent, at_least(95)),
     reading_of(
       "simulated: depth 3 against 1", "x", ratios(runs.depths.at(2), runs.depths.at(0)),
       at_least(2)),
     reading_of(
       "simulated: batches of 8 against 1", "x", ratios(runs.batches_of_8, runs.batches_of_1),
       at_least(3)),
     reading_of("simulated: batches of 8", "frames/s", runs.batches_of_8),
     reading_of("simulated: batches of 1", "frames/s", runs.batches_of_1)}};
  for (std::size_t i = 0; i < runs.depths.size(); ++i)
    r.results.push_back(
      reading_of("simulated: depth " + std::to_string(i + 1), "frames/s", runs.depths[i]));
  return r;
}

report accelerator(const context& c) {
  samples busy;
  std::vector<contestant> all{
    {"batches of 8",
     [&] {
       const auto r = once(8);
       busy.values.push_back(r.busy * 100);
       return r.fps;
     }},
    {"batches of 1", [] { return once(1).fps; }}};
  for (unsigned depth = 1; depth <= 5; ++depth)
    all.push_back({"depth " + std::to_string(depth), [depth] { return fps_at_depth(depth); }});
  const auto fps = take_turns(all, least_rounds, c.progress);
  busy.values.erase(busy.values.begin()); // of the round that warms up
  return accelerator_report({fps[0], busy, fps[1], {fps.begin() + 2, fps.end()}});
}

} // namespace hyperframes::bench
