#include "actors/align_interpolate.hpp"
#include "graphs/parameters.hpp"
#include "graphs/plan.hpp"
#include "graphs/plan_times.hpp"
#include "graphs/values.hpp"
#include "runtime/item.hpp"

#include <algorithm>
#include <map>

namespace hyperframes {

namespace {

using line = graph_plan::memory_line;

/// Streams whose pools are of one shape share a line: a table of 500 equal lines tells nothing.
void add_pools(planning& p) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<stream_index>> alike;
  for (stream_index i = 0; i < p.graph.streams.size(); ++i) {
    const auto& info = *p.graph.streams[i].info;
    alike[{p.plan.frames_ahead[i] + info.own_frames, info.frame_bytes}].push_back(i);
  }
  for (const auto& [shape, streams] : alike) {
    const auto [slots, bytes] = shape;
    const auto how = counted(slots, "slot") + " x " + about_bytes(bytes);
    if (streams.size() == 1)
      p.plan.memory.push_back(
        {"pool of stream " + p.graph.streams[streams.front()].id, slots * bytes, how});
    else
      p.plan.memory.push_back(
        {"pools of streams " + streams_in_words(p.graph, streams), streams.size() * slots * bytes,
         std::to_string(streams.size()) + " x " + how});
  }
}

void add_tensors(planning& p) {
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    if (p.plan.tensors[i] > 0)
      p.plan.memory.push_back(
        {"tensors of " + p.graph.stages[i].name, p.plan.tensors[i] * p.plan.tensor_bytes[i],
         counted(p.plan.tensors[i], "hyperframe") + " x " + counted(p.bundlers[i].slots, "slot") + " x "
           + about_bytes(
             p.plan.tensor_bytes[i] / std::max<std::uint32_t>(1, p.bundlers[i].slots))});
    if (p.plan.first_tensors[i] > 0)
      p.plan.memory.push_back(
        {"first tensors of " + p.graph.stages[i].name,
         p.plan.first_tensors[i] * p.plan.first_tensor_bytes[i],
         counted(p.plan.first_tensors[i], "first part") + " x "
           + counted(p.bundlers[i].first_slots, "slot") + " x "
           + about_bytes(p.plan.first_tensor_bytes[i] / p.bundlers[i].first_slots)});
  }
}

/// A batch of several hyperframes is copied into one tensor, a worker each.
void add_batches(planning& p) {
  for (const auto& s : p.graph.stages) {
    if (!s.resource || !s.resource->tensor)
      continue;
    std::uint64_t slot = 0;
    for (std::size_t i = 0; i < p.graph.stages.size(); ++i)
      if (
        p.bundlers[i].makes_hyperframes && p.plan.below[i] == s.resource && p.bundlers[i].slots > 0)
        slot = std::max(slot, p.plan.tensor_bytes[i] / p.bundlers[i].slots);
    const auto* workers = integer_at(*s.config, "workers");
    const auto count = workers ? static_cast<std::uint64_t>(*workers) : 1;
    p.plan.memory.push_back(
      {"batches of " + s.name, count * batch_slots(s) * slot,
       counted(count, "worker") + " x " + counted(batch_slots(s), "slot") + " x " + about_bytes(slot)});
  }
}

/// Sensor vectors that `align` makes for the moments of the sets.
void add_interpolated(planning& p) {
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    const auto& s = p.graph.stages[i];
    if (text_at(*s.config, "match") != "linear")
      continue;
    std::uint64_t bytes = 0, groups = 0, largest = 0;
    for (const auto& g : matched_groups(p, i)) {
      const auto forming = set_forming(p, i, g);
      std::uint64_t vector = 0;
      for (const auto k : g.members)
        if (const auto& media = p.plan.facts->streams[k].media;
            can_interpolate(media.get()) && std::ranges::find(forming, k) == forming.end())
          vector = std::max<std::uint64_t>(vector, vector_bytes(*media));
      bytes += vector * vector_interpolator::slots_of_a_group;
      groups += vector > 0;
      largest = std::max(largest, vector);
    }
    if (bytes > 0)
      p.plan.memory.push_back(
        {"interpolated vectors of " + s.name, bytes,
         counted(groups, "group") + " x " + counted(vector_interpolator::slots_of_a_group, "slot")
           + " x up to " + about_bytes(largest)});
  }
}

void add_rings(planning& p) {
  std::uint64_t items = 0;
  for (const auto& e : p.graph.edges)
    items += static_cast<std::uint64_t>(capacity_of(e))
             * (e.type == port_type::frame ? p.graph.stages[e.from].streams.size() : 1);
  p.plan.memory.push_back(
    {"rings of the edges", items * sizeof(item),
     counted(items, "item") + " x " + about_bytes(sizeof(item))});
}

void add_reorder(planning& p) {
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    const auto& s = p.graph.stages[i];
    if (p.plan.reorder[i] > 0)
      p.plan.memory.push_back(
        {"reorder space of " + s.name, s.streams.size() * p.plan.reorder[i] * sizeof(frame_result),
         counted(s.streams.size(), "stream") + " x " + counted(p.plan.reorder[i], "frame") + " x "
           + about_bytes(sizeof(frame_result))});
  }
}

void check_allowed(planning& p) {
  const auto allowed = static_cast<std::uint64_t>(std::get<std::int64_t>(p.graph.memory.value));
  if (p.plan.memory_total <= allowed)
    return;
  std::vector<std::string> largest;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, p.plan.memory.size()); ++i)
    largest.push_back(
      p.plan.memory[i].what + ' ' + about_bytes(p.plan.memory[i].bytes) + " ("
      + p.plan.memory[i].how + ')');
  const auto where = mark_or(p.graph.memory, {p.graph.streams.front().mark.file, 1, 1});
  p.fail(
    where, "the graph would take " + about_bytes(p.plan.memory_total) + ", but memory allows "
             + about_bytes(allowed) + ": the largest are " + join_words(largest)
             + "; lower capacities or sizes, or raise `memory`");
}

} // namespace

void plan_memory(planning& p) {
  add_pools(p);
  add_tensors(p);
  add_batches(p);
  add_interpolated(p);
  add_rings(p);
  add_reorder(p);
  std::ranges::stable_sort(p.plan.memory, std::greater<>{}, &line::bytes);
  for (const auto& l : p.plan.memory)
    p.plan.memory_total += l.bytes;
  check_allowed(p);
}

} // namespace hyperframes
