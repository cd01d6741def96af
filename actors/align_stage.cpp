#include "actors/align.hpp"
#include "actors/align_parameters.hpp"
#include "runtime/held_sum.hpp"

#include <algorithm>
#include <cstdio>

namespace hyperframes {

namespace {

align_options read(const settings& s) {
  align_options o;
  const auto& match = s.text("match");
  o.match = match == "frame_id"    ? match_rule::frame_id
            : match == "linear"    ? match_rule::linear
            : match == "hold_last" ? match_rule::hold_last
                                   : match_rule::nearest;
  o.tolerance = s.time("tolerance");
  o.wait = s.time("wait");
  const auto& missing = s.text("missing");
  o.missing = missing == "strict"      ? missing_rule::strict
              : missing == "at_least"  ? missing_rule::at_least
              : missing == "hold_last" ? missing_rule::hold_last
                                       : missing_rule::partial;
  o.least = s.has("least") ? static_cast<std::uint32_t>(s.integer("least")) : 1;
  o.max_age = s.time("max_age");
  o.silent_after = s.time("silent_after");
  o.depth = align_depth(s);
  return o;
}

class align_stage final : public stage {
public:
  explicit align_stage(const stage_plan& plan)
    : name_(plan.name), facts_(plan.graph), places_(plan.graph->streams.size()) {
    auto options = read(*plan.config);
    const auto& graph = *plan.graph;
    for (std::uint32_t g = 0; g < graph.groups.size(); ++g) {
      std::vector<align_member> members;
      for (auto s : graph.groups[g].streams)
        if (std::ranges::find(plan.streams, s) != plan.streams.end()) {
          places_[s] = {
            static_cast<std::uint32_t>(groups_.size()), static_cast<std::uint32_t>(members.size()),
            true};
          const auto& facts = graph.streams[s];
          members.push_back({s, facts.fps, can_interpolate(facts.media.get()), facts.attached});
        }
      if (members.empty())
        continue;
      options.live =
        std::ranges::any_of(members, [&](const auto& m) { return graph.streams[m.stream].live; });
      groups_.emplace_back(options, g, members);
    }
  }

  void on_item(item i, stage_context& context) override {
    auto f = std::get<frame>(std::move(i));
    const auto at = place(f.meta.stream);
    const held_sum::change counts{held_, groups_[at.group]};
    groups_[at.group].add(at.member, std::move(f), context.now(), output_);
    pass_on(groups_[at.group], context);
  }
  void on_end(const stream_end& end, stage_context& context) override {
    const auto at = place(end.stream);
    const held_sum::change counts{held_, groups_[at.group]};
    groups_[at.group].end(at.member, end, context.now(), output_);
    pass_on(groups_[at.group], context);
  }
  void on_wake(stage_context& context) override {
    wish_ = never;
    for (auto& g : groups_) {
      const held_sum::change counts{held_, g};
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
    for (auto& g : groups_) {
      const held_sum::change counts{held_, g};
      g.give_up(what, why, into);
    }
  }
  std::uint64_t held_frames() const noexcept override { return held_.frames(); }

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
    for (const auto& change : output_.silences)
      tell(from.stream_of(change.member), change, context);
    output_.silences.clear();
    if (from.due() < wish_) {
      wish_ = from.due();
      context.wake_at(wish_);
    }
  }

  /// Of streams whose silence `capture` cannot see; it tells of all others, and of what follows here.
  void tell(stream_index s, const silence_watch::change& change, stage_context& context) const {
    const auto& facts = facts_->streams[s];
    if (facts.live && facts.fps > 0)
      return;
    const auto stream = "stream " + facts.id;
    const auto time = [](duration d) {
      char text[32];
      std::snprintf(text, sizeof text, "%.3f s", in_seconds(d));
      return std::string{text};
    };
    if (!change.silent)
      context.alarm(
        stream + " is back"
        + (change.since ? " after " + time(context.now() - *change.since) : std::string{}));
    else
      context.alarm(
        stream
        + (change.since ? " is silent since " + time(change.since->time_since_epoch()) : std::string{" has given no frame yet"})
        + "; " + when_silent(name_));
  }

  std::string name_;
  std::shared_ptr<const graph_facts> facts_;
  std::vector<aligner> groups_;
  held_sum held_; ///< of `groups_`
  std::vector<place_in_groups> places_; ///< by stream
  aligner::output output_;
  graph_time wish_ = never; ///< the earliest wake-up asked for
};

} // namespace

std::unique_ptr<stage> make_align(const stage_plan& plan) {
  return std::make_unique<align_stage>(plan);
}

} // namespace hyperframes
