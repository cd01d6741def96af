#include "runtime/stage_host.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace hyperframes {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// How long a host works before it lets other messages in; at least one item.
constexpr duration work_slice = std::chrono::microseconds{500};

/// Frames whose pixels the stage has written to make `i`: a source writes what it captures, a bundler
/// what it packs. (Context that a bundler repeats is counted as a copy.)
std::uint64_t pixel_writes_of(const item& i, bool source) {
  if (source)
    return 1;
  if (const auto* h = std::get_if<hyperframe_ptr>(&i))
    return (*h)->tensor ? (*h)->descriptor.own_count() : 0;
  return 0;
}

std::uint32_t index_of(const std::vector<stage_index>& settlers, stage_index settler) {
  const auto at = std::ranges::find(settlers, settler);
  if (at == settlers.end())
    throw std::logic_error("an edge reaches a settling stage that its stage does not reach");
  return static_cast<std::uint32_t>(at - settlers.begin());
}

} // namespace

const char* to_string(stage_state s) {
  constexpr const char* names[] = {"init", "warm", "ready", "running", "draining", "done", "failed"};
  return names[static_cast<std::size_t>(s)];
}

stage_host::stage_host(stage_wiring wiring, const stage_surroundings& surroundings)
  : wiring_(std::move(wiring)), env_(surroundings), outcomes_(wiring_.settlers.size()),
    restarts_left_(wiring_.kind->outputs.empty() || wiring_.settles ? 0 : defaults::stage_restarts) {
  for (const auto& e : wiring_.inputs)
    boxes_.emplace_back(e.edge, e.limits);
  for (const auto& e : wiring_.outputs)
    outlets_.emplace_back(e.edge, e.to, e.limits);
}

stage_host::~stage_host() = default;

void stage_host::handle(message m) {
  try {
    dispatch(m);
  } catch (const std::exception& e) {
    fail(e.what());
  } catch (...) {
    fail("an exception that is no std::exception");
  }
  flush_outcomes();
  if (wake_ < armed_) {
    armed_ = wake_;
    env_.runs.wake_at(wiring_.self, wake_);
  }
  env_.numbers.stage(wiring_.self).held.store(held_frames(), relaxed);
}

void stage_host::dispatch(message& m) {
  std::visit(
    [this](auto& value) {
      using type = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<type, put_message>) {
        on_put(value);
      } else if constexpr (std::is_same_v<type, credit_message>) {
        on_credit(value);
      } else if constexpr (std::is_same_v<type, end_message>) {
        box_of(value.edge).put_end(value.end);
      } else if constexpr (std::is_same_v<type, outcome_message>) {
        on_outcomes(value);
      } else if constexpr (std::is_same_v<type, done_message>) {
        if (accepts()) { // warming up is no service
          auto& numbers = env_.numbers.stage(wiring_.self);
          numbers.busy_ns.fetch_add(static_cast<std::uint64_t>(value.took.count()), relaxed);
          numbers.service.record(value.took);
        }
        if (value.generation == generation_ && logic_)
          logic_->on_done(value.lane, std::move(value.value), *this);
      } else {
        on_control(value);
      }
    },
    m);
}

void stage_host::on_control(control c) {
  switch (c) {
    case control::start:
      start();
      break;
    case control::ready:
      if (state_ == stage_state::warm)
        set_state(stage_state::ready);
      break;
    case control::run:
      if (state_ != stage_state::ready)
        break;
      set_state(stage_state::running);
      logic_->run(*this);
      break;
    case control::drain:
      if (state_ == stage_state::running || state_ == stage_state::ready) {
        set_state(stage_state::draining);
        logic_->drain(*this);
      }
      break;
    case control::stop:
      stop();
      break;
    case control::work:
      work();
      break;
    case control::wake:
      if (now() < armed_)
        break; // an older timer; answering it with a new one would make them ever more
      armed_ = never;
      if (now() >= wake_) {
        wake_ = never;
        if (logic_)
          logic_->on_wake(*this);
      }
      break;
    case control::poke:
      if (logic_)
        logic_->on_poke(*this);
      break;
  }
}

