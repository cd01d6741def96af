#include "actors/bundle.hpp"
#include "actors/bundle_parameters.hpp"
#include "runtime/held_sum.hpp"
#include "runtime/stream_stats.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

/// How the lane's frames are packed: what the model leaves open is as the lane's first stream is.
std::optional<pack_spec> pack_of(const stage_plan& plan, const bundle_lane& lane) {
  if (!plan.below || !plan.below->tensor)
    return std::nullopt;
  auto spec = *plan.below->tensor;
  if (spec.width > 0 && spec.height > 0)
    return spec;
  const auto& stream = plan.graph->streams[lane.members.front()];
  if (!stream.media || stream.media->what != media_type::kind::video)
    throw failure(make_error(
      errc::graph_invalid, plan.name,
      "the model takes frames of any size, and the size of " + stream.id
        + " is not known; give the model's input a size"));
  if (spec.width == 0)
    spec.width = stream.media->video.width;
  if (spec.height == 0)
    spec.height = stream.media->video.height;
  return spec;
}

class bundle_stage final : public stage {
public:
  explicit bundle_stage(const stage_plan& plan)
    : over_(bundle_over_of(*plan.config)),
      options_(bundle_options_of(*plan.config)),
      lane_of_(plan.graph->streams.size()) {
    shared_.stage = plan.name;
    shared_.sequence = {plan.graph->node, plan.graph->run, 0};
    shared_.counter = plan.graph->hyperframes;
    for (auto& lane : bundle_lanes(over_, *plan.graph, plan.streams))
      add_lane(plan, std::move(lane));
    std::size_t bytes = 0; // of a moment
    for (const auto& b : bundlers_)
      if (const auto& pack = b.lane().pack)
        bytes = std::max(bytes, pack->slot_bytes() * b.lane().members.size());
    shared_.tensors = buffer_pool{plan.tensors, bytes * options_.size, plan.pool};
    if (options_.stream_first)
      shared_.firsts = buffer_pool{plan.first_tensors, bytes, plan.first_pool};
  }

  void on_item(item i, stage_context& context) override {
    if (auto* f = std::get_if<frame>(&i))
      take(*f, context);
    else if (auto* set = std::get_if<aligned_set_ptr>(&i))
      take(**set, context);
    else
      fire(std::get<trigger>(i), context);
  }
  void on_end(const stream_end& end, stage_context& context) override {
    auto& b = bundler_of(end.stream);
    const held_sum::change counts{held_, b};
    b.end(end.stream, end.last_epoch, context.now(), output_);
    pass_on(b, context);
    context.emit(end);
  }
  void on_wake(stage_context& context) override {
    wish_ = never;
    for (auto& b : bundlers_) {
      const held_sum::change counts{held_, b};
      b.wake(context.now(), output_);
      pass_on(b, context);
    }
  }
  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    // What was made before something threw and has not been passed on.
    for (const auto& h : output_.released)
      if (h)
        add_outcomes(h, what, why, into);
    for (const auto& range : output_.outcomes)
      into.add(range);
    output_ = {};
    for (auto& b : bundlers_) {
      const held_sum::change counts{held_, b};
      b.give_up(what, why, into);
    }
  }
  std::uint64_t held_frames() const noexcept override { return held_.frames(); }

