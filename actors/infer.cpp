#include "actors/infer.hpp"

#include "actors/infer/worker_faults.hpp"
#include "actors/infer/worker_pool.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace hyperframes {

namespace {

constexpr std::uint32_t batches_per_worker = 2; ///< one that runs, one that is ready behind it

/// One worker cannot overtake itself.
std::uint64_t batches_ahead(const settings& config) {
  const auto workers = static_cast<std::uint64_t>(config.integer("workers"));
  return workers > 1 ? workers * defaults::batches_ahead : batches_per_worker;
}

/// What a worker's thread works with.
struct seat {
  explicit seat(std::unique_ptr<batch_worker> w) : worker(std::move(w)) {}
  std::unique_ptr<batch_worker> worker;
  std::atomic<bool> given_up{false}; ///< what is behind on its lane goes another way
};

struct warmed {
  std::shared_ptr<seat> seat_of;
  std::optional<error> failed;
};

/// Hands batches to workers, each a thread with a session of its own, and sends their results on.
class infer_stage final : public stage {
public:
  explicit infer_stage(const stage_plan& plan)
    : resource_(std::dynamic_pointer_cast<const model_resource>(plan.resource)),
      facts_(plan.graph), streams_(plan.streams), threads_(plan.threads),
      faults_(worker_faults_of(*plan.config, plan.graph->seed)),
      source_(source_of(resource_, plan.name, !faults_.empty())),
      pool_({.workers = static_cast<std::uint32_t>(plan.config->integer("workers")),
             .depth = batches_per_worker,
             .patience = plan.config->time("hang_after"),
             .replacements = source_->replacements(),
             .ahead = batches_ahead(*plan.config)}) {}

  bool start(stage_context& context) override {
    for (std::uint32_t lane = 0; lane < pool_.workers(); ++lane)
      warm_up(lane, context);
    return false;
  }

  void on_item(item i, stage_context& context) override {
    auto work = std::get<batch_ptr>(std::move(i));
    held_ += own_frames(work);
    pool_.add(std::move(work));
    feed(context);
  }

  void on_done(std::uint32_t lane, std::shared_ptr<void> value, stage_context& context) override {
    if (!pool_.knows(lane))
      return; // of a worker that was given up: its batch has gone another way
    if (!seats_[pool_.worker_on(lane)]) {
      adopt(lane, *std::static_pointer_cast<warmed>(value), context);
      feed(context);
      return;
    }
    const auto outcome = std::static_pointer_cast<batch_outcome>(value);
    if (!outcome->lost.empty()) {
      auto loss = pool_.lost(lane, context.now(), outcome->cause);
      replace(loss, "is lost: " + outcome->lost, context);
      feed(context);
      return;
    }
    const auto work = pool_.finished(lane, context.now());
    if (!outcome->errors.empty())
      context.alarm(failures_in(*outcome));
    if (outcome->bytes_copied > 0)
      context.copied(outcome->bytes_copied);
    held_ -= own_frames(work);
    for (auto& r : outcome->results) {
      r->inferred = context.now();
      r->worker = pool_.worker_on(lane);
      context.emit(result_ptr{std::move(r)});
    }
    ++finished_;
    feed(context);
  }

  void on_credit(stream_index, stage_context& context) override { feed(context); }

  /// "3 frames of a batch failed, the first is frame 1204 of 'cam1': ...".
  std::string failures_in(const batch_outcome& o) const {
    std::size_t failed = 0;
    const frame_meta* first = nullptr;
    for (const auto& r : o.results)
      for (std::size_t s = 0; s < r->slots.size(); ++s)
        if (r->slots[s].what == outcome::failed && r->descriptor.slots[s].own) {
          ++failed;
          first = first ? first : &r->descriptor.slots[s].meta;
        }
    auto text = first ? std::to_string(failed) + (failed == 1 ? " frame" : " frames") + " of a batch failed, the first is frame "
                          + std::to_string(first->frame_id) + " of '"
                          + facts_->streams[first->stream].id + "'"
                      : "a batch failed";
    for (std::size_t i = 0; i < o.errors.size(); ++i)
      text += (i == 0 ? ": " : "; ") + o.errors[i];
    return text;
  }

