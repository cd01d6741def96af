#include "actors/bundle.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

using namespace std::chrono_literals;

enum class bundle_over : std::uint8_t { time, cameras, both };

bundle_over over(const settings& s) {
  const auto& text = s.text("over");
  return text == "cameras" ? bundle_over::cameras
         : text == "both"  ? bundle_over::both
                           : bundle_over::time;
}

std::uint32_t whole(const settings& s, std::string_view name, std::uint32_t otherwise) {
  return s.has(name) ? static_cast<std::uint32_t>(s.integer(name)) : otherwise;
}

/// Moments in a hyperframe.
std::uint32_t size_of(const settings& s) {
  return over(s) == bundle_over::cameras ? 1 : whole(s, "size", 8);
}

bundle_options read(const settings& s) {
  bundle_options o;
  o.size = size_of(s);
  o.stride = whole(s, "stride", o.size);
  o.every = whole(s, "every", 1);
  o.count = o.size;
  o.keep_frames = s.flag("keep_frames");
  o.late = true;
  if (s.has("release")) {
    const auto& r = s.group("release");
    o.count = std::min(whole(r, "count", o.size), o.size);
    if (r.has("timeout"))
      o.timeout = r.time("timeout");
    if (r.has("window"))
      o.window = r.time("window");
    o.late = r.has("late") ? r.flag("late") : !o.timeout && !o.window;
  }
  return o;
}

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
    : over_(over(*plan.config)),
      options_(read(*plan.config)),
      lane_of_(plan.graph->streams.size()) {
    shared_.stage = plan.name;
    shared_.sequence = {plan.graph->node, plan.graph->run, 0};
    shared_.counter = plan.graph->hyperframes;
    const auto& groups = plan.graph->groups;
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      std::vector<stream_index> members;
      for (auto s : groups[g].streams)
        if (std::ranges::find(plan.streams, s) != plan.streams.end())
          members.push_back(s);
      if (over_ == bundle_over::time)
        for (auto s : members)
          add_lane(plan, g, {s});
      else if (!members.empty())
        add_lane(plan, g, std::move(members));
    }
    std::size_t bytes = 0;
    for (const auto& b : bundlers_)
      if (const auto& pack = b.lane().pack)
        bytes = std::max(bytes, pack->slot_bytes() * options_.size * b.lane().members.size());
    shared_.tensors = buffer_pool{plan.tensors, bytes};
  }

  void on_item(item i, stage_context& context) override {
    if (auto* f = std::get_if<frame>(&i))
      take(*f, context);
    else
      take(*std::get<aligned_set_ptr>(i), context);
  }
  void on_end(const stream_end& end, stage_context& context) override {
    auto& b = bundler_of(end.stream);
    b.end(end.stream, end.last_epoch, context.now(), output_);
    pass_on(b, context);
    context.emit(end);
  }
  void on_wake(stage_context& context) override {
    wish_ = never;
    for (auto& b : bundlers_) {
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
    for (auto& b : bundlers_)
      b.give_up(what, why, into);
  }
  std::uint64_t held_frames() const noexcept override {
    std::uint64_t n = 0;
    for (const auto& b : bundlers_)
      n += b.held_frames();
    return n;
  }

private:
  void add_lane(const stage_plan& plan, std::uint32_t group, std::vector<stream_index> members) {
    bundle_lane lane;
    lane.group = group;
    lane.members = std::move(members);
    lane.live = false;
    lane.fps = 0;
    lane.priority = plan.graph->streams[lane.members.front()].priority;
    for (auto s : lane.members) {
      const auto& facts = plan.graph->streams[s];
      const auto fps = facts.fps > 0 ? facts.fps : defaults::assumed_fps;
      lane.fps = lane.fps > 0 ? std::min(lane.fps, fps) : fps;
      lane.live = lane.live || facts.live;
      lane.priority = std::max(lane.priority, facts.priority);
      lane_of_[s] = static_cast<std::uint32_t>(bundlers_.size()) + 1;
    }
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
    b.add(moment_, set.arrived, context.now(), output_);
    pass_on(b, context);
  }

  void pass_on(const bundler& from, stage_context& context) {
    for (auto& h : output_.released) {
      context.emit(h);
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
  std::vector<std::uint32_t> lane_of_; ///< by stream; 0: none, otherwise one above its index
  std::vector<bundler::entry> moment_;
  bundler::output output_;
  graph_time wish_ = never; ///< the earliest wake-up asked for
};

parameter release_parameter() {
  return {
    .name = "release",
    .type = parameter_type::object,
    .help =
      "When a hyperframe is closed, whichever comes first. Its tail is padded and masked. Times "
      "hold for live streams: files that are not read in real time are waited for.",
    .fields = {
      {.name = "count",
       .type = parameter_type::integer,
       .help = "When it has so many moments, by default `size`.",
       .least = 1.0,
       .most = 1024.0,
       .unit = "frames"},
      {.name = "timeout",
       .type = parameter_type::duration,
       .help = "So long after its oldest own frame arrived.",
       .least = 0.001,
       .most = 3600.0,
       .causes_wait = true},
      {.name = "window",
       .type = parameter_type::duration,
       .help = "At every multiple of this on the graph's clock; for files, of their frames' times.",
       .least = 0.001,
       .most = 3600.0,
       .causes_wait = true},
      {.name = "late",
       .type = parameter_type::boolean,
       .help = "1.5 size / fps after its oldest own frame arrived; on where neither `timeout` nor "
               "`window` is given."}}};
}

std::vector<parameter> parameters() {
  return {
    {.name = "over",
     .type = parameter_type::choice,
     .help =
       "What fills the slots: `time` takes `size` frames of one stream, `cameras` one aligned "
       "set, `both` `size` aligned sets.",
     .initial = initial_value(std::string{"time"}),
     .choices = {"time", "cameras", "both"}},
    {.name = "size",
     .type = parameter_type::integer,
     .help = "Frames or sets in a hyperframe, by default 8; always 1 set with `over: cameras`.",
     .least = 1.0,
     .most = 1024.0,
     .unit = "frames"},
    {.name = "stride",
     .type = parameter_type::integer,
     .help =
       "New frames or sets from one hyperframe to the next, by default `size`. Below it, frames "
       "are repeated as context; above it, the frames between are skipped.",
     .least = 1.0,
     .most = 65536.0,
     .unit = "frames"},
    {.name = "every",
     .type = parameter_type::integer,
     .help = "Takes each n-th frame or set; the others are skipped.",
     .initial = initial_value(std::int64_t{1}),
     .least = 1.0,
     .most = 65536.0,
     .unit = "frames"},
    release_parameter(),
    {.name = "keep_frames",
     .type = parameter_type::boolean,
     .help = "Hyperframes and results hold their frames' pixels, for sinks that draw on them.",
     .initial = initial_value(false)},
    {.name = "priority",
     .type = parameter_type::integer,
     .help = "For `schedule` with `order: priority`, higher first; by default the streams' own.",
     .least = -1000.0,
     .most = 1000.0},
  };
}

source_mark mark_of(const settings& s, std::string_view name, const source_mark& otherwise) {
  return s.has(name) && s.at(name).mark.line > 0 ? s.at(name).mark : otherwise;
}

void check(const settings& s, const source_mark& mark, std::vector<fault>& faults) {
  if (over(s) == bundle_over::cameras && s.has("size") && s.integer("size") != 1)
    faults.push_back(
      {mark_of(s, "size", mark), "`over: cameras` makes a hyperframe of one set, and `size` is "
                                   + std::to_string(s.integer("size"))
                                   + "; leave `size` out, or use `over: both` for several sets"});
  if (!s.has("release") || !s.group("release").has("count"))
    return;
  const auto size = size_of(s);
  const auto& release = s.group("release");
  const auto count = release.integer("count");
  if (count > size)
    faults.push_back(
      {mark_of(release, "count", mark),
       "`count: " + std::to_string(count) + "` is more than a hyperframe of " + std::to_string(size)
         + " can hold; use at most " + std::to_string(size) + " or a larger `size`"});
  else if (count < size && s.has("stride") && s.integer("stride") < size)
    faults.push_back(
      {mark_of(release, "count", mark),
       "`count: " + std::to_string(count) + "` with `stride: " + std::to_string(s.integer("stride"))
         + "`: hyperframes that overlap are released when they are full; leave "
           "`count` out or make it "
         + std::to_string(size)});
}

} // namespace

stage_description describe_bundle() {
  stage_description d;
  d.name = "bundle";
  d.summary = "Fills hyperframes with frames and packs each one as it comes.";
  d.inputs = {
    {"in",
     {port_type::frame, port_type::aligned_set},
     "Frames, or sets where several cameras share a hyperframe."}};
  d.outputs = {{"out", {port_type::hyperframe}, "Hyperframes, per stream or group in order."}};
  d.many_inputs = true;
  d.parameters = parameters();
  d.check = check;
  d.holds = [](const settings& s) {
    const std::uint64_t frames = size_of(s);
    // The frame in hand; where frames are kept, those of the open hyperframe too.
    return stage_holds{frames, 1 + (s.flag("keep_frames") ? frames : 0), 1};
  };
  d.bundle_size = [](const settings& s, std::uint32_t members) {
    return over(s) == bundle_over::time ? size_of(s) : size_of(s) * members;
  };
  d.make = [](const stage_plan& plan) { return std::make_unique<bundle_stage>(plan); };
  return d;
}

} // namespace hyperframes
