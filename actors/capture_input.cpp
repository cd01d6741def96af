#include "actors/capture_input.hpp"

#include "runtime/defaults.hpp"
#include "runtime/stream_stats.hpp"

#include <algorithm>
#include <cstdio>

namespace hyperframes {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::string seconds(duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", in_seconds(d));
  return text;
}

/// How long a stream may give nothing before it is silent; `duration::max()` where no rate is known.
duration grace_of(const capture_resource::source& source) {
  const auto& info = source.info;
  if (!info.live || info.fps <= 0)
    return duration::max();
  return std::max<duration>(source.silent_after,
                            duration{static_cast<std::int64_t>(defaults::silent_periods * 1e9 / info.fps)});
}

} // namespace

capture_input::capture_input(const capture_resource::source& source, std::string id, duration latency_budget)
  : source_(source), id_(std::move(id)),
    numbering_(source.stream, source.info.live, latency_budget, source.info.fps) {
  if (const auto& at = source_.follows) {
    numbering_.follow(*at);
    ended_ = at->ended;
    if (!source_.info.live)
      skip_ = at->before + at->frames;
  }
}

std::shared_ptr<camera_reader> capture_input::attach(const std::string& folder, std::uint64_t seed,
                                                     std::function<void()> on_event, graph_time now) {
  auto made = source_.make();
  faults_ = made->injected();
  reported_ = {};
  reader_ = std::make_shared<camera_reader>(
    std::move(made), source_.info,
    camera_reader::place{id_, folder, source_.frames_ahead, source_.prefetch, seed, source_.pool},
    std::move(on_event));
  last_arrival_ = now;
  return reader_;
}

void capture_input::follow(stage_context& context) {
  if (source_.follows && source_.follows->frames > 0)
    context.emit(numbering_.end_epoch());
}

void capture_input::detach() {
  if (!reader_)
    return;
  detaching_ = true;
  reader_->finish();
}

void capture_input::drain(stage_context& context) {
  draining_ = true;
  if (reader_)
    reader_->finish();
  else
    end_now(context);
}

void capture_input::end_now(stage_context& context) {
  if (reader_)
    reader_->take(waiting_);
  waiting_.clear();
  if (!std::exchange(ended_, true))
    context.emit(numbering_.end());
}

void capture_input::give_up(const std::function<void(const frame_meta&)>& captured, outcome what, reason why,
                            outcome_batch& into) {
  if (!reader_)
    return;
  reader_->take(waiting_);
  for (auto& e : waiting_)
    if (auto* f = std::get_if<arrived_frame>(&e)) {
      if (skip_ > 0) {
        --skip_;
        continue;
      }
      const auto meta = numbering_.stamp(f->captured, as_arrival(f->arrived));
      captured(meta);
      into.add(meta, what, why);
    }
  std::erase_if(waiting_, [](const reader_event& e) { return std::holds_alternative<arrived_frame>(e); });
}

void capture_input::forward(const std::function<void(const frame_meta&)>& captured, stage_context& context) {
  if (!reader_)
    return;
  reader_->take(waiting_);
  std::uint32_t sent = 0;
  while (!waiting_.empty()) {
    if (!source_.info.live && std::holds_alternative<arrived_frame>(waiting_.front())
        && context.credit(0, source_.stream) == 0)
      break;
    auto e = std::move(waiting_.front());
    waiting_.pop_front(); // before anything can throw: `give_up` must not meet it again
    if (auto* f = std::get_if<arrived_frame>(&e)) {
      if (skip_ > 0) {
        --skip_;
        numbering_.pass(f->captured);
      } else {
        send(captured, *f, context);
      }
      ++sent;
    } else if (const auto* note = std::get_if<reader_note>(&e)) {
      tell(note->sentence, context);
    } else {
      finish_stay(context);
      return;
    }
  }
  if (sent > 0) {
    report(context);
    if (!source_.info.live)
      reader_->give_permits(sent);
  }
}

/// The camera has given its last frame.
void capture_input::finish_stay(stage_context& context) {
  report(context);
  if (!detaching_ || draining_) {
    if (!std::exchange(ended_, true))
      context.emit(numbering_.end());
    return;
  }
  detaching_ = false;
  context.emit(numbering_.end_epoch());
  reader_ = nullptr;
  threads_ = nullptr;
  silent_ = false;
  auto& stats = context.numbers(source_.stream);
  stats.silent.store(false, relaxed);
  stats.attached.store(false, relaxed);
}

void capture_input::send(const std::function<void(const frame_meta&)>& captured, arrived_frame& f,
                         stage_context& context) {
  auto& stats = context.numbers(source_.stream);
  if (silent_) {
    silent_ = false;
    stats.silent.store(false, relaxed);
    context.alarm("stream " + id_ + " is back after " + seconds(f.arrived - last_arrival_));
  }
  last_arrival_ = f.arrived;
  if (stats.first_arrival_ns.load(relaxed) < 0)
    stats.first_arrival_ns.store((f.arrived - graph_time{}).count(), relaxed);
  if (const auto end = numbering_.epoch_before(f.captured, as_arrival(f.arrived)))
    context.emit(*end);
  const auto meta = numbering_.stamp(f.captured, as_arrival(f.arrived));
  if (const auto news = numbering_.take_news())
    tell(*news, context);
  if (source_.info.live)
    stats.lag.record(f.arrived - meta.timeline);
  captured(meta);
  if (f.cpu > duration{0})
    context.worked(f.cpu);
  if (f.captured.buffer)
    context.emit(frame{meta, std::move(f.captured.media), std::move(f.captured.buffer)});
  else if (meta.flags & frame_corrupt)
    context.settle(meta, outcome::failed, reason::corrupt);
  else if (meta.flags & frame_no_memory)
    context.settle(meta, outcome::failed, reason::no_memory);
  else
    context.settle(meta, outcome::dropped, reason::pool_empty);
}

void capture_input::report(stage_context& context) {
  auto& stats = context.numbers(source_.stream);
  const auto& clock = numbering_.clock();
  stats.device_lost.store(numbering_.device_lost(), relaxed);
  stats.epochs.store(numbering_.epoch() + 1, relaxed);
  stats.offset_ns.store(clock.offset.count(), relaxed);
  stats.drift_ppm.store(clock.drift_ppm, relaxed);
  stats.jitter_ns.store(clock.jitter.count(), relaxed);
  stats.fps.store(clock.fps, relaxed);
  stats.confidence.store(clock.confidence, relaxed);
  stats.by_arrival.store(clock.by_arrival, relaxed);
  for (std::size_t k = 0; faults_ && k < fault_kinds; ++k)
    for (const auto now = faults_->of(static_cast<fault_kind>(k)); reported_[k] < now; ++reported_[k])
      context.injected(to_string(static_cast<fault_kind>(k)), id_);
}

graph_time capture_input::watch(stage_context& context) {
  const auto grace = grace_of(source_);
  if (!reader_ || ended_ || silent_ || detaching_ || grace == duration::max())
    return never;
  const auto due = later_by(last_arrival_, grace);
  if (context.now() < due)
    return due;
  silent_ = true;
  auto& stats = context.numbers(source_.stream);
  stats.silent.store(true, relaxed);
  stats.silences.fetch_add(1, relaxed);
  context.alarm(
    "stream " + id_ + " is silent since " + seconds(last_arrival_.time_since_epoch())
    + (source_.when_silent.empty() ? "" : "; " + source_.when_silent));
  return never;
}

void capture_input::tell(const std::string& sentence, stage_context& context) const {
  context.alarm("stream " + id_ + ": " + sentence);
}

} // namespace hyperframes
