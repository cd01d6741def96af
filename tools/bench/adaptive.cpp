#include "tools/bench/adaptive.hpp"

#include "actors/infer.hpp"
#include "graphs/hyperframes.hpp"
#include "tools/bench/benchmarks.hpp"

#include <algorithm>
#include <random>

namespace hyperframes::bench {

namespace {

constexpr unsigned hyperframe = 4, largest_fixed = 40, most = 64; // slots
constexpr double target = 0.024;                                  // seconds

/// Takes 8 ms and 0.5 ms a slot, 2 % more or less; 16 ms from when it has worked for so long.
class changing_device final : public model {
public:
  changing_device(model_ptr of, const batch_run& what)
    : of_(std::move(of)),
      draw_(static_cast<std::uint_fast32_t>(what.seed)),
      changes_at_(what.changes ? what.length / 2 : what.length),
      length_(what.length) {}

  std::string summary() const override { return "a simulated device whose load changes"; }
  const pack_spec& input() const override { return of_->input(); }
  std::uint32_t fixed_batch() const override { return 0; }
  std::uint32_t time_axis() const override { return 0; }
  bool result_per_slot() const override { return true; }
  label_names labels() const override { return nullptr; }
  expected<std::unique_ptr<infer_session>> make_session() const override {
    return of_->make_session();
  }
  /// Asked once for each batch, by the one stage that runs it.
  std::optional<duration> simulated_time(std::uint32_t slots) const override {
    const auto seconds =
      ((worked_ < changes_at_ ? 0.008 : 0.016) + 0.0005 * slots) * (1 + off_(draw_));
    if (worked_ < length_) {
      ++batches_;
      (seconds <= target ? slots_in_time_ : missed_) += seconds <= target ? slots : 1;
    }
    worked_ += seconds;
    return duration{static_cast<std::int64_t>(seconds * 1e9)};
  }
  batch_outcomes outcomes() const { return {slots_in_time_ / length_, missed_ / batches_}; }

private:
  model_ptr of_;
  mutable std::minstd_rand draw_;
  mutable std::uniform_real_distribution<double> off_{-0.02, 0.02};
  double changes_at_, length_;
  mutable double worked_ = 0, batches_ = 0, slots_in_time_ = 0, missed_ = 0;
};

batch_rounds rounds_of(bool changes, const context& c) {
  const std::string load = changes ? "a load that changes" : "a steady load";
  batch_rounds all;
  std::vector<contestant> contestants;
  const auto add = [&](const std::string& batch, samples* missed) {
    contestants.push_back({load + ", " + batch, [=, seed = std::uint64_t{0}]() mutable {
                             const auto done = run_batches({batch, changes, ++seed});
                             if (missed && seed > 1) // the first round does not count
                               missed->values.push_back(done.missed);
                             return done.fps;
                           }});
  };
  add("max: " + std::to_string(most) + ", adaptive: true, target: 24ms", &all.missed);
  for (auto slots = hyperframe; slots <= largest_fixed; slots += hyperframe)
    add("max: " + std::to_string(slots), nullptr);
  auto fps = take_turns(contestants, least_rounds, c.progress);
  all.adaptive = fps.front();
  all.fixed.assign(fps.begin() + 1, fps.end());
  return all;
}

void add_readings(report& r, const std::string& load, const batch_rounds& all, const goal& wanted) {
  samples best, missed;
  for (std::size_t n = 0; n < all.adaptive.values.size(); ++n) {
    double most_fps = 0;
    for (const auto& size : all.fixed)
      most_fps = std::max(most_fps, size.values.at(n));
    best.values.push_back(most_fps);
    missed.values.push_back(all.missed.values.at(n) * 100);
  }
  r.results.push_back(reading_of(
    "simulated, " + load + ": adaptive / best fixed", "x", ratios(all.adaptive, best), wanted));
  r.results.push_back(
    reading_of("simulated, " + load + ": batches beyond the target", "%", missed, at_most(1)));
  r.results.push_back(
    reading_of("simulated, " + load + ": adaptive", "frames/s in time", all.adaptive));
  r.results.push_back(reading_of("simulated, " + load + ": best fixed", "frames/s in time", best));
}

} // namespace

batch_outcomes run_batches(const batch_run& what) {
  auto kinds = built_in();
  auto infer = *kinds.stages.find("infer");
  infer.name = "changing";
  std::shared_ptr<const changing_device> device;
  infer.load = [&, load = infer.load](
                 const settings& config,
                 const std::string& folder) -> expected<stage_resource_ptr> {
    const auto loaded = load(config, folder);
    if (!loaded)
      return loaded.error();
    auto resource = std::make_shared<model_resource>(dynamic_cast<const model_resource&>(**loaded));
    device = std::make_shared<changing_device>(resource->loaded, what);
    resource->loaded = device;
    return stage_resource_ptr{std::move(resource)};
  };
  kinds.stages.add(std::move(infer));
  const auto g = graph::from_text(
    R"(
hyperframes: 1
name: adaptive
streams:
  - { id: "cam{1..8}", camera: { type: synthetic, scene: counter, size: 16x16, format: gray8, fps: 30, realtime: false } }
stages:
  capture:  { type: capture }
  bundle:   { type: bundle, from: capture, size: )"
      + std::to_string(hyperframe) + R"( }
  schedule: { type: schedule, from: { stage: bundle, capacity: 32 } }
  infer:    { type: changing, from: schedule, backend: simulated, input: { size: 16x16 }, batch: { )"
      + what.batch + R"( } }
  unbundle: { type: unbundle, from: infer }
  results:  { type: "null", from: unbundle }
)",
    "adaptive", {}, kinds);
  const auto end =
    graph_time{} + std::chrono::duration_cast<duration>(std::chrono::duration<double>{what.length});
  if (!run_virtually(g, end).closed())
    throw failure(make_error(errc::stage_failed, "adaptive", "the ledger is open"));
  return device->outcomes();
}

report adaptive_report(const batch_rounds& changed, const batch_rounds& steady) {
  report r;
  r.method = "SIMULATED device on the virtual clock, in a whole graph: a batch of B frames takes 8 "
             "+ B / 2 ms, 2 % more "
             "or less by chance; halfway through its 40 seconds another user comes and it takes 16 "
             "+ B / 2. Eight "
             "sources that are never short of frames, hyperframes of 4. A batch keeps the target "
             "where it takes 24 ms at "
             "the most; frames in batches that do are counted, divided by the time. Adaptive: "
             "batch: { max: 64, adaptive: "
             "true, target: 24ms }. Fixed: max: 4, 8, 12 ... 40, of which the best is taken in "
             "each round, with hindsight. "
             "Once uncounted, then five rounds, each with its own chance. Steady: the same without "
             "the other user.";
  add_readings(r, "changed halfway", changed, at_least(1.1));
  add_readings(r, "steady", steady, at_least(0.97));
  return r;
}

report adaptive(const context& c) {
  const auto changed = rounds_of(true, c);
  return adaptive_report(changed, rounds_of(false, c));
}

} // namespace hyperframes::bench
