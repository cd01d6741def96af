#include "actors/capture.hpp"

#include "actors/capture_input.hpp"
#include "runtime/defaults.hpp"
#include "runtime/stream_stats.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>
#include <vector>

namespace hyperframes {

std::uint32_t prefetch_of(const camera_info& info) {
  const auto fps = info.fps > 0 ? info.fps : defaults::assumed_fps;
  const auto frames = std::ceil(fps * in_seconds(defaults::prefetch));
  return std::max(defaults::edge_capacity, static_cast<std::uint32_t>(std::min(frames, 1000.0)));
}

namespace {

/// Which inputs have something in their inbox: the readers' threads add, the stage takes.
class arrivals {
public:
  /// @returns whether the stage must be told: it has taken all that came before.
  bool add(std::uint32_t input) {
    const std::lock_guard lock{mutex_};
    ready_.push_back(input);
    return ready_.size() == 1;
  }
  /// Puts them into `to`.
  void take(std::vector<std::uint32_t>& to) {
    to.clear();
    const std::lock_guard lock{mutex_};
    to.swap(ready_);
  }

private:
  std::mutex mutex_;
  std::vector<std::uint32_t> ready_;
};

/// Numbers what the readers found and sends it on. A message costs as much as the streams that it concerns.
class capture_stage final : public stage {
public:
  explicit capture_stage(const stage_plan& plan)
    : resource_(std::dynamic_pointer_cast<const capture_resource>(plan.resource)),
      facts_(plan.graph), folder_(plan.folder), threaded_(plan.threads), input_of_(plan.graph->streams.size()) {
    if (!resource_)
      throw failure(make_error(errc::stage_failed, plan.name, "got no cameras"));
    for (const auto& source : resource_->sources) {
      input_of_[source.stream] = static_cast<std::uint32_t>(inputs_.size());
      inputs_.emplace_back(source, facts_->streams[source.stream].id, facts_->latency_budget);
    }
  }

  void run(stage_context& context) override {
    if (given_up_) { // stopped before it ran
      forward_all(context);
      return;
    }
    if (threaded_)
      clock_ = std::make_shared<context_clock>(context.now());
    std::vector<std::shared_ptr<camera_reader>> shared, blocking;
    for (auto& in : inputs_)
      in.follow(context);
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      if (const auto& from = inputs_[i].source(); from.attached && !inputs_[i].ended())
        (from.info.blocks ? blocking : shared).push_back(attach(i, context));
    if (threaded_)
      threads_ = std::make_unique<reader_threads>(clock_, std::move(shared), std::move(blocking));
    pump_all(context);
  }

  void on_item(item, stage_context&) override {}
  void on_poke(stage_context& context) override {
    if (obey(context))
      pump_all(context);
    else
      pump(context);
  }
  void on_credit(stream_index lane, stage_context& context) override { pump_waiting(lane, context); }
  void on_wake(stage_context& context) override { pump(context); }

  void drain(stage_context& context) override {
    draining_ = true;
    for (auto& in : inputs_)
      in.drain(context);
    pump_all(context);
  }

  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    given_up_ = true;
    for (auto& in : inputs_)
      in.give_up(resource_->captured, what, why, into);
  }

  /// A frame counts as captured when it is numbered, and leaves at the same moment.
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  /// The graph's time for the readers' threads: steady, and in step with the context's.
  class context_clock final : public clock {
  public:
    explicit context_clock(graph_time now) : offset_(now - ticks_.now()) {}
    graph_time now() const noexcept override { return ticks_.now() + offset_; }
    duration thread_cpu() const noexcept override { return ticks_.thread_cpu(); }

  private:
    system_clock ticks_;
    duration offset_;
  };

  std::shared_ptr<camera_reader> attach(std::uint32_t input, stage_context& context) {
    auto& in = inputs_[input];
    context.numbers(in.stream()).attached.store(true, std::memory_order_relaxed);
    std::function<void()> on_event{[] {}};
    if (threaded_)
      on_event = [input, come = come_, poke = context.poke()] {
        if (come->add(input))
          poke();
      };
    return in.attach(folder_, facts_->seed, std::move(on_event), context.now());
  }

