#include "actors/sinks/any_item.hpp"
#include "actors/sinks/sinks.hpp"
#include "actors/sinks/stream_ends.hpp"

namespace hyperframes {

namespace {

class callback_stage final : public stage {
public:
  callback_stage(const stage_plan& plan, std::shared_ptr<const callback_resource> program)
    : name_(plan.name), ends_(plan.streams, plan.settles), program_(std::move(program)) {}

  bool start(stage_context&) override {
    if (!program_ || !program_->call)
      throw failure(make_error(
        errc::graph_invalid, name_,
        "no function of the program is registered under this name; register one before the graph "
        "starts, or use a stage of type `jsonl` or `null`"));
    return true;
  }

  void on_item(item i, stage_context& context) override {
    program_->call(i);
    ends_.add(i);
    finish(context);
  }

  void on_outcomes(std::span<const outcome_range> ranges, stage_context& context) override {
    for (const auto& range : ranges)
      program_->call(item{range});
    ends_.add(ranges);
    finish(context);
  }

  void on_end(const stream_end& end, stage_context& context) override {
    if (program_->end)
      program_->end(end);
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

  std::string name_;
  stream_ends ends_;
  std::shared_ptr<const callback_resource> program_;
};

} // namespace

stage_description describe_callback() {
  stage_description d;
  d.name = "callback";
  d.summary = "Hands each item to the function that the program registered under the stage's name.";
  d.inputs = {any_item("what the function gets")};
  d.make = [](const stage_plan& plan) {
    return std::make_unique<callback_stage>(
      plan, std::dynamic_pointer_cast<const callback_resource>(plan.resource));
  };
  return d;
}

stage_description describe_null() {
  stage_description d;
  d.name = "null";
  d.summary = "Takes items and forgets them; its edge counts them.";
  d.inputs = {any_item("what is forgotten")};
  d.make = [](const stage_plan& plan) {
    auto nothing = std::make_shared<callback_resource>();
    nothing->call = [](const item&) {};
    return std::make_unique<callback_stage>(plan, std::move(nothing));
  };
  return d;
}

} // namespace hyperframes
