#include "actors/expire.hpp"

#include <map>

namespace hyperframes {

namespace {

class expire_stage final : public stage {
public:
  explicit expire_stage(const stage_plan& plan)
    : interval_(plan.config->time("interval")), facts_(plan.graph), streams_(plan.streams.size()) {}

  void on_item(item i, stage_context& context) override {
    const auto range = std::get<outcome_range>(i);
    auto& sum = expired_[range.stream];
    sum.frames += range.count;
    sum.last = range;
    if (context.now() >= quiet_until_)
      raise(context);
    else
      context.wake_at(quiet_until_);
    context.emit(std::move(i));
  }

  void on_wake(stage_context& context) override { raise(context); }

  void on_end(const stream_end& end, stage_context& context) override {
    context.emit(end);
    if (end.last_epoch && --streams_ == 0) {
      raise(context);
      context.done();
    }
  }

  /// The outcomes that pass here are final already.
  void give_up(outcome, reason, outcome_batch&) noexcept override {}
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  struct sum {
    std::uint64_t frames = 0;
    outcome_range last;
  };

  void raise(stage_context& context) {
    for (const auto& [stream, s] : expired_)
      context.alarm("stream " + facts_->streams[stream].id + ": " + std::to_string(s.frames)
                    + " frames expired (" + to_string(s.last.why) + "), the last one " + std::to_string(s.last.epoch)
                    + ':' + std::to_string(s.last.first + s.last.count - 1)
                    + "; add a worker, lower the size of hyperframes, or revise budget or ttl");
    if (!expired_.empty())
      quiet_until_ = later_by(context.now(), interval_);
    expired_.clear();
  }

  duration interval_;
  std::shared_ptr<const graph_facts> facts_;
  std::size_t streams_; ///< that have not ended
  std::map<stream_index, sum> expired_;
  graph_time quiet_until_{};
};

} // namespace

stage_description describe_expire() {
  stage_description d;
  d.name = "expire";
  d.on_nodes = node_use::whole;
  d.summary = "Raises alarms for expired frames; expiry itself is built into `schedule`.";
  d.inputs = {{"in", {port_type::outcome}, "outcomes from `schedule`'s port `expired`"}};
  d.outputs = {port{.name = "out", .types = {port_type::outcome}, .help = "the same outcomes", .optional = true}};
  d.parameters = {{.name = "interval",
                   .type = parameter_type::duration,
                   .help = "The shortest time between two alarms.",
                   .initial = initial_value(duration{std::chrono::seconds{1}}),
                   .least = 0,
                   .most = 3600}};
  d.make = [](const stage_plan& plan) { return std::make_unique<expire_stage>(plan); };
  return d;
}

} // namespace hyperframes
