#include "actors/align_parameters.hpp"

#include "actors/align.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

namespace {

using namespace std::chrono_literals;

/// Cameras up to this rate fit the derived depth, in frames per second.
constexpr double fastest_camera = 60;

/// Are there streams that form no sets of their own?
bool rides(const settings& s) {
  return s.text("match") == "linear" || s.text("match") == "hold_last";
}

std::vector<parameter> parameters() {
  return {
    {.name = "per",
     .type = parameter_type::choice,
     .help = "What is matched: the streams that share a `group`.",
     .initial = initial_value(std::string{"group"}),
     .choices = {"group"}},
    {.name = "match",
     .type = parameter_type::choice,
     .help = "`nearest` matches by capture time on the graph's time line, so that the frames of a "
             "set lie "
             "as close together as they can; `linear` does so too and interpolates sensor vectors "
             "(tensors "
             "of float32) at the set's moment; `frame_id` matches by the device's own frame "
             "counter, which "
             "must be equal; `hold_last` makes a set of each frame of the fastest stream and the "
             "last frame "
             "of every other one, and waits for none.",
     .initial = initial_value(std::string{"nearest"}),
     .choices = {"nearest", "linear", "frame_id", "hold_last"}},
    {.name = "tolerance",
     .type = parameter_type::duration,
     .help = "How far frames of one set may lie behind its earliest one; not used by `frame_id`. "
             "Below half a frame period the match is unambiguous.",
     .initial = initial_value(duration{10ms}),
     .least = 0.0,
     .most = 60.0},
    {.name = "wait",
     .type = parameter_type::duration,
     .help =
       "The longest that a frame of a live group waits for its partners; files are waited for.",
     .initial = initial_value(duration{40ms}),
     .least = 0.0,
     .most = 60.0,
     .causes_wait = true},
    {.name = "missing",
     .type = parameter_type::choice,
     .help =
       "What becomes of a set that lacks members: `strict` and `at_least` drop it (the latter "
       "below `least` members), `hold_last` repeats the stream's last frame, `partial` sends "
       "it as it is.",
     .initial = initial_value(std::string{"partial"}),
     .choices = {"strict", "at_least", "hold_last", "partial"}},
    {.name = "least",
     .type = parameter_type::integer,
     .help = "Members that a set must have with `missing: at_least`.",
     .least = 1.0,
     .most = 4096.0,
     .unit = "frames"},
    {.name = "max_age",
     .type = parameter_type::duration,
     .help =
       "How old a frame may be that `hold_last` repeats, and how far from the set's moment the "
       "two may lie that `linear` interpolates between; beyond that the member is absent.",
     .initial = initial_value(duration{1s}),
     .least = 0.0,
     .most = 3600.0},
    {.name = "silent_after",
     .type = parameter_type::duration,
     .help =
       "A live stream that gives no frame for so long, and at least for three of its periods, "
       "while others of its group do, is silent: it is not waited for until it is back.",
     .initial = initial_value(duration{1s}),
     .least = 0.001,
     .most = 3600.0},
    {.name = "depth",
     .type = parameter_type::integer,
     .help =
       "Frames that one stream may have waiting; a file is held back there, a live stream's oldest "
       "set leaves as it is. "
       "By default max(8, 2 + 60 Hz * (wait + tolerance)).",
     .least = 1.0,
     .most = 65536.0,
     .unit = "frames"},
  };
}

} // namespace

std::uint32_t align_depth(const settings& s) {
  if (s.has("depth"))
    return static_cast<std::uint32_t>(s.integer("depth"));
  const auto frames = fastest_camera * in_seconds(s.time("wait") + s.time("tolerance"));
  return std::max(8U, 2 + static_cast<std::uint32_t>(std::ceil(frames)));
}

std::string when_silent(const std::string& name) {
  return "while others of its group go on, the sets of " + name + " leave without it";
}

stage_description describe_align() {
  stage_description d;
  d.name = "align";
  d.on_nodes = node_use::whole;
  d.summary = "Matches the frames of a group's streams that were taken at the same moment.";
  d.inputs = {{"in", {port_type::frame}, "Frames of all streams of the groups."}};
  d.outputs = {{"out", {port_type::aligned_set}, "One set per moment, in the order of time."}};
  d.many_inputs = true;
  d.parameters = parameters();
  d.check = [](const settings& s, const source_mark& mark, std::vector<fault>& faults) {
    const bool wanted = s.text("missing") == "at_least";
    if (wanted && !s.has("least"))
      faults.push_back(
        {s.at("missing").mark.line > 0 ? s.at("missing").mark : mark,
         "`missing: at_least` needs `least`, the number of members that a set must "
         "have; add for example `least: 2`"});
    if (!wanted && s.has("least"))
      faults.push_back(
        {s.at("least").mark, "`least` has no effect with `missing: " + s.text("missing")
                               + "`; use `missing: at_least` or leave it out"});
  };
  d.holds = [](const settings& s) {
    const std::uint64_t depth = align_depth(s) + (rides(s) ? 2 : 0);
    const std::uint64_t last =
      s.text("missing") == "hold_last" || s.text("match") == "hold_last" ? 1 : 0;
    return stage_holds{depth + 1, depth + 1 + last, 0};
  };
  d.make = make_align;
  return d;
}

} // namespace hyperframes
