#include "actors/sinks/sinks.hpp"
#include "actors/sinks/stream_ends.hpp"

namespace hyperframes {

namespace {

/// The host counts what comes in (`stage_stats::items_in`).
class null_stage final : public stage {
public:
  explicit null_stage(const stage_plan& plan) : ends_(plan.streams, plan.settles) {}

  void on_item(item i, stage_context& context) override {
    ends_.add(i);
    finish(context);
  }
  void on_outcomes(std::span<const outcome_range> ranges, stage_context& context) override {
    ends_.add(ranges);
    finish(context);
  }
  void on_end(const stream_end& end, stage_context& context) override {
    ends_.add(end);
    finish(context);
  }
  void give_up(outcome, reason, outcome_batch&) noexcept override {}
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  void finish(stage_context& context) {
    if (ends_.all_over())
      context.done();
  }

  stream_ends ends_;
};

} // namespace

stage_description describe_null() {
  stage_description d;
  d.name = "null";
  d.summary = "Takes items and forgets them; its edge counts them.";
  d.inputs = {{.name = "in",
               .types = {port_type::frame_result, port_type::frame, port_type::aligned_set,
                         port_type::hyperframe, port_type::batch, port_type::result,
                         port_type::outcome, port_type::trigger},
               .help = "what is forgotten"}};
  d.make = [](const stage_plan& plan) { return std::make_unique<null_stage>(plan); };
  return d;
}

} // namespace hyperframes
