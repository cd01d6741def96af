#include "actors/batch_sizer.hpp"
#include "actors/schedule.hpp"
#include "actors/schedule_pace.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <limits>

namespace hyperframes {

namespace {

/// Slots that the stage below wants in a batch; whole runs where its model's batch is fixed.
std::uint32_t batch_slots(const stage_plan& plan) {
  const auto wanted =
    plan.below && plan.below->batch_slots > 0 ? plan.below->batch_slots : defaults::batch_slots;
  const auto run = plan.below ? plan.below->fixed_batch : 0;
  return run == 0 ? wanted : std::max(run, wanted / run * run);
}

schedule_options read(const stage_plan& plan) {
  const auto& s = *plan.config;
  schedule_options o;
  const auto& order = s.text("order");
  o.order = order == "deadline"   ? schedule_order::deadline
            : order == "priority" ? schedule_order::priority
            : order == "fair"     ? schedule_order::fair
                                  : schedule_order::fifo;
  if (s.has("ttl"))
    o.ttl = s.time("ttl");
  o.batch_slots = batch_slots(plan);
  return o;
}

/// None where every batch is filled up to the most slots.
std::optional<batch_sizer> sizer_of(const stage_plan& plan) {
  if (!plan.below || !plan.below->adaptive)
    return std::nullopt;
  return batch_sizer{{.most = batch_slots(plan), .target = plan.below->batch_target}};
}

constexpr std::size_t expired_port = 1;

class schedule_stage final : public stage {
public:
  explicit schedule_stage(const stage_plan& plan)
    : scheduler_(read(plan)),
      pace_(plan.below ? plan.below->workers : 1),
      sizer_(sizer_of(plan)),
      run_(plan.below ? plan.below->fixed_batch : 0) {}

  void on_item(item i, stage_context& context) override {
    auto h = std::get<hyperframe_ptr>(std::move(i));
    if (sizer_)
      sizer_->saw_hyperframe(
        std::max(run_, static_cast<std::uint32_t>(h->descriptor.slots.size())));
    scheduler_.add(std::move(h), context.now());
    work(context);
  }
  void on_credit(stream_index, stage_context& context) override { work(context); }
  void on_wake(stage_context& context) override {
    wish_ = never;
    work(context);
  }
  // An end may overtake what is queued: who settles waits for every frame before it.
  void on_end(const stream_end& end, stage_context& context) override { context.emit(end); }

  std::optional<item> evict(overflow_policy policy) override { return scheduler_.evict(policy); }
  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    scheduler_.give_up(what, why, into);
  }
  std::uint64_t held_frames() const noexcept override { return scheduler_.held_frames(); }

private:
  void work(stage_context& context) {
    scheduler_.expire(context.now(), expired_);
    for (const auto& range : expired_.outcomes) {
      context.settle(range);
      context.emit(range, expired_port);
    }
    expired_.outcomes.clear();
    auto left = std::exchange(expired_.hyperframes, 0);
    look_at_credit(context);
    while (may_send()) {
      if (sizer_)
        scheduler_.set_batch_slots(sizer_->slots());
      auto b = scheduler_.next(context.now(), pace_.needed());
      if (!b)
        break;
      left += static_cast<std::uint32_t>(b->parts.size());
      pace_.left({b->slots, scheduler_.size() > 0}, context.now());
      context.emit(std::move(b));
      credit_ = context.credit();
    }
    if (left > 0)
      context.release(left);
    if (scheduler_.due() < wish_) {
      wish_ = scheduler_.due();
      context.wake_at(wish_);
    }
  }

  static constexpr auto unbounded =
    std::numeric_limits<std::uint32_t>::max(); ///< all edges below drop

  void look_at_credit(stage_context& context) {
    const auto now = context.credit();
    for (auto more = credit_ && now != unbounded ? *credit_ : now; more < now; ++more)
      if (const auto done = pace_.back(context.now()); done && sizer_)
        sizer_->took(done->batch.slots, done->batch.full, done->service);
    credit_ = now;
  }

  /// Dispatch is final: what can expire waits here, where it ends at its time, and not behind the
  /// batch that a worker has in hand, but for quick ones.
  bool may_send() const {
    if (scheduler_.size() == 0 || *credit_ == 0)
      return false;
    return *credit_ == unbounded || scheduler_.due() == never || pace_.worker_free()
           || pace_.quick();
  }

  scheduler scheduler_;
  dispatch_pace pace_;
  std::optional<batch_sizer> sizer_;
  std::uint32_t run_;                   ///< slots of the model's batch; 0: any
  std::optional<std::uint32_t> credit_; ///< when it was looked at last
  scheduler::expired expired_;
  graph_time wish_ = never; ///< the earliest wake-up asked for
};

} // namespace

stage_description describe_schedule() {
  stage_description d;
  d.name = "schedule";
  d.on_nodes = node_use::whole;
  d.summary =
    "Queues hyperframes for the workers, forms batches, and ends what has waited too long.";
  d.inputs = {{"in", {port_type::hyperframe}, "Its edge's capacity and overflow are the queue's."}};
  d.outputs = {
    {"out", {port_type::batch}, "Batches, as the stage below gives credit."},
    {.name = "expired",
     .types = {port_type::outcome},
     .help = "What expired here, for an `expire` stage or a sink.",
     .optional = true}};
  d.parameters = {
    {.name = "order",
     .type = parameter_type::choice,
     .help =
       "What leaves first: `fifo`, `deadline` (the earliest), `priority` (the highest, then by "
       "deadline) or `fair` (groups take turns, by slots). Streams in step take turns in each of "
       "them, also "
       "where the queue is full. What cannot be in time leaves only where nothing else is queued "
       "that can.",
     .initial = initial_value(std::string{"fifo"}),
     .choices = {"fifo", "deadline", "priority", "fair"}},
    {.name = "ttl",
     .type = parameter_type::duration,
     .help =
       "The longest that a hyperframe may be queued before it expires; unset, only its deadline "
       "ends it.",
     .least = 0.001,
     .most = 3600.0,
     .causes_wait = true},
  };
  d.own_queue = true;
  d.make = [](const stage_plan& plan) { return std::make_unique<schedule_stage>(plan); };
  return d;
}

} // namespace hyperframes