  /// A worker hangs: another one takes its place.
  void on_wake(stage_context& context) override {
    for (auto& loss : pool_.look(context.now()))
      replace(loss, "hangs: it has been at one batch for "
                      + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(loss.taken).count())
                      + " ms", context);
    feed(context);
  }

  std::optional<item> evict(overflow_policy) override {
    auto oldest = pool_.evict();
    if (!oldest)
      return std::nullopt; // all that it holds is in work, or waits for credit below
    held_ -= own_frames(oldest);
    return item{std::move(oldest)};
  }

  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    for (const auto& work : pool_.take_all())
      add_outcomes(work, what, why, into);
    held_ = 0;
  }

  std::uint64_t held_frames() const noexcept override { return held_; }

private:
  void warm_up(std::uint32_t lane, stage_context& context) {
    seats_.resize(pool_.workers());
    std::uint32_t width = 640, height = 480;
    for (auto s : streams_)
      if (const auto& media = facts_->streams[s].media; media && media->video.width > 0) {
        width = media->video.width;
        height = media->video.height;
      }
    const auto slots = std::max(1U, resource_->batch_slots);
    context.submit({lane, [source = source_, wish = worker_wish{slots, width, height}] {
                      auto result = std::make_shared<warmed>();
                      if (auto opened = source->open(wish); opened)
                        result->seat_of = std::make_shared<seat>(std::move(*opened));
                      else
                        result->failed = opened.error();
                      return std::static_pointer_cast<void>(std::move(result));
                    }});
  }

  static std::shared_ptr<worker_source> source_of(
    const std::shared_ptr<const model_resource>& resource, const std::string& stage, bool faults) {
    if (!resource)
      throw failure(make_error(errc::stage_failed, stage, "got no model"));
    return resource->elsewhere ? resource->elsewhere : local_workers(resource->loaded, faults);
  }

  void adopt(std::uint32_t lane, warmed& value, stage_context& context) {
    if (value.failed && value.failed->code == errc::stopped)
      return; // it looked for a place until the graph ended
    if (value.failed)
      throw failure(*value.failed);
    seats_[pool_.worker_on(lane)] = std::move(value.seat_of);
    if ((pool_.warmed(lane) || source_->may_come_later()) && !std::exchange(ready_, true))
      context.ready();
  }

  void replace(worker_pool::loss& loss, const std::string& why, stage_context& context) {
    if (auto& lost = seats_[loss.worker])
      lost->given_up = true;
    seats_[loss.worker] = nullptr;
    context.alarm("worker " + std::to_string(loss.worker) + ' ' + why + "; a new one takes its place"
                  + (loss.quarantined ? ", and the batch is not tried again" : ""));
    if (loss.quarantined) {
      outcome_batch ended;
      add_outcomes(loss.quarantined, outcome::failed, reason::quarantined, ended);
      for (const auto& range : ended.ranges())
        context.settle(range);
      held_ -= own_frames(loss.quarantined);
      ++finished_;
    }
    warm_up(loss.new_lane, context);
  }

  /// Starts what can start, and lets the stage above send more. Neither while results wait for
  /// credit: they would pile up here.
  void feed(stage_context& context) {
    if (context.credit(0) == 0)
      return;
    if (finished_ > 0)
      context.release(std::exchange(finished_, 0));
    for (auto& next : pool_.assign(context.now()))
      submit(next, context);
    if (const auto due = pool_.due(); due != never)
      context.wake_at(due);
  }

  void submit(worker_pool::assignment& next, stage_context& context) {
    std::optional<duration> takes;
    if (resource_->loaded)
      takes = resource_->loaded->simulated_time(next.work->slots);
    std::optional<worker_fault_kind> fault;
    if (const auto* f = fault_at(faults_, next.work->number, next.tries)) {
      fault = f->kind;
      context.injected(to_string(f->kind));
      if (f->kind == worker_fault_kind::slow)
        takes = takes.value_or(duration{0}) + f->by;
      else if (f->kind == worker_fault_kind::hang)
        takes = duration::max();
    }
    context.submit({next.lane,
                    [at = seats_[pool_.worker_on(next.lane)], work = next.work, fault,
                     waits = threads_ ? takes : std::nullopt] {
                      const auto begin = std::chrono::steady_clock::now();
                      if (waits == duration::max())
                        std::promise<void>{}.get_future().wait(); // as a call does that hangs
                      auto outcome = make_recycled<batch_outcome>(outcome_of(*at, *work, fault));
                      if (waits)
                        std::this_thread::sleep_until(begin + *waits);
                      return std::static_pointer_cast<void>(std::move(outcome));
                    },
                    takes});
  }

  /// What a model throws past its runner brings its worker down, and no other one.
  static batch_outcome outcome_of(seat& at, const batch& work, std::optional<worker_fault_kind> fault) {
    batch_outcome none;
    if (at.given_up)
      return none; // nobody hears it
    try {
      return at.worker->run(work, fault);
    } catch (const worker_lost& e) {
      none.lost = e.what();
      none.cause = e.cause();
    } catch (const std::exception& e) {
      none.lost = e.what();
    }
    at.given_up = true;
    return none;
  }

  std::shared_ptr<const model_resource> resource_;
  std::shared_ptr<const graph_facts> facts_;
  std::vector<stream_index> streams_;
  bool threads_;
  std::vector<worker_fault> faults_;
  std::shared_ptr<worker_source> source_;
  worker_pool pool_;
  std::vector<std::shared_ptr<seat>> seats_; ///< by worker; none until it is warm
  bool ready_ = false; ///< was said
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
  result.push_back({.name = "hang_after",
                    .type = parameter_type::duration,
                    .help = "A worker that is at one batch for longer is given up and replaced; the batch is "
                            "tried once more.",
                    .initial = initial_value(defaults::hang_after),
                    .least = 0.001,
                    .most = 86400});
  result.push_back(worker_faults_parameter());
  result.push_back({.name = "batch",
                    .type = parameter_type::object,
                    .help = "How many frames the model gets at once; independent of the hyperframe's size.",
                    .fields = {{.name = "max",
                                .type = parameter_type::integer,
                                .help = "The most slots in a batch.",
                                .initial = initial_value(std::int64_t{defaults::batch_slots}),
                                .least = 1,
                                .most = 4096,
                                .unit = "slots"},
                               {.name = "adaptive",
                                .type = parameter_type::boolean,
                                .help = "true: a batch gets as many slots, up to `max`, as gain throughput; "
                                        "false: as many as are waiting.",
                                .initial = initial_value(false)},
                               {.name = "target",
                                .type = parameter_type::duration,
                                .help = "Of adaptive: the longest that a worker should be at one batch; "
                                        "batches shrink where it is missed.",
                                .least = 0.0001,
                                .most = 3600}}});
  return result;
}

