#include "actors/align.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

namespace {

using namespace std::chrono_literals;

/// Cameras up to this rate fit the derived depth, in frames per second.
constexpr double fastest_camera = 60;

std::uint32_t depth_of(const settings& s) {
  if (s.has("depth"))
    return static_cast<std::uint32_t>(s.integer("depth"));
  const auto frames = fastest_camera * in_seconds(s.time("wait") + s.time("tolerance"));
  return std::max(8U, 2 + static_cast<std::uint32_t>(std::ceil(frames)));
}

align_options read(const settings& s) {
  align_options o;
  o.match = s.text("match") == "frame_id" ? match_rule::frame_id : match_rule::nearest;
  o.tolerance = s.time("tolerance");
  o.wait = s.time("wait");
  const auto& missing = s.text("missing");
  o.missing = missing == "strict"      ? missing_rule::strict
              : missing == "at_least"  ? missing_rule::at_least
              : missing == "hold_last" ? missing_rule::hold_last
                                       : missing_rule::partial;
  o.least = s.has("least") ? static_cast<std::uint32_t>(s.integer("least")) : 1;
  o.depth = depth_of(s);
  return o;
}

class align_stage final : public stage {
public:
  explicit align_stage(const stage_plan& plan) : places_(plan.graph->streams.size()) {
    auto options = read(*plan.config);
    const auto& graph = *plan.graph;
    for (std::uint32_t g = 0; g < graph.groups.size(); ++g) {
      std::vector<stream_index> members;
      for (auto s : graph.groups[g].streams)
        if (std::ranges::find(plan.streams, s) != plan.streams.end()) {
          places_[s] = {
            static_cast<std::uint32_t>(groups_.size()), static_cast<std::uint32_t>(members.size()),
            true};
          members.push_back(s);
        }
      if (members.empty())
        continue;
      options.live = std::ranges::any_of(members, [&](auto s) { return graph.streams[s].live; });
      groups_.emplace_back(options, g, members);
    }
  }

  void on_item(item i, stage_context& context) override {
    auto f = std::get<frame>(std::move(i));
    const auto at = place(f.meta.stream);
    groups_[at.group].add(at.member, std::move(f), context.now(), output_);
    pass_on(groups_[at.group], context);
  }
  void on_end(const stream_end& end, stage_context& context) override {
    const auto at = place(end.stream);
    groups_[at.group].end(at.member, end, context.now(), output_);
    pass_on(groups_[at.group], context);
  }
  void on_wake(stage_context& context) override {
    wish_ = never;
    for (auto& g : groups_) {
      g.wake(context.now(), output_);
      pass_on(g, context);
    }
  }
  /// Holds the file back that is ahead of its group.
  bool takes(stream_index s) const override {
    const auto at = place(s);
    return groups_[at.group].takes(at.member);
  }
  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    for (auto& g : groups_)
      g.give_up(what, why, into);
  }
  std::uint64_t held_frames() const noexcept override {
    std::uint64_t n = 0;
    for (const auto& g : groups_)
      n += g.held_frames();
    return n;
  }

private:
  struct place_in_groups {
    std::uint32_t group = 0, member = 0;
    bool known = false;
  };
  place_in_groups place(stream_index s) const {
    if (s >= places_.size() || !places_[s].known)
      throw std::logic_error("align got a stream that is not planned to pass there");
    return places_[s];
  }
  void pass_on(const aligner& from, stage_context& context) {
    for (auto& sent : output_.sent) {
      if (auto* set = std::get_if<aligned_set_ptr>(&sent))
        context.emit(std::move(*set));
      else
        context.emit(std::get<stream_end>(sent));
    }
    output_.sent.clear();
    for (const auto& range : output_.outcomes)
      context.settle(range);
    output_.outcomes.clear();
    if (from.due() < wish_) {
      wish_ = from.due();
      context.wake_at(wish_);
    }
  }

  std::vector<aligner> groups_;
  std::vector<place_in_groups> places_; ///< by stream
  aligner::output output_;
  graph_time wish_ = never; ///< the earliest wake-up asked for
};

std::vector<parameter> parameters() {
  return {
    {.name = "per",
     .type = parameter_type::choice,
     .help = "What is matched: the streams that share a `group`.",
     .initial = initial_value(std::string{"group"}),
     .choices = {"group"}},
    {.name = "match",
     .type = parameter_type::choice,
     .help =
       "`nearest` matches by capture time on the graph's time line, `frame_id` by the device's "
       "own frame counter, which must be equal.",
     .initial = initial_value(std::string{"nearest"}),
     .choices = {"nearest", "frame_id"}},
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

stage_description describe_align() {
  stage_description d;
  d.name = "align";
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
    const std::uint64_t depth = depth_of(s);
    const std::uint64_t last = s.text("missing") == "hold_last" ? 1 : 0;
    return stage_holds{depth + 1, depth + 1 + last, 0};
  };
  d.make = [](const stage_plan& plan) { return std::make_unique<align_stage>(plan); };
  return d;
}

} // namespace hyperframes
