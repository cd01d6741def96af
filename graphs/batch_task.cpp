#include "actors/bundle_parameters.hpp"
#include "actors/infer.hpp"
#include "graphs/batch_plan.hpp"
#include "graphs/plan.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

namespace {

/// Where a stream has no end, so much of it is played.
constexpr double played_seconds = 20;
constexpr std::uint32_t most_frames = 3000; ///< of all streams together

/// The nearest stage of a type above stage `i`; throws where there are several or none.
std::size_t above(const checked_graph& graph, std::size_t i, const std::string& type) {
  for (;;) {
    const auto& s = graph.stages[i];
    if (s.kind->name == type)
      return i;
    if (s.inputs.size() != 1 && s.kind->name != "bundle")
      throw failure(make_error(
        errc::graph_invalid, s.mark.to_string(),
        "nothing can be planned: expected one stage `" + type + "` above '" + s.name
          + "', found none"));
    i = graph.edges[s.inputs.front()].from;
  }
}

std::size_t only_infer(const checked_graph& graph) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    if (graph.stages[i].kind->name == "infer")
      found.push_back(i);
  if (found.size() != 1)
    throw failure(make_error(
      errc::graph_invalid, graph.name,
      "nothing can be planned: expected one stage `infer`, found " + std::to_string(found.size())));
  return found.front();
}

std::uint32_t capacity_into(const checked_graph& graph, std::size_t stage) {
  return static_cast<std::uint32_t>(capacity_of(graph.edges[graph.stages[stage].inputs.front()]));
}

/// What the formulas do not know of.
void refuse_other_releases(const checked_stage& bundle) {
  const auto o = bundle_options_of(*bundle.config);
  const auto* what = o.trigger            ? "triggers release its hyperframes"
                     : o.window           ? "`window` releases its hyperframes"
                     : o.stride != o.size ? "`stride` is not `size`"
                     : o.every != 1       ? "`every` passes frames over"
                     : o.stream_first     ? "`stream_first` sends frames ahead"
                                          : nullptr;
  if (what)
    throw failure(make_error(
      errc::graph_invalid, bundle.mark.to_string(),
      "nothing can be planned for '" + bundle.name + "': " + what
        + ", and a plan holds for hyperframes that are released when they are full"));
}

/// Moments in a hyperframe, where a time-out may come before the last one.
std::uint32_t size_of(const checked_stage& bundle, const flow_load& load) {
  const auto o = bundle_options_of(*bundle.config);
  if (!load.live || !o.timeout)
    return o.count;
  const auto until = static_cast<std::uint32_t>(in_seconds(*o.timeout) * load.fps) + 1;
  return std::min(o.count, until);
}

/// How long its live hyperframes wait for their last moment at the most; 0: no rule says it.
duration timeout_of(const checked_stage& bundle, const graph_plan& plan) {
  const auto o = bundle_options_of(*bundle.config);
  auto t = o.timeout.value_or(duration::max());
  for (const auto& lane : bundle_lanes(bundle_over_of(*bundle.config), *plan.facts, bundle.streams))
    if (lane.live && o.late)
      t = std::min(t, late_after(o, lane));
  return o.size == 1 || t == duration::max() ? duration{0} : t;
}

flow_load
load_of(const checked_graph& graph, const checked_stage& bundle, const plan_wishes& wishes) {
  flow_load load;
  const auto streams = static_cast<std::uint32_t>(bundle.streams.size());
  double fps = 0, frames = 0;
  std::vector<std::string> groups;
  load.live = false;
  for (const auto s : bundle.streams) {
    const auto& stream = graph.streams[s];
    load.live = load.live || stream.info->live;
    fps += fps_of(graph, s) / streams;
    frames += static_cast<double>(stream.info->frame_count.value_or(
                static_cast<std::uint64_t>(played_seconds * fps_of(graph, s))))
              / streams;
    if (std::ranges::count(groups, stream.group) == 0)
      groups.push_back(stream.group);
  }
  const bool sets = graph.stages[graph.edges[bundle.inputs.front()].from].kind->name == "align";
  load.group =
    sets ? std::max<std::uint32_t>(1, streams / static_cast<std::uint32_t>(groups.size())) : 1;
  load.members = text_at(*bundle.config, "over") == "time" ? 1 : load.group;
  load.streams = wishes.cameras.value_or(streams);
  load.group = std::min(load.group, load.streams);
  load.members = std::min(load.members, load.streams);
  load.live = load.live || wishes.fps;
  load.fps = wishes.fps.value_or(fps);
  load.frames = static_cast<std::uint32_t>(
    std::clamp(std::round(frames), 1.0, std::max(60.0, double(most_frames) / load.streams)));
  return load;
}

} // namespace

