#include "runtime/item.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

template <class F>
void for_each_own(const hyperframe_descriptor& d, std::size_t first, std::size_t count, F&& f) {
  for (auto i = first; i < std::min(first + count, d.slots.size()); ++i)
    if (d.slots[i].own)
      f(d.slots[i].meta);
}

/// Calls `f` with the metadata of every frame that `i` owns.
template <class F>
void for_each_own(const item& i, F&& f) {
  switch (type_of(i)) {
    case port_type::frame:
      f(std::get<frame>(i).meta);
      break;
    case port_type::aligned_set:
      for (const auto& m : std::get<aligned_set_ptr>(i)->members)
        if (m.own && m.item)
          f(m.item->meta);
      break;
    case port_type::hyperframe: {
      const auto& d = std::get<hyperframe_ptr>(i)->descriptor;
      for_each_own(d, 0, d.slots.size(), f);
      break;
    }
    case port_type::batch:
      for (const auto& part : std::get<batch_ptr>(i)->parts)
        for_each_own(part.source->descriptor, part.first, part.count, f);
      break;
    case port_type::result: {
      const auto& d = std::get<result_ptr>(i)->descriptor;
      for_each_own(d, 0, d.slots.size(), f);
      break;
    }
    case port_type::frame_result:
    case port_type::outcome:
    case port_type::trigger:
      break;
  }
}

} // namespace

stream_index lane_of(const item& i) {
  const auto* f = std::get_if<frame>(&i);
  return f ? f->meta.stream : 0;
}

void add_outcomes(const item& i, outcome what, reason why, outcome_batch& into) {
  for_each_own(i, [&](const frame_meta& meta) { into.add(meta, what, why); });
}

std::uint64_t own_frames(const item& i) {
  std::uint64_t count = 0;
  for_each_own(i, [&](const frame_meta&) { ++count; });
  return count;
}

void note_taken(const item& i, std::uint32_t stage, graph_time when) noexcept {
  const auto note = [&](const recycled_vector<frame>& frames) {
    for (const auto& f : frames)
      f.buffer.note_taken(stage, when);
  };
  const auto note_all = [&](const hyperframe& h) {
    h.tensor.note_taken(stage, when);
    note(h.frames);
  };
  switch (type_of(i)) {
    case port_type::frame:
      std::get<frame>(i).buffer.note_taken(stage, when);
      break;
    case port_type::aligned_set:
      for (const auto& m : std::get<aligned_set_ptr>(i)->members)
        if (m.item)
          m.item->buffer.note_taken(stage, when);
      break;
    case port_type::hyperframe:
      note_all(*std::get<hyperframe_ptr>(i));
      break;
    case port_type::batch:
      for (const auto& part : std::get<batch_ptr>(i)->parts)
        note_all(*part.source);
      break;
    case port_type::result:
      note(std::get<result_ptr>(i)->frames);
      break;
    case port_type::frame_result:
      if (const auto& f = std::get<frame_result_ptr>(i)->content)
        f->buffer.note_taken(stage, when);
      break;
    case port_type::outcome:
    case port_type::trigger:
      break;
  }
}

std::size_t held_bytes(const item& i) {
  switch (type_of(i)) {
    case port_type::frame:
      return std::get<frame>(i).buffer.size();
    case port_type::aligned_set: {
      std::size_t bytes = 0;
      for (const auto& m : std::get<aligned_set_ptr>(i)->members)
        bytes += m.item ? m.item->buffer.size() : 0;
      return bytes;
    }
    case port_type::hyperframe:
      return std::get<hyperframe_ptr>(i)->tensor.size();
    case port_type::batch: {
      std::size_t bytes = 0;
      for (const auto& part : std::get<batch_ptr>(i)->parts)
        bytes += part.source->tensor.size();
      return bytes;
    }
    default:
      return 0;
  }
}

std::size_t hyperframe_descriptor::valid_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(slots, &slot::valid));
}

std::size_t hyperframe_descriptor::own_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(slots, &slot::own));
}

graph_time hyperframe_descriptor::deadline() const {
  auto earliest = never;
  for (const auto& s : slots)
    if (s.own)
      earliest = std::min(earliest, s.meta.deadline);
  return earliest;
}

std::size_t tensor::elements() const {
  std::size_t n = 1;
  for (auto d : shape)
    n *= static_cast<std::size_t>(d);
  return n;
}

void outcome_batch::add(const outcome_range& range) {
  for (auto& r : ranges_) {
    if (r.stream != range.stream || r.epoch != range.epoch || r.what != range.what
        || r.why != range.why)
      continue;
    if (r.first + r.count == range.first) {
      r.count += range.count;
      return;
    }
    if (range.first + range.count == r.first) {
      r.first = range.first;
      r.count += range.count;
      return;
    }
  }
  ranges_.push_back(range);
}

std::uint64_t outcome_batch::frames() const {
  std::uint64_t n = 0;
  for (const auto& r : ranges_)
    n += r.count;
  return n;
}

} // namespace hyperframes
