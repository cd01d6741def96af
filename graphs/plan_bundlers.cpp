#include "graphs/parameters.hpp"
#include "graphs/plan.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <map>

// What stages make hyperframes of which shape, and whether the models below can take them.
namespace hyperframes {

namespace {

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
  const bool ahead = flag_at(*s.config, "stream_first");
  // A size that does not depend on the members is that of one stream's hyperframe.
  shape.per_stream = s.kind->bundle_size(*s.config, 1) == s.kind->bundle_size(*s.config, 2);
  const auto groups = members_at(p, s);
  for (const auto& [group, members] : groups) {
    const auto slots = s.kind->bundle_size(*s.config, shape.per_stream ? 1 : members);
    const auto first = !ahead ? 0 : shape.per_stream ? 1 : members;
    const auto fewest = [](std::uint32_t a, std::uint32_t b) {
      return a == 0 ? b : std::min(a, b);
    };
    shape.slots = std::max(shape.slots, slots);
    shape.fewest_slots = fewest(shape.fewest_slots, slots - first);
    shape.first_slots = std::max(shape.first_slots, first);
    shape.fewest_first_slots = fewest(shape.fewest_first_slots, first);
    shape.own_slots =
      std::max(shape.own_slots, shape.per_stream ? slots : (slots + members - 1) / members);
  }
  shape.units = static_cast<std::uint32_t>(shape.per_stream ? s.streams.size() : groups.size());
  return shape;
}

/// The nearest stages below that want tensors; one that wants others than the first is a fault.
std::vector<const checked_stage*> models_below(planning& p, std::size_t bundler) {
  std::vector<std::size_t> queue{bundler};
  std::vector<const checked_stage*> found;
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const auto e : p.graph.stages[queue[k]].outputs) {
      const auto to = p.graph.edges[e].to;
      const auto& s = p.graph.stages[to];
      if (!s.resource || !s.resource->tensor) {
        queue.push_back(to);
        continue;
      }
      if (std::ranges::find(found, &s) != found.end())
        continue;
      found.push_back(&s);
      const auto& first = *found.front();
      const auto& a = *s.resource->tensor;
      const auto& b = *first.resource->tensor;
      const bool same = a.width == b.width && a.height == b.height && a.channels == b.channels
                        && a.layout == b.layout && a.type == b.type && a.fit == b.fit
                        && a.scale == b.scale && a.mean == b.mean && a.deviation == b.deviation
                        && a.pad_value == b.pad_value;
      if (!same)
        p.fail(
          p.graph.stages[bundler].mark,
          p.graph.stages[bundler].name + " packs for " + first.name + " (" + first.resource->summary
            + ") and for " + s.name + " (" + s.resource->summary
            + "), which want different tensors: give each a bundle stage of its own");
    }
  return found;
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

void takes_frames_singly(
  planning& p, const checked_stage& s, const bundler_shape& shape, const stage_resource& below) {
  if (shape.first_slots == 0 || (below.time_axis == 0 && below.result_per_slot))
    return;
  p.fail(
    mark_or(s.config->at("stream_first"), s.mark),
    s.name
      + ".stream_first sends the first frame of a hyperframe ahead of the others, but the model ("
      + below.summary + ") "
      + (below.time_axis > 0 ? "takes " + std::to_string(below.time_axis) + " frames together" : "gives one result for the whole hyperframe")
      + ": leave stream_first out, or take a model that takes frames one by one");
}

constexpr bundler_rule frame_rules[]{
  needs_video, needs_one_size}; ///< the same for all models below
constexpr bundler_rule model_rules[]{fits_time_axis, takes_frames_singly}; ///< of each model

} // namespace

void plan_bundlers(planning& p) {
  const auto count = p.graph.stages.size();
  p.plan.below.resize(count);
  p.plan.tensor_bytes.resize(count);
  p.plan.first_tensor_bytes.resize(count);
  p.bundlers.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& s = p.graph.stages[i];
    auto& shape = p.bundlers[i];
    shape = shape_of(p, s);
    if (!shape.makes_hyperframes)
      continue;
    const auto before = p.faults.size();
    const auto models = models_below(p, i);
    if (models.empty())
      continue;
    const auto& below = *(p.plan.below[i] = models.front()->resource);
    for (const auto rule : frame_rules)
      rule(p, s, shape, below);
    for (const auto* model : models)
      for (const auto rule : model_rules)
        rule(p, s, shape, *model->resource);
    if (p.fails_later_than(before))
      continue;
    const auto slot = resolve(p, s, *below.tensor).slot_bytes();
    p.plan.tensor_bytes[i] = shape.slots * slot;
    p.plan.first_tensor_bytes[i] = shape.first_slots * slot;
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

} // namespace hyperframes