void stage_host::start() {
  set_state(stage_state::warm);
  logic_ = wiring_.kind->make(wiring_.plan);
  if (logic_->start(*this))
    set_state(stage_state::ready);
}

// ---- items -------------------------------------------------------------------------------------

void stage_host::on_put(put_message& m) {
  auto& box = box_of(m.edge);
  auto& edge = env_.numbers.edge(m.edge);
  edge.items.fetch_add(1, relaxed);
  if (stopped_ || !logic_) {
    refuse(box, std::move(m.value));
    return;
  }
  if (wiring_.kind->own_queue) {
    queue_own(box, std::move(m.value));
    return;
  }
  if (auto evicted = box.put(std::move(m.value), now())) {
    edge.drops.fetch_add(1, relaxed);
    settle_drop(*evicted, reason::edge_full, wiring_.settlers);
    give_credit(box, lane_of(*evicted), held_bytes(*evicted));
  }
  edge.depth.store(box.items(), relaxed);
  edge.peak.store(box.peak(), relaxed);
}

void stage_host::queue_own(mailbox& box, item value) {
  auto& edge = env_.numbers.edge(box.edge());
  const auto& limits = box.limits();
  if (own_queued_ >= limits.capacity) {
    if (!limits.drops())
      throw std::logic_error("an edge got more items than it gave credit for");
    edge.drops.fetch_add(1, relaxed);
    const auto evicted = limits.overflow == overflow_policy::drop_newest
                           ? std::exchange(value, trigger{})
                           : logic_->evict(limits.overflow);
    settle_drop(evicted, reason::edge_full, wiring_.settlers);
    give_credit(box, 0, 0);
    if (limits.overflow == overflow_policy::drop_newest)
      return;
    --own_queued_;
  }
  if (const auto* b = std::get_if<batch_ptr>(&value))
    count_batch(**b);
  ++own_queued_;
  edge.depth.store(own_queued_, relaxed);
  if (own_queued_ > edge.peak.load(relaxed))
    edge.peak.store(own_queued_, relaxed);
  give_to_logic(box, std::move(value));
}

void stage_host::release(std::uint32_t count) {
  auto& box = boxes_.front();
  own_queued_ -= std::min(own_queued_, count);
  env_.numbers.edge(box.edge()).depth.store(own_queued_, relaxed);
  for (std::uint32_t i = 0; i < count; ++i)
    give_credit(box, 0, 0);
}

void stage_host::give_credit(mailbox& box, stream_index lane, std::uint64_t bytes) {
  const auto from = wiring_.inputs[static_cast<std::size_t>(&box - boxes_.data())].from;
  if (auto credit = box.gone(lane, bytes))
    env_.runs.post(from, *credit);
  if (wiring_.kind->own_queue ? own_queued_ > 0 : !box.empty())
    return;
  for (const auto& credit : box.take_owed())
    env_.runs.post(from, credit);
}

/// A stage that was stopped or has failed takes nothing in, and still owes an outcome and the credit.
void stage_host::refuse(mailbox& box, item value) {
  outcome_batch batch;
  const bool stop = stopped_;
  add_outcomes(value, stop ? outcome::dropped : outcome::failed,
               stop ? reason::stopped : reason::stage_failed, batch);
  for (const auto& range : batch.ranges())
    settle(range);
  give_credit(box, lane_of(value), held_bytes(value));
}

bool stage_host::wants_work() const {
  if (std::ranges::any_of(outlets_, &outlet::blocked) && logic_ && !stopped_)
    return false;
  return state_ != stage_state::init && state_ != stage_state::warm
         && std::ranges::any_of(boxes_, [this](const mailbox& b) {
              return b.has([&](stream_index lane) { return admits(b, lane); });
            });
}

bool stage_host::admits(const mailbox& box, stream_index lane) const {
  const auto& edge = wiring_.inputs[static_cast<std::size_t>(&box - boxes_.data())];
  return !logic_ || stopped_ || edge.type != port_type::frame || logic_->takes(lane);
}

