#include "actors/infer.hpp"

#include "actors/infer/batch_runner.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <deque>

namespace hyperframes {

namespace {

constexpr std::uint32_t batches_per_worker = 2; ///< one that runs, one that is ready behind it

struct warmed {
  std::shared_ptr<batch_runner> runner;
  std::optional<error> failed;
};

/// Hands batches to workers, each a thread with a session of its own, and sends their results on.
class infer_stage final : public stage {
public:
  explicit infer_stage(const stage_plan& plan)
    : resource_(std::dynamic_pointer_cast<const model_resource>(plan.resource)),
      facts_(plan.graph), streams_(plan.streams), name_(plan.name),
      workers_(static_cast<std::size_t>(plan.config->integer("workers"))) {
    if (!resource_)
      throw failure(make_error(errc::stage_failed, plan.name, "got no model"));
  }

  bool start(stage_context& context) override {
    std::uint32_t width = 640, height = 480;
    for (auto s : streams_)
      if (const auto& media = facts_->streams[s].media; media && media->video.width > 0) {
        width = media->video.width;
        height = media->video.height;
      }
    const auto slots = std::max(1U, resource_->batch_slots);
    for (std::uint32_t lane = 0; lane < workers_.size(); ++lane)
      context.submit({lane, [model = resource_->loaded, slots, width, height] {
                        return std::static_pointer_cast<void>(
                          warm_up(model, slots, width, height));
                      }});
    return false;
  }

  void on_item(item i, stage_context& context) override {
    auto work = std::get<batch_ptr>(std::move(i));
    held_ += own_frames(work);
    queue_.push_back(std::move(work));
    feed(context);
  }

  void on_done(std::uint32_t lane, std::shared_ptr<void> value, stage_context& context) override {
    auto& worker = workers_[lane];
    if (!worker.runner) {
      adopt(worker, *std::static_pointer_cast<warmed>(value), context);
      feed(context);
      return;
    }
    const auto work = std::move(worker.under_way.front());
    worker.under_way.pop_front();
    const auto outcome = std::static_pointer_cast<batch_outcome>(value);
    for (const auto& sentence : outcome->errors)
      context.alarm("frames failed: " + sentence);
    if (outcome->bytes_copied > 0)
      context.copied(outcome->bytes_copied);
    held_ -= own_frames(work);
    for (auto& r : outcome->results) {
      r->inferred = context.now();
      r->worker = lane;
      context.emit(result_ptr{std::move(r)});
    }
    ++finished_;
    feed(context);
  }

  void on_credit(stage_context& context) override { feed(context); }

  std::optional<item> evict(overflow_policy) override {
    if (queue_.empty())
      return std::nullopt; // all that it holds is in work, or waits for credit below
    auto oldest = std::move(queue_.front());
    queue_.pop_front();
    held_ -= own_frames(oldest);
    return oldest;
  }

  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    for (const auto& work : queue_)
      add_outcomes(work, what, why, into);
    queue_.clear();
    for (auto& worker : workers_) {
      for (const auto& work : worker.under_way)
        add_outcomes(work, what, why, into);
      worker.under_way.clear();
    }
    held_ = 0;
  }

  std::uint64_t held_frames() const noexcept override { return held_; }

private:
  struct worker {
    std::shared_ptr<batch_runner> runner; ///< none until it is warm
    std::deque<batch_ptr> under_way;
  };

  static std::shared_ptr<warmed> warm_up(const model_ptr& model, std::uint32_t slots,
                                         std::uint32_t width, std::uint32_t height) {
    auto result = std::make_shared<warmed>();
    auto session = model->make_session();
    if (!session) {
      result->failed = session.error();
      return result;
    }
    result->runner = std::make_shared<batch_runner>(model, std::move(*session));
    if (const auto ran = result->runner->warm_up(slots, width, height); !ran)
      result->failed = ran.error();
    return result;
  }

  void adopt(worker& w, warmed& value, stage_context& context) {
    if (value.failed)
      throw failure(*value.failed);
    w.runner = std::move(value.runner);
    if (std::ranges::all_of(workers_, [](const worker& each) { return each.runner != nullptr; }))
      context.ready();
  }

  /// Starts what can start, and lets the stage above send more. Neither while results wait for
  /// credit: they would pile up here.
  void feed(stage_context& context) {
    if (context.credit(0) == 0)
      return;
    if (finished_ > 0)
      context.release(std::exchange(finished_, 0));
    while (!queue_.empty()) {
      const auto next = std::ranges::min_element(workers_, {}, [](const worker& w) {
        return w.runner ? w.under_way.size() : batches_per_worker;
      });
      if (!next->runner || next->under_way.size() >= batches_per_worker)
        return;
      auto work = std::move(queue_.front());
      queue_.pop_front();
      next->under_way.push_back(work);
      context.submit({static_cast<std::uint32_t>(next - workers_.begin()),
                      [runner = next->runner, work] {
                        return std::static_pointer_cast<void>(
                          std::make_shared<batch_outcome>(runner->run(*work)));
                      }});
    }
  }

  std::shared_ptr<const model_resource> resource_;
  std::shared_ptr<const graph_facts> facts_;
  std::vector<stream_index> streams_;
  std::string name_;
  std::vector<worker> workers_;
  std::deque<batch_ptr> queue_;
  std::uint64_t held_ = 0;
  std::uint32_t finished_ = 0; ///< batches whose place in the queue was not given back yet
};

std::vector<parameter> parameters() {
  std::vector<parameter> result = model_parameters();
  result.push_back({.name = "workers",
                    .type = parameter_type::integer,
                    .help = "Threads that infer, each with a session of its own.",
                    .initial = initial_value(std::int64_t{1}),
                    .least = 1,
                    .most = 256});
  result.push_back({.name = "batch",
                    .type = parameter_type::object,
                    .help = "How many frames the model gets at once; independent of the hyperframe's size.",
                    .fields = {{.name = "max",
                                .type = parameter_type::integer,
                                .help = "The most slots in a batch.",
                                .initial = initial_value(std::int64_t{defaults::batch_slots}),
                                .least = 1,
                                .most = 4096,
                                .unit = "slots"}}});
  return result;
}

expected<stage_resource_ptr> load(const settings& config, const std::string& folder) {
  auto loaded = load_model(config, folder);
  if (!loaded)
    return loaded.error();
  auto resource = std::make_shared<model_resource>();
  const auto& m = **loaded;
  resource->summary = m.summary();
  resource->tensor = m.input();
  resource->fixed_batch = m.fixed_batch();
  resource->time_axis = m.time_axis();
  resource->result_per_slot = m.result_per_slot();
  resource->simulated = m.simulated();
  resource->batch_slots = config.has("batch")
                            ? static_cast<std::uint32_t>(config.group("batch").integer("max"))
                            : defaults::batch_slots;
  resource->loaded = std::move(*loaded);
  return stage_resource_ptr{std::move(resource)};
}

} // namespace

stage_description describe_infer() {
  stage_description d;
  d.name = "infer";
  d.summary = "Runs batches through a model, a thread and a session per worker.";
  d.inputs = {{"in", {port_type::batch}, "batches from `schedule`"}};
  d.outputs = {{"out", {port_type::result}, "a result per hyperframe, or part of one"}};
  d.parameters = parameters();
  d.load = load;
  d.own_queue = true;
  d.make = [](const stage_plan& plan) { return std::make_unique<infer_stage>(plan); };
  return d;
}

} // namespace hyperframes
