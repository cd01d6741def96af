#include "actors/capture.hpp"
#include "graphs/parameters.hpp"
#include "graphs/plan.hpp"
#include "graphs/values.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <map>

namespace hyperframes {

namespace {

/// Beside what waits in an edge's ring: one item in its outlet and one in the receiver's hands.
constexpr std::uint64_t beside_ring = 2;
/// Frames that a live source's reader may have handed over before capture looks.
constexpr std::uint64_t live_inbox = 4;

std::uint64_t items_on(const checked_edge& e) {
  return static_cast<std::uint64_t>(capacity_of(e)) + beside_ring;
}

stage_holds holds_of(const checked_stage& s) {
  return s.kind->holds ? s.kind->holds(*s.config) : stage_holds{};
}

/// Walks everything below one bundler that carries its hyperframes.
template <class Visit>
void below_bundler(const planning& p, std::size_t bundler, Visit visit) {
  std::vector<std::size_t> queue{bundler};
  std::vector<std::uint8_t> seen(p.graph.stages.size());
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const auto e : p.graph.stages[queue[k]].outputs) {
      const auto& edge = p.graph.edges[e];
      if (edge.type != port_type::hyperframe && edge.type != port_type::batch)
        continue;
      visit(edge);
      if (0 == std::exchange(seen[edge.to], 1))
        queue.push_back(edge.to);
    }
}

/// A batch is filled with what has `slots` and is whole; what is larger stands alone.
std::uint64_t in_batch(const checked_stage& taker, std::uint32_t slots) {
  return std::max<std::uint64_t>(1, batch_slots(taker) / std::max(1U, slots));
}

/// @param slots that the smallest of what `bundler` sends has.
std::uint64_t tensors_below(const planning& p, std::size_t bundler, std::uint32_t slots) {
  std::uint64_t sum = p.bundlers[bundler].units
                      * std::max<std::uint64_t>(1, holds_of(p.graph.stages[bundler]).hyperframes);
  std::vector<std::uint8_t> counted(p.graph.stages.size());
  below_bundler(p, bundler, [&](const checked_edge& e) {
    const auto& to = p.graph.stages[e.to];
    sum += items_on(e) * (e.type == port_type::batch ? in_batch(to, slots) : 1);
    if (0 == std::exchange(counted[e.to], 1))
      sum += holds_of(to).hyperframes;
  });
  return sum;
}

std::uint64_t tensors_of(const planning& p, std::size_t bundler) {
  return tensors_below(p, bundler, p.bundlers[bundler].fewest_slots);
}

/// Of what goes ahead; in the bundler's hands there is one of each lane at the most.
std::uint64_t first_tensors_of(const planning& p, std::size_t bundler) {
  const auto fewest = p.bundlers[bundler].fewest_first_slots;
  return fewest == 0 ? 0 : tensors_below(p, bundler, fewest);
}

/// The bundlers whose hyperframes reach each stage, with the largest share of a stream.
std::vector<bundler_shape> shapes_above(const planning& p) {
  auto shapes = p.bundlers;
  for (const auto i : p.order) {
    if (shapes[i].makes_hyperframes)
      continue;
    for (const auto e : p.graph.stages[i].inputs) {
      const auto& above = shapes[p.graph.edges[e].from];
      shapes[i].slots = std::max(shapes[i].slots, above.slots);
      shapes[i].first_slots = std::max(shapes[i].first_slots, above.first_slots);
      shapes[i].own_slots = std::max(shapes[i].own_slots, above.own_slots);
      shapes[i].keeps_frames = shapes[i].keeps_frames || above.keeps_frames;
    }
  }
  return shapes;
}

/// Frames of one stream whose outcome an item on `e` owes.
std::uint64_t own_frames_of(const planning& p, const checked_edge& e, const bundler_shape& above) {
  switch (e.type) {
    case port_type::frame:
    case port_type::aligned_set:
      return 1;
    case port_type::hyperframe:
    case port_type::result:
      return std::max<std::uint32_t>(1, above.own_slots);
    case port_type::batch:
      return std::max<std::uint64_t>(batch_slots(p.graph.stages[e.to]), above.own_slots);
    case port_type::frame_result:
    case port_type::outcome:
    case port_type::trigger:
      return 0;
  }
  return 0;
}

/// Buffers of one stream that an item on `e` keeps in use.
std::uint64_t buffers_of(const checked_edge& e, const bundler_shape& above) {
  switch (e.type) {
    case port_type::frame:
    case port_type::aligned_set:
      return 1;
    case port_type::result:
      return above.keeps_frames ? above.own_slots : 0;
    case port_type::frame_result:
      return above.keeps_frames ? 1 : 0;
    default:
      return 0; // what hyperframes and batches hold is counted where they are made
  }
}

bool passes(const checked_stage& s, stream_index stream) {
  return std::ranges::binary_search(s.streams, stream);
}

std::uint64_t
frames_ahead_of(const planning& p, stream_index stream, const std::vector<bundler_shape>& shapes) {
  std::uint64_t sum = p.graph.streams[stream].info->live ? live_inbox : p.plan.prefetch[stream];
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    const auto& s = p.graph.stages[i];
    if (!passes(s, stream))
      continue;
    sum += holds_of(s).buffers;
    if (p.bundlers[i].makes_hyperframes && p.bundlers[i].keeps_frames)
      sum += tensors_of(p, i) * p.bundlers[i].own_slots + first_tensors_of(p, i);
    if (s.kind->settles && shapes[i].keeps_frames)
      sum += p.plan.reorder[i];
    for (const auto e : s.outputs)
      sum += items_on(p.graph.edges[e]) * buffers_of(p.graph.edges[e], shapes[i]);
  }
  // No more than there are, where that is sure: a film's header may say anything.
  const auto& info = *p.graph.streams[stream].info;
  return info.simulated && info.frame_count ? std::min(sum, std::max<std::uint64_t>(1, *info.frame_count)) : sum;
}

