#include "actors/capture.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

stream_numbering::stream_numbering(
  stream_index stream, bool live, duration latency_budget, double declared_fps)
  : stream_(stream), budget_(latency_budget) {
  if (live)
    model_.emplace(declared_fps);
  file_clock_.declared_fps = declared_fps;
  file_clock_.confidence = 1;
}

std::optional<stream_end>
stream_numbering::epoch_before(const captured_frame& f, arrival_time arrived) {
  const bool jumps = model_ ? model_->jump_at(f.captured, arrived) != clock_model::jump::none
                            : last_ && f.captured < *last_ - clock_model::max_backstep;
  if (!jumps)
    return std::nullopt;
  stream_end end{stream_, epoch_, next_, false};
  ++epoch_;
  next_ = 0;
  if (!model_) {
    base_ += *last_ - *first_ + interval_;
    first_.reset();
    ++file_clock_.jumps_back;
  }
  return end;
}

frame_meta stream_numbering::stamp(const captured_frame& f, arrival_time arrived) {
  frame_meta meta;
  meta.stream = stream_;
  meta.epoch = epoch_;
  meta.frame_id = next_++;
  meta.device_id = f.device_id;
  meta.trace_id = (std::uint64_t{stream_} + 1) << 40 | traced_++;
  meta.captured = f.captured;
  meta.arrived = arrived;
  meta.flags = f.flags;
  meta.truth = f.truth;
  std::uint64_t lost = 0;
  if (meta.frame_id > 0 && f.device_id != last_device_id_ + 1) {
    meta.flags |= frame_gap_before;
    lost = f.device_id > last_device_id_ ? f.device_id - last_device_id_ - 1 : 0;
    device_lost_ += lost;
  }
  last_device_id_ = f.device_id;
  if (!model_) {
    meta.timeline = place_in_file(f.captured);
    return meta;
  }
  meta.timeline = model_->add(f.captured, arrived, lost);
  if (budget_ != duration::max())
    meta.deadline = later_by(meta.timeline, budget_);
  return meta;
}

graph_time stream_numbering::place_in_file(capture_time captured) {
  if (!first_) {
    first_ = last_ = captured;
  } else if (captured > *last_) {
    interval_ = captured - *last_;
    last_ = captured;
    file_clock_.fps = static_cast<double>(next_ - 1) / in_seconds(*last_ - *first_);
  }
  return graph_time{base_ + (captured - *first_)};
}

std::uint32_t prefetch_of(const camera_info& info) {
  const auto fps = info.fps > 0 ? info.fps : defaults::assumed_fps;
  const auto frames = std::ceil(fps * in_seconds(defaults::prefetch));
  return std::max(defaults::edge_capacity, static_cast<std::uint32_t>(std::min(frames, 1000.0)));
}

namespace {

/// Numbers what the readers found and sends it on.
class capture_stage final : public stage {
public:
  explicit capture_stage(const stage_plan& plan)
    : resource_(std::dynamic_pointer_cast<const capture_resource>(plan.resource)),
      facts_(plan.graph), folder_(plan.folder), threaded_(plan.threads) {
    if (!resource_)
      throw failure(make_error(errc::stage_failed, plan.name, "got no cameras"));
    for (const auto& source : resource_->sources)
      inputs_.push_back({{}, stream_numbering{source.stream, source.info.live, facts_->latency_budget, source.info.fps},
                         source.stream, source.info.live, {}, false});
  }

  void run(stage_context& context) override {
    if (given_up_) { // stopped before it ran
      forward_all(context);
      return;
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto& source = resource_->sources[i];
      inputs_[i].reader = std::make_shared<camera_reader>(
        source.make(), source.info,
        camera_reader::place{facts_->streams[source.stream].id, folder_, source.frames_ahead,
                             source.prefetch},
        threaded_ ? context.poke() : std::function<void()>{[] {}});
    }
    if (threaded_) {
      std::vector<std::shared_ptr<camera_reader>> shared, blocking;
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        (resource_->sources[i].info.blocks ? blocking : shared).push_back(inputs_[i].reader);
      clock_ = std::make_shared<context_clock>(context.now());
      threads_ = std::make_unique<reader_threads>(clock_, std::move(shared), std::move(blocking));
    } else {
      pump(context);
    }
  }

  void on_item(item, stage_context&) override {}
  void on_poke(stage_context& context) override { forward_all(context); }
  void on_credit(stage_context& context) override { pump(context); }
  void on_wake(stage_context& context) override { pump(context); }

