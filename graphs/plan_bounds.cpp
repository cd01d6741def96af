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

bool wants_frames(const checked_stage& s) {
  const auto* keep = value_at(*s.config, "keep_frames");
  if (!keep)
    return false;
  const auto* flag = std::get_if<bool>(&keep->value);
  return flag ? *flag : text_at(*s.config, "keep_frames") != "none";
}

/// How many members of each group pass `s`.
std::map<std::uint32_t, std::uint32_t> members_at(const planning& p, const checked_stage& s) {
  std::map<std::uint32_t, std::uint32_t> members;
  for (const auto i : s.streams)
    ++members[p.plan.facts->streams[i].group];
  return members;
}

bundler_shape shape_of(const planning& p, const checked_stage& s) {
  bundler_shape shape;
  if (!s.kind->bundle_size)
    return shape;
  shape.makes_hyperframes = true;
  shape.keeps_frames = wants_frames(s);
  // A size that does not depend on the members is that of one stream's hyperframe.
  shape.per_stream = s.kind->bundle_size(*s.config, 1) == s.kind->bundle_size(*s.config, 2);
  const auto groups = members_at(p, s);
  for (const auto& [group, members] : groups) {
    const auto slots = s.kind->bundle_size(*s.config, shape.per_stream ? 1 : members);
    shape.slots = std::max(shape.slots, slots);
    shape.fewest_slots = shape.fewest_slots == 0 ? slots : std::min(shape.fewest_slots, slots);
    shape.own_slots =
      std::max(shape.own_slots, shape.per_stream ? slots : (slots + members - 1) / members);
  }
  shape.units = static_cast<std::uint32_t>(shape.per_stream ? s.streams.size() : groups.size());
  return shape;
}

/// The nearest stage below that wants tensors; a second one that wants others is a fault.
stage_resource_ptr find_below(planning& p, std::size_t bundler) {
  std::vector<std::size_t> queue{bundler};
  const checked_stage* found = nullptr;
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const auto e : p.graph.stages[queue[k]].outputs) {
      const auto to = p.graph.edges[e].to;
      const auto& s = p.graph.stages[to];
      if (!s.resource || !s.resource->tensor) {
        queue.push_back(to);
        continue;
      }
      const auto& a = *s.resource->tensor;
      if (!found) {
        found = &s;
        continue;
      }
      const auto& b = *found->resource->tensor;
      const bool same = a.width == b.width && a.height == b.height && a.channels == b.channels
                        && a.layout == b.layout && a.type == b.type && a.fit == b.fit
                        && a.scale == b.scale && a.mean == b.mean && a.deviation == b.deviation
                        && a.pad_value == b.pad_value;
      if (!same && found != &s)
        p.fail(
          p.graph.stages[bundler].mark,
          p.graph.stages[bundler].name + " packs for " + found->name + " ("
            + found->resource->summary + ") and for " + s.name + " (" + s.resource->summary
            + "), which want different tensors: give each a bundle stage of its own");
    }
  return found ? found->resource : nullptr;
}

/// A slot's size where the model leaves it to the frames.
pack_spec resolve(const planning& p, const checked_stage& s, pack_spec spec) {
  if (spec.width > 0 && spec.height > 0)
    return spec;
  for (const auto i : s.streams) {
    spec.width = std::max(spec.width, p.graph.streams[i].info->media.video.width);
    spec.height = std::max(spec.height, p.graph.streams[i].info->media.video.height);
  }
  return spec;
}

// --- rules that a model and the hyperframes in front of it must meet

using bundler_rule =
  void (*)(planning&, const checked_stage&, const bundler_shape&, const stage_resource&);

const source_mark& size_mark(const checked_stage& s) {
  return s.config->has("size") ? mark_or(s.config->at("size"), s.mark) : s.mark;
}

void needs_video(
  planning& p, const checked_stage& s, const bundler_shape&, const stage_resource& below) {
  for (const auto i : s.streams) {
    const auto& stream = p.graph.streams[i];
    if (stream.info->media.what != media_type::kind::video) {
      p.fail(
        stream.mark, "the stream '" + stream.id + "' gives " + stream.info->media.to_string()
                       + ", but the model below " + s.name + " (" + below.summary
                       + ") takes pictures");
      return;
    }
  }
}