void stage_host::work() {
  const auto begin = now();
  while (wants_work()) {
    auto& box = boxes_[next_box_];
    next_box_ = (next_box_ + 1) % boxes_.size();
    auto entry = box.take(now(), [&](stream_index lane) { return admits(box, lane); });
    if (!entry)
      continue;
    auto& edge = env_.numbers.edge(box.edge());
    edge.depth.store(box.items(), relaxed);
    edge.average.store(edge.average.load(relaxed) * 0.95 + box.items() * 0.05, relaxed);
    if (auto* i = std::get_if<item>(&*entry)) {
      const auto lane = lane_of(*i);
      const auto bytes = held_bytes(*i);
      if (stopped_ || !logic_) {
        refuse(box, std::move(*i));
        continue;
      }
      try {
        give_to_logic(box, std::move(*entry));
      } catch (...) {
        give_credit(box, lane, bytes);
        throw;
      }
      give_credit(box, lane, bytes);
    } else {
      give_to_logic(box, std::move(*entry));
    }
    if (now() - begin >= work_slice)
      break;
  }
}

void stage_host::give_to_logic(mailbox& box, mailbox::entry entry) {
  auto& numbers = env_.numbers.stage(wiring_.self);
  if (const auto* end = std::get_if<stream_end>(&entry)) {
    ends_in_logic_.push_back(*end);
    ends_given_.push_back(*end);
    if (logic_)
      logic_->on_end(*end, *this);
    if (!logic_ || stopped_)
      emit_ends_in_logic();
    if (is_sink())
      std::erase_if(ends_in_logic_, [&](const stream_end& e) { return e.stream == end->stream; });
    return;
  }
  (void)box;
  auto& i = std::get<item>(entry);
  numbers.items_in.fetch_add(1, relaxed);
  in_hand_.take();
  if (!wiring_.kind->settles)
    add_outcomes(i, outcome::failed, reason::stage_failed, in_hand_);
  const auto begin = now();
  if (wiring_.settles && !wiring_.kind->settles) {
    // A sink without an unbundle above it: what it has taken is delivered.
    outcome_batch delivered;
    add_outcomes(i, outcome::delivered, reason::none, delivered);
    logic_->on_item(std::move(i), *this);
    for (const auto& range : delivered.ranges())
      env_.accounts.settled(wiring_.self, range);
  } else {
    logic_->on_item(std::move(i), *this);
  }
  in_hand_.take();
  const auto took = now() - begin;
  numbers.busy_ns.fetch_add(static_cast<std::uint64_t>(took.count()), relaxed);
  numbers.service.record(took);
}

// ---- what the logic sends ----------------------------------------------------------------------

void stage_host::emit(item i, std::size_t output) {
  if (stopped_) {
    settle_drop(i, reason::stopped, wiring_.settlers);
    return;
  }
  env_.numbers.stage(wiring_.self).items_out.fetch_add(1, relaxed);
  env_.numbers.pixel_writes.fetch_add(pixel_writes_of(i, wiring_.inputs.empty()), relaxed);
  if (wiring_.kind->settles)
    if (const auto* r = std::get_if<frame_result_ptr>(&i))
      count_result(**r);
  for (std::size_t e = 0; e < outlets_.size(); ++e) {
    if (wiring_.outputs[e].from_port != output)
      continue;
    auto sent = outlets_[e].put(i);
    for (auto& entry : sent.out)
      send(outlets_[e], std::move(entry));
    if (sent.dropped) {
      env_.numbers.edge(outlets_[e].edge()).drops.fetch_add(1, relaxed);
      settle_drop(*sent.dropped, reason::edge_full, wiring_.outputs[e].settlers);
    }
  }
}

void stage_host::emit(const stream_end& end) {
  if (muted_)
    return;
  std::erase_if(ends_in_logic_, [&](const stream_end& e) {
    return e.stream == end.stream && e.epoch == end.epoch;
  });
  for (auto& out : outlets_)
    if (out.put_end(end))
      send(out, end);
}

void stage_host::send(outlet& out, mailbox::entry entry) {
  if (auto* i = std::get_if<item>(&entry))
    env_.runs.post(out.target(), put_message{out.edge(), std::move(*i)});
  else
    env_.runs.post(out.target(), end_message{out.edge(), std::get<stream_end>(entry)});
}