/// Frames of `stream` that everything above `stage` may hold.
std::uint64_t frames_above(const planning& p, std::size_t stage, stream_index stream) {
  std::vector<std::size_t> queue{stage};
  std::vector<std::uint8_t> seen(p.graph.stages.size());
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const auto e : p.graph.stages[queue[k]].inputs) {
      const auto from = p.graph.edges[e].from;
      if (!passes(p.graph.stages[from], stream))
        continue;
      sum += p.plan.edges[e].frames_per_stream;
      if (0 == std::exchange(seen[from], 1)) {
        const auto holds = holds_of(p.graph.stages[from]);
        sum += holds.frames;
        for (const auto in : p.graph.stages[from].inputs)
          sum += holds.ahead * p.plan.edges[in].frames_per_stream / std::max<std::uint64_t>(1, items_on(p.graph.edges[in]));
        queue.push_back(from);
      }
    }
  return sum;
}

void plan_reorder(planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  std::uint64_t needed = 0;
  for (const auto stream : s.streams)
    needed = std::max(needed, frames_above(p, i, stream));
  p.plan.reorder[i] = needed;
  const auto* given = integer_at(*s.config, "reorder");
  if (!given)
    return;
  if (static_cast<std::uint64_t>(*given) < needed)
    p.fail(
      mark_or(s.config->at("reorder"), s.mark),
      s.name + ".reorder is " + std::to_string(*given) + ", but the stages above may hold "
        + std::to_string(needed) + " frames of a stream, which would then be lost: raise it to "
        + std::to_string(needed) + ", or leave it out");
  p.plan.reorder[i] = std::max(needed, static_cast<std::uint64_t>(*given));
}

} // namespace

/// Whole hyperframes in the batches of each stage that takes some.
void plan_fill(planning& p, const std::vector<bundler_shape>& shapes) {
  p.plan.fill.resize(p.graph.stages.size());
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i)
    for (const auto e : p.graph.stages[i].inputs) {
      const auto& edge = p.graph.edges[e];
      const auto slots = shapes[edge.from].slots;
      if (edge.type != port_type::batch || slots == 0)
        continue;
      const std::uint64_t first = shapes[edge.from].first_slots,
                          others = std::max<std::uint64_t>(1, slots - first);
      const auto room = std::max<std::uint64_t>(batch_slots(p.graph.stages[i]), others);
      const auto whole = room / others;
      p.plan.fill[i] = {whole, others, first > 0 ? room % others / first : 0, first, room};
    }
}

void plan_bounds(planning& p) {
  const auto shapes = shapes_above(p);
  plan_fill(p, shapes);
  p.plan.edges.resize(p.graph.edges.size());
  for (std::size_t e = 0; e < p.graph.edges.size(); ++e) {
    const auto& edge = p.graph.edges[e];
    p.plan.edges[e].frames_per_stream = items_on(edge) * own_frames_of(p, edge, shapes[edge.from]);
  }
  p.plan.reorder.resize(p.graph.stages.size());
  p.plan.tensors.resize(p.graph.stages.size());
  p.plan.first_tensors.resize(p.graph.stages.size());
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    if (p.graph.stages[i].kind->settles)
      plan_reorder(p, i);
    if (p.bundlers[i].makes_hyperframes && p.plan.below[i]) {
      p.plan.tensors[i] = tensors_of(p, i);
      p.plan.first_tensors[i] = first_tensors_of(p, i);
    }
  }
  for (stream_index s = 0; s < p.graph.streams.size(); ++s) {
    const auto& info = *p.graph.streams[s].info;
    p.plan.prefetch.push_back(info.live ? 0 : prefetch_of(info));
  }
  for (stream_index s = 0; s < p.graph.streams.size(); ++s)
    p.plan.frames_ahead.push_back(frames_ahead_of(p, s, shapes));
}

} // namespace hyperframes
