#include "runtime/stage_host.hpp"

#include "runtime/count_items.hpp"
#include "runtime/defaults.hpp"
#include "runtime/settled_frames.hpp"

#include <algorithm>
#include <stdexcept>

namespace hyperframes {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

} // namespace

const char* to_string(stage_state s) {
  constexpr const char* names[] = {"init", "warm", "ready", "running", "draining", "done", "failed"};
  return names[static_cast<std::size_t>(s)];
}

stage_host::stage_host(stage_wiring wiring, const stage_surroundings& surroundings)
  : wiring_(std::move(wiring)),
    env_(surroundings),
    outcomes_(wiring_.settlers),
    restarts_(!wiring_.kind->outputs.empty() && !wiring_.settles) {
  if (wiring_.settles && !wiring_.kind->settles)
    keep_account_alone();
  for (const auto& e : wiring_.inputs) {
    boxes_.emplace_back(e.edge, e.limits);
    alarms_.emplace_back(e.limits.capacity);
  }
  live_ = std::ranges::any_of(wiring_.plan.streams, [this](stream_index s) {
    return wiring_.plan.graph->streams[s].live;
  });
  for (const auto& e : wiring_.outputs)
    outlets_.emplace_back(e.edge, e.to, e.limits, e.used);
}

stage_host::~stage_host() = default;

void stage_host::handle(message m) {
  auto& in_call = env_.numbers.stage(wiring_.self).in_call_since;
  read_clock();
  in_call.store(std::max<std::int64_t>(1, read_at_.time_since_epoch().count()), relaxed);
  const auto guarded = [this](auto&& act) {
    try {
      act();
      if (!overflow_.empty())
        fail(std::exchange(overflow_, {}));
    } catch (const std::exception& e) {
      overflow_.clear();
      fail(e.what());
    } catch (...) {
      overflow_.clear();
      fail("an exception that is no std::exception");
    }
  };
  guarded([&] { dispatch(m); });
  guarded([&] { flush_outcomes(); }); // what this stage settles itself goes to its logic
  flush_outcomes();                   // and what that failed with: there is no logic any more
  if (wake_ < armed_) {
    armed_ = wake_;
    env_.runs.wake_at(wiring_.self, wake_);
  }
  env_.numbers.stage(wiring_.self).held.store(held_frames(), relaxed);
  in_call.store(0, relaxed);
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
        on_done(value);
      } else {
        on_control(value);
      }
    },
    m);
}

void stage_host::on_done(done_message& m) {
  if (accepts()) { // warming up is no service
    auto& numbers = env_.numbers.stage(wiring_.self);
    numbers.busy_ns.fetch_add(static_cast<std::uint64_t>(m.took.count()), relaxed);
    numbers.service.record(m.took);
    numbers.cpu_ns.fetch_add(static_cast<std::uint64_t>(m.cpu.count()), relaxed);
  }
  if (m.generation != generation_ || !logic_)
    return;
  if (m.thrown)
    std::rethrow_exception(m.thrown);
  logic_->on_done(m.lane, std::move(m.value), *this);
}

// ---- outcomes ----------------------------------------------------------------------------------

void stage_host::settle(const outcome_range& range) {
  outcomes_.add(range);
}

void stage_host::discarded(stream_index stream, std::uint64_t frames) {
  env_.accounts.discarded(wiring_.self, stream, frames);
}

void stage_host::flush_outcomes() {
  outcomes_.flush([this](stage_index settler, outcome_message m) {
    if (settler == wiring_.self)
      on_outcomes(m);
    else
      env_.runs.post(settler, std::move(m));
  });
}

void stage_host::on_outcomes(const outcome_message& m) {
  if (account_) // an unbundle counts what it emits, in order
    for (const auto& range : m.ranges)
      account(range);
  if (logic_)
    logic_->on_outcomes(m.ranges, *this);
  give_complete_ends();
}

/// Counts what is the first outcome of its frame; a later one is discarded.
void stage_host::account(const outcome_range& range) {
  auto rest = range.count;
  for (const auto& piece : account_->add(range)) {
    env_.accounts.settled(wiring_.self, piece);
    rest -= piece.count;
  }
  if (rest > 0)
    discarded(range.stream, rest);
}

/// A sink that ends accounts learns of an end when every frame before it has its outcome: outcomes take
/// a shorter way than ends do, and may come behind them all the same.
void stage_host::give_complete_ends() {
  if (!account_)
    return;
  for (const auto& end : account_->take_complete()) {
    streams_closed_ += end.last_epoch ? 1 : 0;
    if (logic_)
      logic_->on_end(end, *this);
  }
  if (!logic_ && state_ == stage_state::failed && streams_closed_ == wiring_.plan.streams.size())
    env_.listener.accounts_closed(wiring_.self);
}

/// Where no unbundle puts outcomes in order, or one has failed, they are counted as they come.
void stage_host::keep_account_alone() {
  account_ = std::make_unique<settled_frames>();
  for (const auto stream : wiring_.plan.streams) {
    const bool has_emitted = stream < emitted_.size() && emitted_[stream];
    account_->begin_at(stream, has_emitted ? emitted_[stream]->next
                                           : frame_position{wiring_.plan.graph->streams[stream].first_epoch, 0});
  }
  for (const auto& end : ends_given_)
    account_->add(end);
}

void stage_host::count_result(const frame_result& r) {
  if (r.meta.stream >= emitted_.size())
    emitted_.resize(r.meta.stream + 1);
  auto& slot = emitted_[r.meta.stream];
  auto& last = slot ? *slot : slot.emplace();
  last.next = {r.meta.epoch, r.meta.frame_id + 1};
  env_.accounts.settled(wiring_.self,
                        {r.meta.stream, r.meta.epoch, r.meta.frame_id, 1, r.what, r.why});
  const bool delivered = r.what == outcome::delivered;
  if (delivered)
    count_delivered(r, env_.numbers);
  const auto ended = delivered ? r.times.delivered : now();
  auto& stream = env_.numbers.stream(r.meta.stream);
  auto& longest = stream.longest_gap_ns;
  if (!last.since)
    last.since = graph_time{duration{std::max<std::int64_t>(0, stream.first_arrival_ns.load(relaxed))}};
  longest.store(std::max(longest.load(relaxed), (ended - *last.since).count()), relaxed);
  if (delivered)
    last.since = ended;
}

// ---- what is held ------------------------------------------------------------------------------

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
  if (!outcomes_.reaches(settler))
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
