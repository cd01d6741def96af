#include "graphs/batch_plan.hpp"

#include "graphs/values.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ranges>

namespace hyperframes {

namespace {

constexpr std::array<std::uint32_t, 12> sizes = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
constexpr std::array<std::uint32_t, 4> merges = {1, 2, 4, 8}; ///< hyperframes in a batch
constexpr std::uint32_t most_slots = 128;
constexpr std::uint32_t most_workers = 16; ///< of devices; else one for each core
constexpr double as_good = 0.95;           ///< of the most that can be carried
constexpr double worth_it = 0.10;          ///< gain of bundling

template <class... Ts>
std::string format(const char* pattern, Ts... values) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

class planner {
public:
  planner(const cost_model& costs, const batch_task& task) : costs_(costs), task_(task) {}

  batch_plan plan() {
    batch_plan p;
    p.as_is = judge(task_.as_is);
    p.as_is.timeout = task_.timeout_as_is;
    p.largest_size = largest_size();
    for (auto workers = task_.as_is.shared.workers; workers <= worker_limit(); ++workers) {
      auto sweep = sweep_with(workers);
      const auto best = best_of(sweep);
      const bool better = p.sweep.empty() || (best.in_time && !p.best.in_time)
                          || (!best.in_time && best.played.p99 < p.best.played.p99);
      if (better) {
        p.best = best;
        p.sweep = std::move(sweep);
      }
      if (p.best.in_time || p.best.capacity.by != flow_limit::infer)
        break; // or more workers would not help
    }
    const auto alone =
      costs_.throughput(task_.load.members, task_.load.members, p.best.with.shared);
    p.gain = p.best.capacity.fps / alone.fps - 1;
    add_remarks(p, alone);
    return p;
  }

private:
  double offered() const { return task_.load.fps * task_.load.streams; }
  std::uint32_t lanes() const {
    return (task_.load.streams + task_.load.members - 1) / task_.load.members;
  }

  std::uint32_t worker_limit() const {
    const auto least = task_.as_is.shared.workers;
    if (!task_.load.live) // what is too slow for no clock needs no more of them
      return least;
    return std::max(least, costs_.costs().infer_on_cpu ? static_cast<std::uint32_t>(task_.as_is.shared.cores) : most_workers);
  }

  std::uint32_t largest_size() const {
    if (!task_.target || !task_.load.live)
      return sizes.back();
    return costs_.largest_size(
      *task_.target, {.align = task_.align}, task_.load.fps, task_.load.members, sizes.back());
  }

  /// Of what is in time by the formula, and one alone in any case.
  std::vector<batch_choice> sweep_with(std::uint32_t workers) const {
    std::vector<batch_choice> sweep;
    for (const auto size : sizes) {
      if (size > 1 && (!task_.has_size || size * task_.load.members > most_slots))
        break;
      std::vector<batch_choice> same_size;
      for (const auto merged : merges)
        if (const auto batch = batch_of(size, merged);
            merged == 1
            || (merged <= most_merged() && batch <= most_slots && task_.fixed_batch == 0))
          same_size.push_back(judge(settings_for(size, batch, workers)));
      sweep.push_back(best_of(same_size));
    }
    return sweep;
  }

  /// Streams in step bring so many hyperframes at once; files as many as are queued.
  std::uint32_t most_merged() const { return task_.load.live ? lanes() : merges.back(); }

  std::uint32_t batch_of(std::uint32_t size, std::uint32_t merged) const {
    const auto slots = size * task_.load.members * merged;
    const auto run = std::max(1U, task_.fixed_batch);
    return (slots + run - 1) / run * run;
  }

  flow_settings settings_for(std::uint32_t size, std::uint32_t batch, std::uint32_t workers) const {
    auto with = task_.as_is;
    with.size = size;
    with.batch = batch;
    with.shared.workers = workers;
    with.batches = std::max(1U, task_.as_is.batches / task_.as_is.shared.workers) * workers;
    with.hyperframes = depth(with);
    return with;
  }

  std::uint32_t depth(const flow_settings& with) const {
    const auto slots = with.size * task_.load.members;
    const auto in_batch = std::max(1U, with.batch / slots);
    if (!task_.load.live)
      return 2 * in_batch; // so that the next batch is there when one is dispatched
    const auto service = costs_.infer(with.batch);
    auto allowed = service; // behind one batch
    if (task_.target)
      allowed = std::max(
        allowed, *task_.target - task_.align - frame_wait(with.size, task_.load.fps) - service);
    const auto rate = offered() / slots;
    // What streams in step bring at once finds room.
    return std::max(queue_depth(rate, allowed), lanes());
  }

  batch_choice judge(const flow_settings& with) const {
    batch_choice c;
    c.with = with;
    const auto slots = with.size * task_.load.members;
    c.capacity = costs_.throughput(slots, std::max(slots, with.batch), with.shared);
    c.played = play_flow(costs_, task_.load, with);
    c.limit = c.capacity.by;
    if (task_.load.live) {
      if (c.capacity.fps >= offered())
        c.limit = flow_limit::cameras;
      c.frame_wait = frame_wait(with.size, task_.load.fps);
      c.event_wait = event_wait(with.size, task_.load.fps);
      c.timeout = timeout(with);
      c.ring = ring_size(c.played.p99, task_.load.fps);
      c.in_time = c.capacity.fps >= offered() && c.played.dropped == 0;
    }
    if (task_.target && c.played.p99 > *task_.target)
      c.in_time = false;
    return c;
  }