  /// Cameras come and go. @returns whether any was asked to.
  bool obey(stage_context& context) {
    const auto requests = resource_->requests->take();
    for (const auto& r : requests) {
      const auto at = std::ranges::find(inputs_, r.stream, &capture_input::stream);
      if (at == inputs_.end() || draining_ || given_up_)
        continue;
      if (at->ended() || at->attached() == r.attach) {
        context.alarm("stream " + facts_->streams[r.stream].id + ": "
                      + (at->ended()     ? "has ended, and its camera cannot come again"
                         : r.attach ? "its camera is there already"
                                    : "has no camera that could go"));
        continue;
      }
      if (!r.attach) {
        at->detach();
        continue;
      }
      auto reader = attach(static_cast<std::uint32_t>(at - inputs_.begin()), context);
      if (threaded_)
        at->own_threads(std::make_unique<reader_threads>(
          clock_, std::vector<std::shared_ptr<camera_reader>>{std::move(reader)},
          std::vector<std::shared_ptr<camera_reader>>{}));
    }
    return !requests.empty();
  }

  /// Sends what has come since the last time.
  void pump(stage_context& context) {
    if (!threaded_ || given_up_ || context.now() >= look_at_)
      return pump_all(context);
    come_->take(now_);
    pump_now(context);
  }

  /// Sends what of `stream` had no credit when it came.
  void pump_waiting(stream_index stream, stage_context& context) {
    if (!threaded_ || given_up_)
      return pump_all(context);
    const auto input = input_of_.at(stream);
    if (!inputs_[input].waits() || context.credit(0, stream) == 0)
      return;
    now_.assign(1, input);
    pump_now(context);
  }

  void pump_now(stage_context& context) {
    bool any_ended = false;
    for (const auto i : now_) {
      auto& in = inputs_[i];
      in.forward(resource_->captured, context);
      look_at_ = std::min(look_at_, in.watch(context));
      any_ended = any_ended || in.ended();
    }
    context.wake_at(look_at_);
    if (any_ended)
      end_threads();
  }

  /// The same for every stream, and looks who is silent. On the virtual clock this stage reads its cameras itself.
  void pump_all(stage_context& context) {
    auto due = never;
    if (!threaded_)
      due = read_all(context);
    come_->take(now_); // before their inboxes are emptied: who comes later tells
    forward_all(context);
    look_at_ = never;
    if (!given_up_)
      for (auto& in : inputs_)
        look_at_ = std::min(look_at_, in.watch(context));
    context.wake_at(std::min(due, look_at_));
    end_threads();
  }

  void end_threads() {
    if (threads_ && std::ranges::all_of(inputs_, [](const capture_input& in) {
          return in.ended() && (!in.reader() || in.reader()->finished());
        }))
      threads_ = nullptr; // they have nothing to do any more
  }

  graph_time read_all(stage_context& context) {
    struct at final : clock {
      graph_time t;
      graph_time now() const noexcept override { return t; }
    } time;
    time.t = context.now();
    auto due = never;
    for (auto& in : inputs_)
      while (in.reader() && !given_up_) {
        const auto next = in.reader()->step(time, 1);
        in.forward(resource_->captured, context);
        if (next > time.t) {
          due = std::min(due, next);
          break;
        }
      }
    return due;
  }

  void forward_all(stage_context& context) {
    for (auto& in : inputs_)
      if (given_up_) // a camera that hangs is not waited for
        in.end_now(context);
      else
        in.forward(resource_->captured, context);
  }

  std::shared_ptr<const capture_resource> resource_;
  std::shared_ptr<const graph_facts> facts_;
  std::string folder_;
  bool threaded_;
  bool draining_ = false;
  bool given_up_ = false; ///< stopped or failed: it has nothing to do any more but to end its streams
  std::shared_ptr<context_clock> clock_;
  std::deque<capture_input> inputs_;
  std::vector<std::uint32_t> input_of_; ///< by stream; of those that it captures
  const std::shared_ptr<arrivals> come_ = std::make_shared<arrivals>(); ///< a reader that hangs keeps it
  std::vector<std::uint32_t> now_; ///< inputs
  graph_time look_at_ = never; ///< when the first stream may turn out to be silent
  std::unique_ptr<reader_threads> threads_; ///< ends before what its readers point to
};

} // namespace

stage_description describe_capture() {
  stage_description d;
  d.name = "capture";
  d.on_nodes = node_use::whole;
  d.summary = "Runs cameras, numbers and stamps their frames; never makes a camera wait.";
  d.outputs = {{"out", {port_type::frame}, "every captured frame, in its stream's order"}};
  d.parameters = {parameter{.name = "streams",
                            .type = parameter_type::list,
                            .help = "Which streams it captures: ids, patterns such as `line1.*`, or `*` for all.",
                            .initial = initial_value(setting::list{initial_value(std::string{"*"})}),
                            .element = parameter_type::text}};
  d.make = [](const stage_plan& plan) { return std::make_unique<capture_stage>(plan); };
  return d;
}

} // namespace hyperframes
