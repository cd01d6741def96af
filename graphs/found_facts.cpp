#include "graphs/found_facts.hpp"

#include "runtime/net/inspect.hpp"
#include "runtime/net/wire_bytes.hpp"

#include <algorithm>
#include <utility>

namespace hyperframes {

template <class Inspector>
bool inspect(Inspector& f, camera_info& i) {
  const auto frame_bytes = [&i] { return static_cast<std::uint64_t>(i.frame_bytes); };
  const auto set_frame_bytes = [&i](std::uint64_t n) {
    i.frame_bytes = n;
    return true;
  };
  const auto own_frames = [&i] { return static_cast<std::uint64_t>(i.own_frames); };
  const auto set_own_frames = [&i](std::uint64_t n) {
    i.own_frames = n;
    return true;
  };
  const auto get_length = [&i] {
    return static_cast<std::int64_t>(i.length ? i.length->count() : -1);
  };
  const auto set_length = [&i](std::int64_t ns) {
    i.length = ns < 0 ? std::nullopt : std::optional{duration{ns}};
    return true;
  };
  return f.object(i).fields(
    f.field("media", i.media), f.field("fps", i.fps), f.field("live", i.live),
    f.field("frame_count", i.frame_count), f.field("length", get_length, set_length),
    f.field("knows_truth", i.knows_truth), f.field("truth_labels", i.truth_labels),
    f.field("frame_bytes", frame_bytes, set_frame_bytes),
    f.field("own_frames", own_frames, set_own_frames), f.field("blocks", i.blocks),
    f.field("simulated", i.simulated));
}

template <class Inspector>
bool inspect(Inspector& f, stage_resource& r) {
  return f.object(r).fields(
    f.field("summary", r.summary), f.field("tensor", r.tensor),
    f.field("fixed_batch", r.fixed_batch), f.field("batch_slots", r.batch_slots),
    f.field("adaptive", r.adaptive), length(f, "batch_target", r.batch_target),
    f.field("workers", r.workers), f.field("time_axis", r.time_axis),
    f.field("result_per_slot", r.result_per_slot), f.field("simulated", r.simulated));
}

template <class Inspector>
bool inspect(Inspector& f, source_mark& m) {
  return f.object(m).fields(
    f.field("file", m.file), f.field("line", m.line), f.field("column", m.column));
}

template <class Inspector>
bool inspect(Inspector& f, fault& of) {
  return f.object(of).fields(f.field("where", of.where), f.field("message", of.message));
}

namespace {

struct facts_of_graph {
  std::uint64_t streams = 0, stages = 0;                           ///< that the graph has
  std::vector<std::pair<std::uint32_t, camera_info>> cameras;      ///< by stream
  std::vector<std::pair<std::uint32_t, stage_resource>> resources; ///< by stage
  std::vector<fault> faults;
};

template <class Inspector>
bool inspect(Inspector& f, facts_of_graph& m) {
  return f.object(m).fields(
    f.field("streams", m.streams), f.field("stages", m.stages), f.field("cameras", m.cameras),
    f.field("resources", m.resources), f.field("faults", m.faults));
}

constexpr std::uint8_t kind = 1;

bool are_of(const facts_of_graph& m, const checked_graph& graph) {
  const auto names = [](const auto& found, std::size_t most) {
    return std::ranges::all_of(found, [most](const auto& one) { return one.first < most; });
  };
  return m.streams == graph.streams.size() && m.stages == graph.stages.size()
         && names(m.cameras, graph.streams.size()) && names(m.resources, graph.stages.size());
}

} // namespace

std::vector<std::byte> write_facts(const checked_graph& graph, const std::vector<fault>& faults) {
  facts_of_graph m;
  m.streams = graph.streams.size();
  m.stages = graph.stages.size();
  m.faults = faults;
  for (std::uint32_t i = 0; i < graph.streams.size(); ++i)
    if (const auto& info = graph.streams[i].info)
      m.cameras.emplace_back(i, *info);
  for (std::uint32_t i = 0; i < graph.stages.size(); ++i)
    if (const auto& resource = graph.stages[i].resource)
      m.resources.emplace_back(i, *resource);
  return write_bytes(kind, m);
}

std::optional<std::vector<fault>>
read_facts(std::span<const std::byte> facts, checked_graph& graph) {
  if (facts.empty() || facts[0] != std::byte{kind})
    return std::nullopt;
  auto m = read_bytes<facts_of_graph>(facts.subspan(1));
  if (!m || !are_of(*m, graph))
    return std::nullopt;
  for (auto& [stream, info] : m->cameras)
    if (auto& known = graph.streams[stream].info; !known)
      known = std::move(info);
  for (auto& [stage, resource] : m->resources)
    if (auto& known = graph.stages[stage].resource; !known)
      known = std::make_shared<stage_resource>(std::move(resource));
  return std::move(m->faults);
}

} // namespace hyperframes
