#include "actors/bundle_parameters.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

using namespace std::chrono_literals;

std::uint32_t whole(const settings& s, std::string_view name, std::uint32_t otherwise) {
  return s.has(name) ? static_cast<std::uint32_t>(s.integer(name)) : otherwise;
}

bool is_on(const settings& s, std::string_view name) {
  return s.has(name) && s.flag(name);
}

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
      {.name = "trigger",
       .type = parameter_type::boolean,
       .help = "When a trigger comes, from a stage of type `trigger` in `from`."},
      {.name = "pre",
       .type = parameter_type::integer,
       .help =
         "With `trigger`: hyperframes hold the frames around a trigger only, so many from before its "
         "moment and `size - pre` from it on; all other frames are skipped. Frames wait in a ring of "
         "`size`.",
       .least = 0.0,
       .most = 1024.0,
       .unit = "frames"},
      {.name = "late",
       .type = parameter_type::boolean,
       .help = "1.5 size * every / fps after its oldest own frame arrived; on where neither `timeout` nor "
               "`window` nor `trigger` without `pre` is given."}}};
}

bundle_lane lane_of(const graph_facts& graph, std::uint32_t group, std::vector<stream_index> members) {
  bundle_lane lane;
  lane.group = group;
  lane.members = std::move(members);
  lane.live = false;
  lane.fps = 0;
  lane.priority = graph.streams[lane.members.front()].priority;
  for (auto s : lane.members) {
    const auto& facts = graph.streams[s];
    const auto fps = facts.fps > 0 ? facts.fps : defaults::assumed_fps;
    lane.fps = lane.fps > 0 ? std::min(lane.fps, fps) : fps;
    lane.paced = lane.paced && facts.fps > 0;
    lane.live = lane.live || facts.live;
    lane.priority = std::max(lane.priority, facts.priority);
  }
  return lane;
}

} // namespace

std::vector<parameter> bundle_parameters() {
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
    {.name = "stream_first",
     .type = parameter_type::boolean,
     .help = "The first frame of a hyperframe, with `over: both` its first set, goes ahead by "
             "itself as soon "
             "as it has come; the others follow when the hyperframe is closed. For models that "
             "take frames "
             "one by one.",
     .initial = initial_value(false)},
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

bundle_over bundle_over_of(const settings& s) {
  const auto& text = s.text("over");
  return text == "cameras" ? bundle_over::cameras
         : text == "both"  ? bundle_over::both
                           : bundle_over::time;
}

std::vector<bundle_lane> bundle_lanes(
  bundle_over over, const graph_facts& graph, std::span<const stream_index> streams) {
  std::vector<bundle_lane> lanes;
  for (std::uint32_t g = 0; g < graph.groups.size(); ++g) {
    std::vector<stream_index> members;
    for (auto s : graph.groups[g].streams)
      if (std::ranges::find(streams, s) != streams.end())
        members.push_back(s);
    if (over == bundle_over::time)
      for (auto s : members)
        lanes.push_back(lane_of(graph, g, {s}));
    else if (!members.empty())
      lanes.push_back(lane_of(graph, g, std::move(members)));
  }
  return lanes;
}

bundle_options bundle_options_of(const settings& s) {
  bundle_options o;
  o.size = bundle_over_of(s) == bundle_over::cameras ? 1 : whole(s, "size", 8);
  o.stride = whole(s, "stride", o.size);
  o.every = whole(s, "every", 1);
  o.count = o.size;
  o.keep_frames = s.flag("keep_frames");
  o.stream_first = s.flag("stream_first");
  o.late = true;
  if (s.has("release")) {
    const auto& r = s.group("release");
    o.count = std::min(whole(r, "count", o.size), o.size);
    if (r.has("timeout"))
      o.timeout = r.time("timeout");
    if (r.has("window"))
      o.window = r.time("window");
    o.trigger = is_on(r, "trigger");
    if (r.has("pre"))
      o.pre = whole(r, "pre", 0);
    o.late = r.has("late") ? r.flag("late") : !o.timeout && !o.window && (!o.trigger || o.pre);
  }
  return o;
}

} // namespace hyperframes