batch_task
batch_task_of(const checked_graph& graph, const graph_plan& plan, const plan_wishes& wishes) {
  const auto infer = only_infer(graph);
  const auto schedule = above(graph, infer, "schedule");
  const auto bundle = above(graph, schedule, "bundle");
  const auto& stage = graph.stages[bundle];
  if (stage.streams.empty())
    throw failure(make_error(
      errc::graph_invalid, graph.name,
      "nothing can be planned: no stream reaches '" + stage.name + "'"));
  refuse_other_releases(stage);
  batch_task t;
  t.graph = graph.name;
  t.bundle = stage.name;
  t.schedule = graph.stages[schedule].name;
  t.infer = graph.stages[infer].name;
  t.above_schedule = graph.stages[graph.edges[graph.stages[schedule].inputs.front()].from].name;
  t.load = load_of(graph, stage, wishes);
  auto& a = t.as_is;
  a.size = size_of(stage, t.load);
  if (t.load.live)
    t.timeout_as_is = timeout_of(stage, plan);
  const auto& config = *graph.stages[infer].config;
  if (flag_at(config, "batch.adaptive"))
    throw failure(make_error(
      errc::graph_invalid, graph.stages[infer].mark.to_string(),
      "nothing can be planned for '" + t.infer
        + "': `batch.adaptive` chooses its batches while it runs; plan with --set stages." + t.infer
        + ".batch.adaptive=false"));
  a.batch = static_cast<std::uint32_t>(batch_slots(graph.stages[infer]));
  a.shared.workers = static_cast<std::uint32_t>(*integer_at(config, "workers"));
  a.shared.cores = std::max(1U, wishes.cores);
  std::uint32_t blocking = 0;
  for (const auto s : stage.streams)
    blocking += graph.streams[s].info->blocks ? 1 : 0;
  a.shared.readers = blocking > 0 ? t.load.streams : std::min(t.load.streams, std::max(1U, wishes.cores));
  a.prefetch = std::max(1U, plan.prefetch[stage.streams.front()]);
  a.frames = 0; // in front of bundle, and of align above it
  for (auto i = bundle; !graph.stages[i].inputs.empty();
       i = graph.edges[graph.stages[i].inputs.front()].from)
    a.frames += capacity_into(graph, i);
  a.hyperframes = capacity_into(graph, schedule);
  a.batches = capacity_into(graph, infer);
  const auto* budget = std::get_if<duration>(&graph.latency_budget.value);
  a.expires =
    t.load.live && (budget || wishes.target || duration_at(*graph.stages[schedule].config, "ttl"));
  if (budget && t.load.live)
    t.target = *budget;
  t.target_asked = wishes.target.has_value();
  if (wishes.target)
    t.target = *wishes.target;
  for (const auto& w : plan.waits)
    if (w.what.ends_with(".wait"))
      t.align = w.longest;
  const auto* model = dynamic_cast<const model_resource*>(graph.stages[infer].resource.get());
  if (model) {
    t.fixed_batch = model->fixed_batch;
    t.simulated = model->simulated;
  }
  t.has_size = bundle_over_of(*stage.config) != bundle_over::cameras;
  t.has_release_count = integer_at(*stage.config, "release.count") != nullptr;
  const auto faulty = [](const settings& s) { return s.has("faults"); };
  t.has_faults = faulty(config) || std::ranges::any_of(stage.streams, [&](stream_index s) {
                   return faulty(*graph.streams[s].config);
                 });
  return t;
}

} // namespace hyperframes