void needs_one_size(
  planning& p, const checked_stage& s, const bundler_shape& shape, const stage_resource& below) {
  if (shape.per_stream || (below.tensor->width > 0 && below.tensor->height > 0))
    return;
  for (const auto& group : p.plan.facts->groups) {
    const checked_stream* first = nullptr;
    for (const auto i : group.streams) {
      if (!std::ranges::binary_search(s.streams, i))
        continue;
      const auto& stream = p.graph.streams[i];
      if (!first)
        first = &stream;
      const auto& a = first->info->media.video;
      const auto& b = stream.info->media.video;
      if (a.width != b.width || a.height != b.height) {
        p.fail(
          stream.mark,
          "the streams '" + first->id + "' (" + first->info->media.to_string() + ") and '"
            + stream.id + "' (" + stream.info->media.to_string() + ") share the hyperframes of "
            + s.name
            + ", but the model takes frames in their own size: set the model's input size");
        return;
      }
    }
  }
}

void fits_time_axis(
  planning& p, const checked_stage& s, const bundler_shape& shape, const stage_resource& below) {
  if (below.time_axis == 0)
    return;
  const auto axis = std::to_string(below.time_axis);
  if (!shape.per_stream)
    p.fail(
      s.mark, s.name + " mixes the cameras of a group, but the model (" + below.summary + ") wants "
                + axis + " consecutive frames of one: write over: time");
  else if (shape.slots % below.time_axis != 0)
    p.fail(
      size_mark(s), s.name + " makes hyperframes of " + std::to_string(shape.slots)
                      + " slots, but the model (" + below.summary + ") takes runs of " + axis
                      + " frames: size must be a multiple of " + axis);
}

constexpr bundler_rule bundler_rules[]{needs_video, needs_one_size, fits_time_axis};

// --- how many frames of one stream an item may hold

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

/// A batch is filled with whole hyperframes; a larger one stands alone.
std::uint64_t hyperframes_in_batch(const checked_stage& taker, const bundler_shape& shape) {
  return std::max<std::uint64_t>(1, batch_slots(taker) / std::max(1U, shape.fewest_slots));
}

std::uint64_t tensors_below(const planning& p, std::size_t bundler) {
  const auto& shape = p.bundlers[bundler];
  std::uint64_t sum =
    shape.units * std::max<std::uint64_t>(1, holds_of(p.graph.stages[bundler]).hyperframes);
  std::vector<std::uint8_t> counted(p.graph.stages.size());
  below_bundler(p, bundler, [&](const checked_edge& e) {
    const auto& to = p.graph.stages[e.to];
    sum += items_on(e) * (e.type == port_type::batch ? hyperframes_in_batch(to, shape) : 1);
    if (0 == std::exchange(counted[e.to], 1))
      sum += holds_of(to).hyperframes;
  });
  return sum;
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
      sum += tensors_below(p, i) * p.bundlers[i].own_slots;
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
      const auto room = batch_slots(p.graph.stages[i]);
      p.plan.fill[i] = {std::max<std::uint64_t>(1, room / slots), slots, std::max<std::uint64_t>(room, slots)};
    }
}

void plan_bundlers(planning& p) {
  const auto count = p.graph.stages.size();
  p.plan.below.resize(count);
  p.plan.tensor_bytes.resize(count);
  p.bundlers.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& s = p.graph.stages[i];
    auto& shape = p.bundlers[i];
    shape = shape_of(p, s);
    if (shape.makes_hyperframes)
      p.plan.below[i] = find_below(p, i);
    if (!p.plan.below[i])
      continue;
    const auto before = p.faults.size();
    for (const auto rule : bundler_rules)
      rule(p, s, shape, *p.plan.below[i]);
    if (!p.fails_later_than(before))
      p.plan.tensor_bytes[i] = shape.slots * resolve(p, s, *p.plan.below[i]->tensor).slot_bytes();
  }
  // Stages between a bundler and its model know of the model too.
  for (auto i = p.order.rbegin(); i != p.order.rend(); ++i)
    for (const auto e : p.graph.stages[*i].outputs) {
      const auto& to = p.graph.stages[p.graph.edges[e].to];
      if (!p.plan.below[*i])
        p.plan.below[*i] =
          to.resource && to.resource->tensor ? to.resource : p.plan.below[p.graph.edges[e].to];
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
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    if (p.graph.stages[i].kind->settles)
      plan_reorder(p, i);
    if (p.bundlers[i].makes_hyperframes && p.plan.below[i])
      p.plan.tensors[i] = tensors_below(p, i);
  }
  for (stream_index s = 0; s < p.graph.streams.size(); ++s) {
    const auto& info = *p.graph.streams[s].info;
    p.plan.prefetch.push_back(info.live ? 0 : prefetch_of(info));
  }
  for (stream_index s = 0; s < p.graph.streams.size(); ++s)
    p.plan.frames_ahead.push_back(frames_ahead_of(p, s, shapes));
}

} // namespace hyperframes