private:
  void add_lane(const stage_plan& plan, bundle_lane lane) {
    for (auto s : lane.members)
      lane_of_[s] = static_cast<std::uint32_t>(bundlers_.size()) + 1;
    if (plan.config->has("priority"))
      lane.priority = static_cast<std::int32_t>(plan.config->integer("priority"));
    lane.pack = pack_of(plan, lane);
    bundlers_.emplace_back(options_, std::move(lane), shared_);
  }

  bundler& bundler_of(stream_index s) {
    if (s >= lane_of_.size() || lane_of_[s] == 0)
      throw std::logic_error("bundle got a stream that is not planned to pass there");
    return bundlers_[lane_of_[s] - 1];
  }

  void take(const frame& f, stage_context& context) {
    auto& b = bundler_of(f.meta.stream);
    if (b.lane().members.size() > 1)
      throw failure(make_error(
        errc::graph_invalid, shared_.stage,
        "`over: cameras` and `over: both` need aligned sets, and single "
        "frames came; put an `align` stage in front"));
    const held_sum::change counts{held_, b};
    const bundler::entry only{&f, true, reason::none};
    b.add({&only, 1}, as_graph(f.meta.arrived), context.now(), output_);
    pass_on(b, context);
  }

  void take(const aligned_set& set, stage_context& context) {
    if (over_ == bundle_over::time) {
      // A repeated frame is no new frame of its stream: it has its place in time already.
      for (const auto& m : set.members)
        if (m.item && m.own)
          take(*m.item, context);
      return;
    }
    moment_.clear();
    for (const auto& m : set.members)
      moment_.push_back({m.item ? &*m.item : nullptr, m.own, m.absent});
    auto& b = bundler_of(set.members.at(0).stream);
    const held_sum::change counts{held_, b};
    b.add(moment_, set.arrived, context.now(), output_);
    pass_on(b, context);
  }

  void fire(const trigger& t, stage_context& context) {
    if (t.stream < lane_of_.size() && lane_of_[t.stream] == 0)
      return; // it means hyperframes that another stage makes
    for (std::uint32_t i = 0; i < bundlers_.size(); ++i) {
      if (t.stream < lane_of_.size() && lane_of_[t.stream] != i + 1)
        continue;
      const held_sum::change counts{held_, bundlers_[i]};
      bundlers_[i].fire(t, context.now(), output_);
      pass_on(bundlers_[i], context);
    }
    if (std::exchange(output_.triggers_lost, 0) > 0 && !std::exchange(told_of_lost_, true))
      context.alarm(
        "a trigger was lost: " + std::to_string(bundler::max_triggers)
        + " of them waited for their moments already; this is said once");
    if (std::exchange(output_.triggers_late, 0) > 0 && !std::exchange(told_of_late_, true))
      context.alarm(
        "a trigger came too late: the frames at its moment had gone; a larger `size` keeps them for "
        "longer; this is said once");
  }

  void pass_on(const bundler& from, stage_context& context) {
    for (auto& h : output_.released) {
      context.emit(h);
      if (h->descriptor.off_pace)
        for (const auto s : from.lane().members)
          context.numbers(s).off_pace.fetch_add(1, std::memory_order_relaxed);
      h.reset(); // has left: `give_up` must not name it
    }
    output_.released.clear();
    for (const auto& range : output_.outcomes)
      context.settle(range);
    output_.outcomes.clear();
    if (output_.bytes_copied > 0)
      context.copied(std::exchange(output_.bytes_copied, 0));
    if (from.due() < wish_) {
      wish_ = from.due();
      context.wake_at(wish_);
    }
  }

  bundle_over over_;
  bundle_options options_;
  bundle_shared shared_;
  std::vector<bundler> bundlers_;
  held_sum held_; ///< of `bundlers_`
  std::vector<std::uint32_t> lane_of_; ///< by stream; 0: none, otherwise one above its index
  std::vector<bundler::entry> moment_;
  bundler::output output_;
  graph_time wish_ = never; ///< the earliest wake-up asked for
  bool told_of_lost_ = false;
  bool told_of_late_ = false;
};

} // namespace

stage_description describe_bundle() {
  stage_description d;
  d.name = "bundle";
  d.on_nodes = node_use::whole;
  d.summary = "Fills hyperframes with frames and packs each one as it comes.";
  d.inputs = {
    {"in",
     {port_type::frame, port_type::aligned_set},
     "Frames, or sets where several cameras share a hyperframe."},
    {"trigger",
     {port_type::trigger},
     "With `release: { trigger: true }`, as in `from: [align, trigger]`.",
     true}};
  d.outputs = {{"out", {port_type::hyperframe}, "Hyperframes, per stream or group in order."}};
  d.many_inputs = true;
  d.parameters = bundle_parameters();
  d.check = check_bundle;
  d.check_inputs = check_bundle_inputs;
  d.holds = [](const settings& s) {
    const auto o = bundle_options_of(s);
    const std::uint64_t frames = o.size;
    // The frame in hand; where frames are kept, those of the open hyperframe too; the ring of `pre`.
    return stage_holds{
      std::max<std::uint64_t>(frames, o.ring()), 1 + (o.keep_frames ? frames : 0) + o.ring(), 1};
  };
  d.bundle_size = [](const settings& s, std::uint32_t members) {
    const auto size = bundle_options_of(s).size;
    return bundle_over_of(s) == bundle_over::time ? size : size * members;
  };
  d.make = [](const stage_plan& plan) { return std::make_unique<bundle_stage>(plan); };
  return d;
}

} // namespace hyperframes