  void drain(stage_context& context) override {
    for (auto& in : inputs_)
      if (in.reader)
        in.reader->finish();
    if (!threaded_)
      pump(context);
  }

  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    given_up_ = true;
    for (auto& in : inputs_) {
      if (!in.reader) // it has not begun
        continue;
      for (auto& e : in.reader->take())
        in.waiting.push_back(std::move(e));
      for (auto& e : in.waiting)
        if (auto* f = std::get_if<arrived_frame>(&e)) {
          resource_->captured(in.stream);
          into.add(in.numbering.stamp(f->captured, as_arrival(f->arrived)), what, why);
        }
      std::erase_if(in.waiting, [](const reader_event& e) {
        return std::holds_alternative<arrived_frame>(e);
      });
    }
  }

  /// A frame counts as captured when it is numbered, and leaves at the same moment.
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  /// The graph's time for the readers' threads: steady, and in step with the context's.
  class context_clock final : public clock {
  public:
    explicit context_clock(graph_time now) : offset_(now - ticks_.now()) {}
    graph_time now() const noexcept override { return ticks_.now() + offset_; }

  private:
    system_clock ticks_;
    duration offset_;
  };

  struct input {
    std::shared_ptr<camera_reader> reader; ///< none before `run`
    stream_numbering numbering;
    stream_index stream;
    bool live;
    std::deque<reader_event> waiting; ///< taken from the reader, without credit so far
    bool ended;
  };

  /// On the virtual clock this stage reads its cameras itself.
  void pump(stage_context& context) {
    if (threaded_) {
      forward_all(context);
      return;
    }
    struct at final : clock {
      graph_time t;
      graph_time now() const noexcept override { return t; }
    } time;
    time.t = context.now();
    auto due = never;
    for (auto& in : inputs_) {
      while (in.reader) {
        const auto next = in.reader->step(time, 1);
        forward(in, context);
        if (next > time.t) {
          due = std::min(due, next);
          break;
        }
      }
    }
    context.wake_at(due);
  }

  void forward_all(stage_context& context) {
    for (auto& in : inputs_)
      forward(in, context);
  }

  void forward(input& in, stage_context& context) {
    if (given_up_) { // what comes now was never captured, and a camera that hangs is not waited for
      if (in.reader)
        in.reader->take();
      in.waiting.clear();
      if (!std::exchange(in.ended, true))
        context.emit(in.numbering.end());
      return;
    }
    if (!in.reader)
      return;
    for (auto& e : in.reader->take())
      in.waiting.push_back(std::move(e));
    std::uint32_t sent = 0;
    while (!in.waiting.empty()) {
      if (!in.live && std::holds_alternative<arrived_frame>(in.waiting.front())
          && context.credit(0, in.stream) == 0)
        break;
      auto e = std::move(in.waiting.front());
      in.waiting.pop_front(); // before anything can throw: `give_up` must not meet it again
      if (auto* f = std::get_if<arrived_frame>(&e)) {
        send(in, *f, context);
        ++sent;
      } else if (const auto* note = std::get_if<reader_note>(&e)) {
        context.alarm("stream " + facts_->streams[in.stream].id + ": " + note->sentence);
      } else if (!in.ended) {
        in.ended = true;
        context.emit(in.numbering.end());
      }
    }
    if (sent > 0 && !in.live)
      in.reader->give_permits(sent);
  }

  void send(input& in, arrived_frame& f, stage_context& context) {
    if (const auto end = in.numbering.epoch_before(f.captured, as_arrival(f.arrived)))
      context.emit(*end);
    const auto meta = in.numbering.stamp(f.captured, as_arrival(f.arrived));
    if (const auto news = in.numbering.take_news())
      context.alarm("stream " + facts_->streams[in.stream].id + ": " + *news);
    resource_->captured(in.stream);
    if (f.captured.buffer)
      context.emit(frame{meta, std::move(f.captured.media), std::move(f.captured.buffer)});
    else if (meta.flags & frame_corrupt)
      context.settle(meta, outcome::failed, reason::corrupt);
    else
      context.settle(meta, outcome::dropped, reason::pool_empty);
  }

  std::shared_ptr<const capture_resource> resource_;
  std::shared_ptr<const graph_facts> facts_;
  std::string folder_;
  bool threaded_;
  std::vector<input> inputs_;
  bool given_up_ = false; ///< stopped or failed: it has nothing to do any more but to end its streams
  std::shared_ptr<context_clock> clock_;
  std::unique_ptr<reader_threads> threads_; ///< ends before what its readers point to
};

} // namespace

stage_description describe_capture() {
  stage_description d;
  d.name = "capture";
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
