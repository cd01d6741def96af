#include "graphs/found_facts.hpp"

#include "runtime/net/inspect.hpp"
#include "runtime/net/wire_bytes.hpp"

#include <algorithm>

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
  const auto get_length = [&i] { return static_cast<std::int64_t>(i.length ? i.length->count() : -1); };
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
    f.field("summary", r.summary), f.field("tensor", r.tensor), f.field("fixed_batch", r.fixed_batch),
    f.field("batch_slots", r.batch_slots), f.field("adaptive", r.adaptive),
    length(f, "batch_target", r.batch_target), f.field("workers", r.workers),
    f.field("time_axis", r.time_axis), f.field("result_per_slot", r.result_per_slot),
    f.field("simulated", r.simulated));
}

namespace {

struct facts_of_graph {
  std::vector<camera_info> streams;
  std::vector<bool> has_resource; ///< by stage
  std::vector<stage_resource> resources; ///< of those that have
};

template <class Inspector>
bool inspect(Inspector& f, facts_of_graph& m) {
  return f.object(m).fields(
    f.field("streams", m.streams), f.field("has_resource", m.has_resource),
    f.field("resources", m.resources));
}

constexpr std::uint8_t kind = 1;

} // namespace

std::vector<std::byte> write_facts(const checked_graph& graph) {
  facts_of_graph m;
  for (const auto& s : graph.streams)
    m.streams.push_back(s.info.value());
  for (const auto& s : graph.stages) {
    m.has_resource.push_back(s.resource != nullptr);
    if (s.resource)
      m.resources.push_back(*s.resource);
  }
  return write_bytes(kind, m);
}

bool read_facts(std::span<const std::byte> facts, checked_graph& graph) {
  if (facts.empty() || facts[0] != std::byte{kind})
    return false;
  auto m = read_bytes<facts_of_graph>(facts.subspan(1));
  if (
    !m || m->streams.size() != graph.streams.size() || m->has_resource.size() != graph.stages.size()
    || static_cast<std::size_t>(std::ranges::count(m->has_resource, true)) != m->resources.size())
    return false;
  for (std::size_t i = 0; i < graph.streams.size(); ++i)
    graph.streams[i].info = std::move(m->streams[i]);
  std::size_t at = 0;
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    if (m->has_resource[i])
      graph.stages[i].resource = std::make_shared<stage_resource>(std::move(m->resources[at++]));
  return true;
}

} // namespace hyperframes
