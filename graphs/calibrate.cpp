#include "graphs/calibrate.hpp"

#include "graphs/hyperframes.hpp"
#include "graphs/plan.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <stdlib.h>
#include <sys/resource.h>

namespace hyperframes {

namespace {

constexpr std::uint32_t most_slots = 32; ///< in a pass
constexpr duration pass_length = std::chrono::seconds{1};
constexpr duration longest_pass = std::chrono::seconds{10};
constexpr std::uint64_t least_batches = 8;
/// Where a batch takes longer, larger ones are not measured but reckoned.
constexpr duration slow_batch = std::chrono::milliseconds{500};

double ns(duration d) {
  return static_cast<double>(d.count());
}

duration per(duration sum, double n) {
  return n > 0 ? duration{std::llround(ns(sum) / n)} : duration{};
}

/// CPU time of the process.
duration process_cpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) -> duration {
    return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// For what a pass writes.
class scratch {
public:
  scratch() {
    auto pattern = (std::filesystem::temp_directory_path() / "hyperframes-plan-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw failure(make_error(errc::io_failed, pattern, "no folder could be made here"));
    path_ = pattern;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  /// A file of the same kind, named after its stage.
  std::string instead_of(const std::string& stage, const std::string& path) const {
    const std::filesystem::path old{path};
    return (path_ / (stage + '-' + old.filename().string())).string();
  }

private:
  std::filesystem::path path_;
};

using override_list = std::vector<std::pair<std::string, std::string>>;

bool has_parameter(const std::vector<parameter>& all, const std::string& name) {
  return std::ranges::count(all, name, &parameter::name) > 0;
}

/// What every pass has.
override_list
common_overrides(const checked_graph& graph, const batch_task& task, const scratch& at) {
  override_list set = {{"latency_budget", "1h"}}; // what is read as files has no deadline
  std::vector<std::string> entries;               // of the file's list of streams, by their marks
  for (const auto& s : graph.streams) {
    if (std::ranges::count(entries, s.mark.to_string()) > 0)
      continue;
    if (has_parameter(s.camera->parameters, "realtime"))
      set.emplace_back("streams." + std::to_string(entries.size()) + ".camera.realtime", "false");
    entries.push_back(s.mark.to_string());
  }
  for (const auto& s : graph.stages)
    if (s.kind->writes && s.config->has("path"))
      set.emplace_back(
        "stages." + s.name + ".path", at.instead_of(s.name, text_at(*s.config, "path")));
  for (const auto& e : graph.edges) // nothing is lost to a queue while files are read
    if (graph.stages[e.to].name == task.schedule)
      set.emplace_back("stages." + task.schedule + ".from.overflow", "block");
  return set;
}

override_list pass_overrides(const batch_task& task, std::uint32_t size, std::uint32_t slots) {
  override_list set;
  const auto bundle = "stages." + task.bundle + '.';
  if (task.has_size)
    set.emplace_back(bundle + "size", std::to_string(size));
  if (task.has_release_count)
    set.emplace_back(bundle + "release.count", std::to_string(size));
  set.emplace_back("stages." + task.infer + ".batch.max", std::to_string(slots));
  return set;
}

/// Stages from infer down.
std::vector<std::string> below_infer(const checked_graph& graph, const std::string& infer) {
  std::vector<std::string> found = {infer};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const auto& e : graph.edges)
      if (
        graph.stages[e.from].name == found[i]
        && std::ranges::count(found, graph.stages[e.to].name) == 0)
        found.push_back(graph.stages[e.to].name);
  found.erase(found.begin());
  return found;
}

/// What was done from the start of a run on.
calibration_pass
read(const run_summary& s, const checked_graph& graph, const batch_task& task, duration cpu) {
  calibration_pass p;
  p.frames = s.ledger.captured;
  p.batches = s.batches;
  p.cpu = cpu;
  const auto below = below_infer(graph, task.infer);
  for (std::size_t i = 0; i < s.stages.size(); ++i) {
    const auto& line = s.stages[i];
    if (graph.stages[i].inputs.empty()) {
      p.acquire += line.cpu;
      continue;
    }
    if (line.name == task.infer) {
      p.infer = task.simulated ? line.busy : line.cpu;
      p.slots = s.batch_fill * static_cast<double>(s.batches * batch_slots(graph.stages[i]));
      continue;
    }
    p.stages += line.busy;
    if (line.name == task.bundle) {
      p.pack = line.busy;
      p.hyperframes = line.items_out;
    } else if (line.name == task.schedule) {
      p.schedule = line.busy;
    } else if (std::ranges::count(below, line.name) > 0) {
      p.deliver += line.busy;
    }
  }
  return p;
}

calibration_pass operator-(calibration_pass a, const calibration_pass& b) {
  a.frames -= b.frames;
  a.hyperframes -= b.hyperframes;
  a.batches -= b.batches;
  a.slots -= b.slots;
  a.acquire -= b.acquire;
  a.pack -= b.pack;
  a.schedule -= b.schedule;
  a.infer -= b.infer;
  a.deliver -= b.deliver;
  a.stages -= b.stages;
  a.cpu -= b.cpu;
  return a;
}

/// From the first result on, so that opening cameras does not count, to before it is drained.
calibration_pass
run_for_a_while(const graph& g, const batch_task& task, std::uint64_t least_frames) {
  running run{g};
  const auto before = process_cpu();
  const auto look = [&](const run_summary& s) {
    return read(s, g.checked(), task, process_cpu() - before);
  };
  std::optional<calibration_pass> begin, end;
  constexpr auto step = std::chrono::milliseconds{5};
  duration waited{};
  for (; waited < longest_pass && !run.wait(step); waited += step) {
    const auto ended = run.progress().ledger.ended();
    if (!begin && ended > 0) {
      begin = look(run.so_far());
      waited = duration{};
    }
    if (begin && waited >= pass_length && ended - begin->frames >= least_frames) {
      end = look(run.so_far());
      break;
    }
  }
  run.stop(); // what it has not finished is of no interest
  const auto summary = run.finish();
  if (summary.failed)
    throw failure(make_error(errc::stage_failed, "calibrate", *summary.failed));
  return end.value_or(look(summary)) - begin.value_or(calibration_pass{});
}

/// By slots; more of them never take less.
std::vector<infer_cost> infer_costs(const std::vector<calibration_pass>& passes) {
  std::vector<infer_cost> costs;
  for (const auto& p : passes)
    if (p.batches > 0)
      costs.push_back(
        {std::max(
           1U, static_cast<std::uint32_t>(std::lround(p.slots / static_cast<double>(p.batches)))),
         per(p.infer, static_cast<double>(p.batches))});
  std::ranges::stable_sort(costs, {}, &infer_cost::slots);
  std::vector<infer_cost> result;
  for (const auto& c : costs)
    if (!result.empty() && result.back().slots == c.slots)
      result.back().time = (result.back().time + c.time) / 2;
    else
      result.push_back(c);
  for (std::size_t i = 1; i < result.size(); ++i)
    result[i].time = std::max(result[i].time, result[i - 1].time);
  return result;
}

} // namespace

stage_costs costs_of(const std::vector<calibration_pass>& passes) {
  stage_costs c;
  c.infer = infer_costs(passes);
  if (c.infer.empty())
    throw failure(make_error(
      errc::stage_failed, "calibrate", "no batch was inferred: is there a frame to read?"));
  double frames = 0, hyperframes = 0, alone = 0, bundled = 0, bundled_frames = 0;
  duration acquire{}, schedule{}, deliver{}, other{};
  for (const auto& p : passes) {
    c.infer_on_cpu = p.infer_on_cpu;
    const auto left =
      std::max(duration{}, p.cpu - p.acquire - (p.infer_on_cpu ? p.infer : duration{}));
    const auto share = p.stages > left ? ns(left) / ns(p.stages) : 1.0;
    const auto counted = [&](duration wall) { return duration{std::llround(ns(wall) * share)}; };
    frames += static_cast<double>(p.frames);
    hyperframes += static_cast<double>(p.hyperframes);
    acquire += p.acquire;
    schedule += counted(p.schedule);
    deliver += counted(p.deliver);
    other += left - counted(p.pack + p.schedule + p.deliver);
    if (p.size == 1 || p.frames == 0) {
      alone = ns(counted(p.pack)) / std::max(1.0, static_cast<double>(p.frames));
    } else {
      bundled += ns(counted(p.pack));
      bundled_frames += static_cast<double>(p.frames);
    }
  }
  c.acquire = per(acquire, frames);
  c.schedule = per(schedule, hyperframes);
  c.deliver = per(deliver, frames);
  c.other = per(other, frames);
  c.pack = duration{std::llround(alone)};
  c.k = alone > 0 && bundled_frames > 0 ? bundled / bundled_frames / alone : 1;
  return c;
}

stage_costs calibrate(
  const std::string& path, const graph_options& options, const batch_task& task,
  const std::function<void(const std::string&)>& tell) {
  const scratch folder;
  const auto whole = graph::from_file(path, options);
  const auto common = common_overrides(whole.checked(), task, folder);
  std::vector<calibration_pass> passes;
  for (std::uint32_t size = 1; size * task.load.members <= most_slots || size == 1; size *= 2) {
    const auto run = std::max(1U, task.fixed_batch);
    const auto slots = (size * task.load.members + run - 1) / run * run;
    auto with = options;
    override_with(with, common);
    override_with(with, pass_overrides(task, size, slots));
    if (tell)
      tell("measuring hyperframes of " + std::to_string(size));
    const auto g = graph::from_file(path, with);
    passes.push_back(run_for_a_while(g, task, least_batches * slots));
    passes.back().size = size;
    passes.back().infer_on_cpu = !task.simulated;
    const auto& last = passes.back();
    if (!task.has_size || per(last.infer, static_cast<double>(last.batches)) > slow_batch)
      break;
  }
  return costs_of(passes);
}

} // namespace hyperframes
