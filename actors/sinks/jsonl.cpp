#include "actors/sinks/announced.hpp"
#include "actors/sinks/any_item.hpp"
#include "actors/sinks/item_json.hpp"
#include "actors/sinks/line_file.hpp"
#include "actors/sinks/sink_path.hpp"
#include "actors/sinks/sinks.hpp"
#include "actors/sinks/stream_ends.hpp"

namespace hyperframes {

namespace {

class jsonl_stage final : public stage {
public:
  explicit jsonl_stage(const stage_plan& plan)
    : json_(plan.graph, {plan.config->flag("raw"),
                         static_cast<std::uint64_t>(plan.config->integer("raw_limit"))}),
      file_(sink_path(plan)), ends_(plan.streams, plan.settles), flush_(plan.config->time("flush")),
      outcomes_(plan.config->flag("outcomes")),
      kept_(std::dynamic_pointer_cast<const announced_resource>(plan.resource)) {}

  bool start(stage_context&) override {
    file_.open_at_end();
    // In this order: at no moment does what an earlier run kept stand beside another one's lines.
    if (!kept_ || !kept_->goes_on) {
      if (file_.is_regular())
        forget_announced(file_.path());
      file_.truncate();
    }
    if (kept_)
      kept_->file->begin();
    return true;
  }

  void on_item(item i, stage_context& context) override {
    const bool first = file_.empty();
    json_.append(i, file_.line());
    file_.end_line();
    ends_.add(i);
    settle_down(first, context);
  }

  void on_outcomes(std::span<const outcome_range> ranges, stage_context& context) override {
    const bool first = file_.empty();
    if (outcomes_)
      for (const auto& range : ranges)
        for (std::uint64_t i = 0; i < range.count; ++i) {
          json_.append_gap(range, range.first + i, file_.line());
          file_.end_line();
        }
    ends_.add(ranges);
    settle_down(first, context);
  }

  void on_end(const stream_end& end, stage_context& context) override {
    ends_.add(end);
    settle_down(false, context);
  }

  void on_wake(stage_context&) override { file_.flush(); }
  void give_up(outcome, reason, outcome_batch&) noexcept override {}
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  /// Closes the file behind the last line; before that, sees to it that a line waits in memory for
  /// `flush` at most. What comes after the end is written at once.
  void settle_down(bool was_empty, stage_context& context) {
    if (kept_)
      kept_->file->check();
    if (ends_.all_over()) {
      file_.close();
      context.done();
    } else if (flush_ == duration::zero()) {
      file_.flush();
    } else if (was_empty && !file_.empty()) {
      context.wake_at(later_by(context.now(), flush_));
    }
  }

  item_json json_;
  line_file file_;
  stream_ends ends_;
  duration flush_;
  bool outcomes_;
  std::shared_ptr<const announced_resource> kept_; ///< null: no later run can go on from this one
};

} // namespace

stage_description describe_jsonl() {
  stage_description d;
  d.name = "jsonl";
  d.summary = "Writes a line of JSON for each item (docs/results.md).";
  d.inputs = {any_item("what is written")};
  d.parameters = {
    {.name = "path",
     .type = parameter_type::text,
     .help = "The file, replaced where it exists, but for a run that goes on (`run --continue`); `-` is the "
             "standard output.",
     .required = true},
    {.name = "flush",
     .type = parameter_type::duration,
     .help = "The longest that a line waits in memory before it is written; 0: each line at once.",
     .initial = initial_value(duration{std::chrono::milliseconds{200}}),
     .least = 0,
     .most = 3600},
    {.name = "outcomes",
     .type = parameter_type::boolean,
     .help = "Also writes a line for each frame that ended on its way here. Takes effect where no "
             "unbundle stands above: below one, every frame has its line.",
     .initial = initial_value(true)},
    {.name = "raw",
     .type = parameter_type::boolean,
     .help = "Writes the values of raw tensors, not only their names and shapes.",
     .initial = initial_value(false)},
    {.name = "raw_limit",
     .type = parameter_type::integer,
     .help = "Values of one raw tensor that a line holds; how many were left out is written.",
     .initial = initial_value(std::int64_t{1024}),
     .least = 1,
     .most = 1e7,
     .unit = "values"},
  };
  d.writes = [](const settings& config, std::span<const std::string>) {
    return std::vector{config.text("path")};
  };
  d.make = [](const stage_plan& plan) { return std::make_unique<jsonl_stage>(plan); };
  return d;
}

} // namespace hyperframes