  /// As the rule `late`, t0 + 1.5 B / fps, and no longer than the target leaves.
  duration timeout(const flow_settings& with) const {
    if (with.size == 1)
      return {};
    auto t = event_wait(3 * with.size, task_.load.fps) / 2;
    if (task_.target)
      t = std::min(t, *task_.target - task_.align - costs_.infer(with.batch));
    const auto least = std::chrono::ceil<std::chrono::milliseconds>(
      event_wait(with.size, task_.load.fps)); // below, the last frame would never be waited for
    return std::max<duration>(std::chrono::floor<std::chrono::milliseconds>(t), least);
  }

  /// What carries most of those in time; of those that carry as much, the first.
  static batch_choice best_of(const std::vector<batch_choice>& all) {
    const bool any = std::ranges::any_of(all, &batch_choice::in_time);
    if (!any)
      return *std::ranges::min_element(all, {}, [](const batch_choice& c) {
        return std::pair{c.played.dropped, c.played.p99};
      });
    double most = 0;
    for (const auto& c : all)
      if (c.in_time)
        most = std::max(most, c.capacity.fps);
    return *std::ranges::find_if(all, [&](const batch_choice& c) {
      return c.in_time && (c.capacity.fps >= as_good * most || std::isinf(c.capacity.fps));
    });
  }

  void add_remarks(batch_plan& p, const cost_model::rate& alone) const {
    const auto say = [&](std::string s) { p.remarks.push_back(std::move(s)); };
    if (!(p.gain >= worth_it))
      say(why_no_gain(p, alone));
    if (task_.target && !p.best.in_time)
      say(why_late(p));
    else if (task_.load.live && !p.best.in_time)
      say(format(
        "%u cameras at %.4g fps are %.6g frames per second, and the most that can be carried is "
        "%.4g: %s is the limit; add cores or workers, or use fewer cameras",
        task_.load.streams, task_.load.fps, offered(), p.best.capacity.fps,
        to_string(p.best.capacity.by)));
    if (task_.has_faults)
      say("the graph asks for faults, which no prediction counts");
  }

  std::string why_no_gain(const batch_plan& p, const cost_model::rate& alone) const {
    const auto gain = std::max(0.0, p.gain * 100);
    const auto n = std::max(p.best.with.batch, 8U);
    const auto& c = costs_.costs();
    const auto most = std::max({c.acquire, c.pack, c.deliver, c.other});
    if (
      alone.by == flow_limit::infer
      || (alone.by == flow_limit::cores && c.infer_on_cpu && costs_.infer(1) >= most))
      return format(
        "bundling would gain %.0f %%: one frame's inference is the bottleneck, %.4g ms of the "
        "%.4g ms that a frame costs alone, and %u at once take %.4g ms each",
        gain, in_ms(costs_.infer(1)), in_ms(costs_.alone()), n, in_ms(costs_.infer(n)) / n);
    const auto* what = alone.by != flow_limit::cores ? to_string(alone.by)
                       : most == c.acquire           ? "acquire"
                       : most == c.pack              ? "pack"
                                                     : "deliver";
    return format(
      "bundling would gain %.0f %%: %s is the bottleneck, which bundling hardly changes", gain,
      what);
  }

  std::string why_late(const batch_plan& p) const {
    const auto target = write_duration(*task_.target);
    if (p.largest_size == 0)
      return "the target of " + target
             + format(
               " cannot be met, not even by a frame alone: align may wait %.4g ms, the camera "
               "gives a "
               "frame every %.4g ms, and its inference takes %.4g ms",
               in_ms(task_.align), 1e3 / task_.load.fps, in_ms(costs_.infer(task_.load.members)));
    if (p.best.capacity.fps < offered() && task_.load.live)
      return "the target of " + target
             + format(
               " cannot be met: %.6g frames come in a second, and the most that can be carried is "
               "%.4g; "
               "%s is the limit",
               offered(), p.best.capacity.fps, to_string(p.best.capacity.by));
    return "the target of " + target
           + format(
             " cannot be met: the best is a 99th percentile of %.4g ms", in_ms(p.best.played.p99));
  }

  const cost_model& costs_;
  const batch_task& task_;
};

} // namespace

batch_plan plan_batches(const cost_model& costs, const batch_task& task) {
  return planner{costs, task}.plan();
}

std::vector<std::pair<std::string, std::string>>
values_of(const batch_plan& plan, const batch_task& task) {
  const auto& c = plan.best;
  std::vector<std::pair<std::string, std::string>> v;
  const auto bundle = "stages." + task.bundle + '.';
  if (task.target_asked)
    v.emplace_back("latency_budget", write_duration(*task.target));
  if (task.has_size)
    v.emplace_back(bundle + "size", std::to_string(c.with.size));
  if (task.has_release_count)
    v.emplace_back(bundle + "release.count", std::to_string(c.with.size));
  if (c.timeout > duration{0})
    v.emplace_back(bundle + "release.timeout", write_duration(c.timeout));
  v.emplace_back("stages." + task.schedule + ".from.capacity", std::to_string(c.with.hyperframes));
  v.emplace_back("stages." + task.infer + ".workers", std::to_string(c.with.shared.workers));
  v.emplace_back("stages." + task.infer + ".batch.max", std::to_string(c.with.batch));
  return v;
}

void override_with(
  graph_options& options, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& value : values) {
    std::erase_if(options.overrides, [&](const auto& o) { return o.first == value.first; });
    options.overrides.push_back(value);
  }
}

} // namespace hyperframes