void check_batch(const settings& config, const source_mark& mark, std::vector<fault>& faults) {
  if (!config.has("batch"))
    return;
  const auto& b = config.group("batch");
  if (b.has("target") && !b.flag("adaptive"))
    faults.push_back({mark, "batch.target is for batches that adapt, and batch.adaptive is false: "
                            "set adaptive: true, or leave target out"});
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
  resource->simulated = m.simulated_time(1).has_value();
  if (config.has("workers"))
    resource->workers = static_cast<std::uint32_t>(config.integer("workers"));
  resource->batch_slots = defaults::batch_slots;
  if (config.has("batch")) {
    const auto& b = config.group("batch");
    resource->batch_slots = static_cast<std::uint32_t>(b.integer("max"));
    resource->adaptive = b.flag("adaptive");
    if (b.has("target"))
      resource->batch_target = b.time("target");
  }
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
  d.check = [](const settings& config, const source_mark& mark, std::vector<fault>& faults) {
    check_worker_faults(config, faults);
    check_batch(config, mark, faults);
  };
  d.load = load;
  d.holds = [](const settings& config) {
    stage_holds h;
    h.ahead = batches_ahead(config);
    return h;
  };
  d.own_queue = true;
  d.on_nodes = node_use::workers;
  d.make = [](const stage_plan& plan) { return std::make_unique<infer_stage>(plan); };
  return d;
}

} // namespace hyperframes