void stage_host::on_credit(const credit_message& m) {
  auto& out = outlet_of(m.edge);
  for (auto& entry : out.grant(m))
    send(out, std::move(entry));
  if (logic_)
    logic_->on_credit(*this);
}

std::uint32_t stage_host::credit(std::size_t output, stream_index lane) const {
  auto least = std::numeric_limits<std::uint32_t>::max();
  if (stopped_)
    return least; // whatever is sent now gets its outcome here
  for (std::size_t e = 0; e < outlets_.size(); ++e)
    if (wiring_.outputs[e].from_port == output && !wiring_.outputs[e].limits.drops())
      least = std::min(least, outlets_[e].credit(lane));
  return least;
}

void stage_host::submit(blocking_work work) {
  env_.runs.submit(wiring_.self, generation_, std::move(work));
}

void stage_host::wake_at(graph_time t) {
  wake_ = std::min(wake_, t);
}

void stage_host::copied(std::size_t bytes) {
  env_.numbers.stage(wiring_.self).bytes_copied.fetch_add(bytes, relaxed);
}

void stage_host::alarm(std::string sentence) {
  env_.numbers.tell({now(), wiring_.plan.name, std::move(sentence), false});
}

// ---- outcomes ----------------------------------------------------------------------------------

void stage_host::settle(const outcome_range& range) {
  settle_in(range, wiring_.settlers);
}

void stage_host::settle_in(const outcome_range& range, const std::vector<stage_index>& settlers) {
  for (auto settler : settlers)
    outcomes_[index_of(wiring_.settlers, settler)].add(range);
}

void stage_host::settle_drop(const item& i, reason why, const std::vector<stage_index>& settlers) {
  outcome_batch batch;
  add_outcomes(i, outcome::dropped, why, batch);
  for (const auto& range : batch.ranges())
    settle_in(range, settlers);
}

void stage_host::flush_outcomes() {
  for (std::size_t s = 0; s < outcomes_.size(); ++s) {
    if (outcomes_[s].empty())
      continue;
    outcome_message m{outcomes_[s].take()};
    if (wiring_.settlers[s] == wiring_.self)
      on_outcomes(m);
    else
      env_.runs.post(wiring_.settlers[s], std::move(m));
  }
}

void stage_host::on_outcomes(const outcome_message& m) {
  if (!wiring_.kind->settles) // an unbundle counts when it emits, in order; a sink at once
    for (const auto& range : m.ranges)
      env_.accounts.settled(wiring_.self, range);
  if (logic_)
    logic_->on_outcomes(m.ranges, *this);
}

void stage_host::count_batch(const batch& b) {
  std::uint64_t valid = 0;
  for (const auto& part : b.parts)
    for (auto s = part.first; s < part.first + part.count; ++s)
      valid += part.source->descriptor.slots[s].valid ? 1 : 0;
  const auto wish = wiring_.plan.resource ? wiring_.plan.resource->batch_slots : 0;
  env_.numbers.batches.fetch_add(1, relaxed);
  env_.numbers.batch_slots.fetch_add(valid, relaxed);
  env_.numbers.batch_room.fetch_add(std::max(wish, b.slots), relaxed);
}

void stage_host::count_result(const frame_result& r) {
  env_.accounts.settled(wiring_.self,
                        {r.meta.stream, r.meta.epoch, r.meta.frame_id, 1, r.what, r.why});
  if (r.what != outcome::delivered)
    return;
  auto& l = env_.numbers.latency();
  const auto& t = r.times;
  l.bundle.record(t.bundled - t.arrived);
  l.queue.record(t.dispatched - t.bundled);
  l.infer.record(t.inferred - t.dispatched);
  l.deliver.record(t.delivered - t.inferred);
  l.total.record(t.delivered - t.arrived);
  if (r.meta.truth >= 0 && r.inferred && !r.inferred->classes.empty()) {
    env_.numbers.truth_known.fetch_add(1, relaxed);
    if (r.inferred->classes.front().label == r.meta.truth)
      env_.numbers.truth_right.fetch_add(1, relaxed);
  }
}

// ---- life and failure --------------------------------------------------------------------------

void stage_host::set_state(stage_state state, const std::string& why) {
  state_ = state;
  env_.listener.state_changed(wiring_.self, state, why);
}

