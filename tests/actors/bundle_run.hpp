#pragma once

#include "actors/bundle.hpp"
#include "runtime/stream_stats.hpp"
#include "tests/actors/stage_context.hpp"

#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

/// What the tests of `bundle` share: the stage on a time line of its own, and frames for it.
namespace hyperframes::test {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

inline graph_time ms(int t) {
  return graph_time{std::chrono::milliseconds{t}};
}

/// A frame of 4 x 2 grey pixels of value `id`.
struct frame_source {
  buffer_pool pool{256, 8};
  media_type_ptr media = make_video_type(video_format::packed(pixel_format::gray8, 4, 2));

  frame operator()(
    stream_index stream, std::uint64_t id, int arrived = 0, std::uint32_t epoch = 0,
    std::uint16_t flags = 0) {
    frame f;
    f.meta.stream = stream;
    f.meta.epoch = epoch;
    f.meta.frame_id = id;
    f.meta.flags = flags;
    f.meta.timeline = ms(arrived);
    f.meta.arrived = as_arrival(ms(arrived));
    f.meta.deadline = ms(arrived + 500);
    f.media = media;
    f.buffer = pool.acquire();
    std::memset(f.buffer.data(), static_cast<int>(id), 8);
    return f;
  }
};

inline pack_spec gray_as_it_is() {
  pack_spec p;
  p.channels = channel_order::gray;
  p.type = data_type::uint8;
  p.scale = 1;
  p.pad_value = 0;
  return p;
}

/// "count 0:0 0:1 (0:2) x -": own, context, masked with its reason, empty slots.
inline std::string in_words(const hyperframe& h) {
  std::ostringstream s;
  s << to_string(h.descriptor.released_by);
  for (const auto& slot : h.descriptor.slots) {
    s << ' ';
    const auto id = std::to_string(slot.meta.stream) + ':' + std::to_string(slot.meta.frame_id);
    if (slot.valid)
      s << (slot.own ? id : '(' + id + ')');
    else if (slot.absent != reason::none)
      s << to_string(slot.absent);
    else
      s << '-';
  }
  return s.str();
}

/// The stage with its settings, on a time line of its own.
class bundle_run {
public:
  bundle_run(
    const settings& own, std::shared_ptr<const graph_facts> graph, bool tensors = true,
    std::uint64_t slots = 64)
    : description_(describe_bundle()) {
    auto plan = plan_with(description_, own, std::move(graph));
    plan.tensors = plan.first_tensors = slots;
    auto below = std::make_shared<stage_resource>();
    if (tensors)
      below->tensor = gray_as_it_is();
    plan.below = below;
    stage_ = description_.make(plan);
    stage_->start(context);
  }
  void at(int t) { context.advance_to(ms(t), *stage_); }
  void take(frame f) {
    at(static_cast<int>(f.meta.arrived.time_since_epoch() / 1ms));
    stage_->on_item(std::move(f), context);
  }
  void take(aligned_set set, int t) {
    at(t);
    stage_->on_item(std::make_shared<const aligned_set>(std::move(set)), context);
  }
  /// A trigger of moment `moment` that comes now.
  void fire(int moment, bool of_frame = true, stream_index stream = ~stream_index{0}) {
    stage_->on_item(trigger{ms(moment), stream, of_frame}, context);
  }
  void end(stream_index stream, bool last = true, std::uint32_t epoch = 0) {
    stage_->on_end({stream, epoch, 0, last}, context);
  }
  std::vector<hyperframe_ptr> sent() const { return context.items<hyperframe_ptr>(); }
  std::vector<std::string> words() const {
    std::vector<std::string> result;
    for (const auto& h : sent())
      result.push_back(in_words(*h));
    return result;
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> result;
    for (const auto& r : context.outcomes)
      result.push_back(hyperframes::in_words(r));
    return result;
  }
  stage& tested() { return *stage_; }

  fake_context context;

private:
  stage_description description_;
  std::unique_ptr<stage> stage_;
};

inline settings release(const settings& r) {
  return settings{}.with("release", std::make_shared<settings>(r));
}
inline settings with_size(std::int64_t size) {
  return settings{}.with("size", size);
}

/// A set of one group; `ids` below 0 are absent members.
inline aligned_set make_set(
  frame_source& frames, const std::vector<int>& ids, int arrived,
  const std::vector<bool>& repeats = {}) {
  aligned_set set;
  set.moment = ms(arrived);
  set.arrived = ms(arrived);
  for (std::size_t m = 0; m < ids.size(); ++m) {
    auto& member = set.members.emplace_back();
    member.stream = static_cast<stream_index>(m);
    if (ids[m] < 0) {
      member.absent = reason::unmatched;
      continue;
    }
    member.item = frames(member.stream, static_cast<std::uint64_t>(ids[m]), arrived);
    member.own = repeats.empty() || !repeats[m];
  }
  return set;
}

} // namespace hyperframes::test