void stage_host::done() {
  if (done_)
    return;
  done_ = true;
  if (state_ != stage_state::failed)
    set_state(stage_state::done);
}

void stage_host::abandon_logic(outcome what, reason why) {
  outcome_batch batch;
  if (logic_)
    logic_->give_up(what, why, batch);
  for (const auto& range : batch.ranges())
    settle(range);
  ++generation_;
  if (wiring_.kind->own_queue && own_queued_ > 0)
    release(own_queued_);
  emit_ends_in_logic();
}

void stage_host::emit_ends_in_logic() {
  for (const auto& end : std::vector(ends_in_logic_))
    emit(end);
}

/// A new object must know which streams have ended; their ends were passed on already.
void stage_host::restart_logic() {
  logic_ = wiring_.kind->make(wiring_.plan);
  logic_->start(*this);
  muted_ = true;
  for (const auto& end : ends_given_)
    logic_->on_end(end, *this);
  muted_ = false;
  if (state_ == stage_state::running || state_ == stage_state::draining)
    logic_->run(*this);
}

void stage_host::stop() {
  // Settling stages and sinks go on until every frame has its outcome.
  if (stopped_ || wiring_.settles || is_sink())
    return;
  if (logic_ && wiring_.inputs.empty())
    logic_->drain(*this);
  stopped_ = true;
  abandon_logic(outcome::dropped, reason::stopped);
  for (std::size_t e = 0; e < outlets_.size(); ++e)
    for (auto& entry : outlets_[e].take_waiting()) {
      if (auto* i = std::get_if<item>(&entry))
        settle_drop(*i, reason::stopped, wiring_.outputs[e].settlers);
      else
        send(outlets_[e], std::move(entry));
    }
}

void stage_host::fail(const std::string& why) {
  auto in_hand = in_hand_.take();
  for (const auto& range : in_hand)
    settle(range);
  if (state_ == stage_state::failed)
    return;
  abandon_logic(outcome::failed, reason::stage_failed);
  logic_.reset();
  if (state_ == stage_state::init || state_ == stage_state::warm)
    restarts_left_ = 0; // what cannot start will not start a second time
  if (restarts_left_ > 0) {
    --restarts_left_;
    env_.numbers.stage(wiring_.self).restarts.fetch_add(1, relaxed);
    env_.numbers.tell({now(), wiring_.plan.name, "failed and starts again: " + why, false});
    try {
      restart_logic();
      return;
    } catch (const std::exception& e) {
      muted_ = false;
      logic_.reset();
      restarts_left_ = 0;
      env_.numbers.tell({now(), wiring_.plan.name, std::string{"cannot start again: "} + e.what(), true});
    }
  }
  done_ = true;
  set_state(stage_state::failed, why);
}

std::uint64_t stage_host::held_frames() const {
  std::uint64_t frames = logic_ ? logic_->held_frames() : 0;
  if (is_sink() && !wiring_.settles)
    return 0; // below an unbundle every outcome is final
  for (const auto& box : boxes_)
    frames += box.held_frames();
  for (const auto& out : outlets_)
    frames += out.waiting_frames();
  return frames;
}

std::uint64_t stage_host::held_frames(stage_index settler) const {
  if (std::ranges::find(wiring_.settlers, settler) == wiring_.settlers.end())
    return 0;
  std::uint64_t frames = logic_ ? logic_->held_frames() : 0;
  for (const auto& box : boxes_)
    frames += box.held_frames();
  for (std::size_t e = 0; e < outlets_.size(); ++e) {
    const auto& below = wiring_.outputs[e].settlers;
    if (std::ranges::find(below, settler) != below.end())
      frames += outlets_[e].waiting_frames();
  }
  return frames;
}

mailbox& stage_host::box_of(edge_index edge) {
  for (auto& box : boxes_)
    if (box.edge() == edge)
      return box;
  throw std::logic_error("an item for an edge that does not end here");
}

outlet& stage_host::outlet_of(edge_index edge) {
  for (auto& out : outlets_)
    if (out.edge() == edge)
      return out;
  throw std::logic_error("credit for an edge that does not begin here");
}

} // namespace hyperframes
