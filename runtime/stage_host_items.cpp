#include "runtime/stage_host.hpp"

#include "runtime/count_items.hpp"
#include "runtime/defaults.hpp"
#include "runtime/settled_frames.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

// Items: from the mailboxes to the logic, and from the logic to the edges below.
namespace hyperframes {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// How long a host works before it lets other messages in; at least one item.
constexpr duration work_slice = std::chrono::microseconds{500};

} // namespace

void stage_host::on_put(put_message& m) {
  auto& box = box_of(m.edge);
  auto& edge = env_.numbers.edge(m.edge);
  edge.items.fetch_add(1, relaxed);
  if (stopped_ || (!logic_ && !pauses())) {
    refuse(box, std::move(m.value));
    return;
  }
  note_taken(m.value, wiring_.self, read_at_);
  if (wiring_.kind->own_queue && logic_ && box.empty()) {
    queue_own(box, std::move(m.value));
    return;
  }
  if (auto evicted = box.put(std::move(m.value), read_at_)) {
    edge.drops.fetch_add(1, relaxed);
    drop(*evicted, reason::edge_full);
    give_credit(box, lane_of(*evicted), held_bytes(*evicted));
  }
  set_depth(box, box.items());
  edge.peak.store(box.peak(), relaxed);
}

/// A file fills its queues because it can; where a live stream does, somebody is too slow for it.
void stage_host::set_depth(const mailbox& box, std::uint32_t depth) {
  const auto index = static_cast<std::size_t>(&box - boxes_.data());
  auto& edge = env_.numbers.edge(box.edge());
  edge.depth.store(depth, relaxed);
  auto& judge = alarms_[index];
  const auto change = judge.at(depth, read_at_);
  edge.average.store(judge.average(), relaxed);
  if (!live_ || change == depth_alarm::change::none)
    return;
  alarm(change == depth_alarm::change::raised
          ? "its queue has been full for " + std::to_string(static_cast<int>(defaults::depth_alarm * 100))
              + " % of its " + std::to_string(box.limits().capacity)
              + " places on average; add a worker, lower the size of hyperframes, or revise budget and time-outs"
          : "its queue has room again");
}

void stage_host::queue_own(mailbox& box, item value) {
  auto& edge = env_.numbers.edge(box.edge());
  const auto& limits = box.limits();
  if (own_queued_ >= limits.capacity) {
    if (!limits.drops())
      throw std::logic_error("an edge got more items than it gave credit for");
    edge.drops.fetch_add(1, relaxed);
    const auto evicted = limits.overflow == overflow_policy::drop_oldest ? logic_->evict(limits.overflow)
                                                                         : std::nullopt;
    drop(evicted ? *evicted : value, reason::edge_full);
    give_credit(box, 0, evicted ? take_own_bytes() : held_bytes(value));
    if (!evicted)
      return;
    --own_queued_;
  }
  if (const auto* b = std::get_if<batch_ptr>(&value))
    count_batch(**b, wiring_.plan.resource ? wiring_.plan.resource->batch_slots : 0, env_.numbers);
  ++own_queued_;
  if (limits.capacity_bytes > 0)
    own_bytes_.push_back(held_bytes(value));
  set_depth(box, own_queued_);
  if (own_queued_ > edge.peak.load(relaxed))
    edge.peak.store(own_queued_, relaxed);
  give_to_logic(std::move(value));
}

void stage_host::release(std::uint32_t count) {
  auto& box = boxes_.front();
  if (count > own_queued_)
    throw std::logic_error("more items left a stage's queue than were in it");
  own_queued_ -= count;
  set_depth(box, own_queued_);
  for (std::uint32_t i = 0; i < count; ++i)
    give_credit(box, 0, take_own_bytes());
}

std::uint64_t stage_host::take_own_bytes() {
  if (own_bytes_.empty())
    return 0;
  const auto bytes = own_bytes_.front();
  own_bytes_.pop_front();
  return bytes;
}

void stage_host::give_credit(mailbox& box, stream_index lane, std::uint64_t bytes) {
  const auto from = wiring_.inputs[static_cast<std::size_t>(&box - boxes_.data())].from;
  if (auto credit = box.gone(lane, bytes))
    env_.runs.post(from, *credit);
  // Where bytes bound an edge, one item can be all that fits: what a lane owes must not wait for others.
  // A queue of the logic's own holds items of many frames, few enough for a message each: owed credit
  // would make its sender drop while there is room, or leave a worker idle.
  const bool waits = !wiring_.kind->own_queue
                     && (box.limits().capacity_bytes > 0 ? !box.empty(lane) : !box.empty());
  if (waits)
    return;
  for (const auto& credit : box.take_owed())
    env_.runs.post(from, credit);
}

void stage_host::drop(const item& i, reason why) {
  outcomes_.add(i, outcome::dropped, why, outcomes_.settlers());
}

/// A stage that was stopped or has failed takes nothing in, and still owes an outcome and the credit.
void stage_host::refuse(mailbox& box, item value) {
  outcomes_.add(value, stopped_ ? outcome::dropped : outcome::failed,
                stopped_ ? reason::stopped : reason::stage_failed, outcomes_.settlers());
  give_credit(box, lane_of(value), held_bytes(value));
}

bool stage_host::wants_work() const {
  // A mailbox of many lanes is not looked through where none of them can go on.
  const bool none_admitted =
    logic_ && !stopped_ && std::ranges::any_of(outlets_, &outlet::blocks_all);
  return state_ != stage_state::init && state_ != stage_state::warm && !none_admitted
         && std::ranges::any_of(boxes_, [this](const mailbox& b) {
              return b.has([&](stream_index lane) { return admits(b, lane); });
            });
}

bool stage_host::admits(const mailbox& box, stream_index lane) const {
  const auto& edge = wiring_.inputs[static_cast<std::size_t>(&box - boxes_.data())];
  // A lane that cannot go on does not hold up the others of a frame edge: `align` may wait for those.
  const bool by_lane = edge.type == port_type::frame;
  if (logic_ && !stopped_
      && std::ranges::any_of(outlets_, [&](const outlet& out) {
           return by_lane ? out.blocked(lane) : out.blocked();
         }))
    return false;
  const bool asks = edge.type == port_type::frame || wiring_.kind->settles;
  if (pauses())
    return false;
  return !logic_ || stopped_ || !asks || logic_->takes(lane);
}

void stage_host::work() {
  const auto begin = read_at_;
  while (wants_work() && overflow_.empty()) {
    auto& box = boxes_[next_box_];
    next_box_ = (next_box_ + 1) % boxes_.size();
    auto entry = box.take(read_at_, [&](stream_index lane) { return admits(box, lane); });
    if (!entry)
      continue;
    set_depth(box, box.items());
    if (auto* i = std::get_if<item>(&*entry)) {
      const auto lane = lane_of(*i);
      const auto bytes = held_bytes(*i);
      if (stopped_ || !logic_) {
        refuse(box, std::move(*i));
        continue;
      }
      if (wiring_.kind->own_queue) { // it waited while the stage paused
        queue_own(box, std::move(*i));
        continue;
      }
      try {
        give_to_logic(std::move(*entry));
      } catch (...) {
        give_credit(box, lane, bytes);
        throw;
      }
      give_credit(box, lane, bytes);
    } else {
      give_to_logic(std::move(*entry));
    }
    if (read_at_ - begin >= work_slice)
      break;
  }
}

void stage_host::give_to_logic(mailbox::entry entry) {
  if (const auto* end = std::get_if<stream_end>(&entry))
    give_to_logic(*end);
  else
    give_to_logic(std::get<item>(std::move(entry)));
}

void stage_host::give_to_logic(const stream_end& end) {
  if (account_) {
    account_->add(end);
    give_complete_ends();
    if (!is_sink()) // an unbundle that has failed: the sinks below it must end all the same
      emit(end);
    return;
  }
  if (!is_sink()) {
    ends_in_logic_.push_back(end);
    ends_given_.push_back(end);
  }
  if (logic_)
    logic_->on_end(end, *this);
  if (!logic_ || stopped_)
    emit_ends_in_logic();
}

void stage_host::give_to_logic(item i) {
  auto& numbers = env_.numbers.stage(wiring_.self);
  numbers.items_in.fetch_add(1, relaxed);
  in_hand_.clear();
  outcome_batch delivered;
  if (account_) {
    // A sink without an unbundle above it: what it has taken is delivered.
    add_outcomes(i, outcome::delivered, reason::none, delivered);
    if (!delivered.empty() && std::ranges::all_of(delivered.ranges(), [this](const outcome_range& r) {
          return account_->has(r);
        })) {
      for (const auto& range : delivered.ranges())
        discarded(range.stream, range.count);
      return;
    }
  }
  add_outcomes(i, outcome::failed, reason::stage_failed, in_hand_);
  const auto begin = read_at_;
  logic_->on_item(std::move(i), *this);
  in_hand_.clear();
  for (const auto& range : delivered.ranges())
    account(range);
  give_complete_ends();
  const auto took = read_clock() - begin;
  numbers.busy_ns.fetch_add(static_cast<std::uint64_t>(took.count()), relaxed);
  numbers.service.record(took);
}

// ---- what the logic sends ----------------------------------------------------------------------

void stage_host::emit(item i, std::size_t output) {
  if (stopped_) {
    drop(i, reason::stopped);
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
    if (sent.out)
      send(outlets_[e], std::move(*sent.out));
    if (!sent.dropped)
      continue;
    env_.numbers.edge(outlets_[e].edge()).drops.fetch_add(1, relaxed);
    const bool fails = wiring_.outputs[e].limits.overflow == overflow_policy::fail;
    if (fails) // at the handler's end: what the logic sends after this item is not lost so
      overflow_ = "the edge to " + wiring_.outputs[e].to_name + " is full, and its policy is `fail`";
    outcomes_.add(*sent.dropped, fails ? outcome::failed : outcome::dropped,
                  fails ? reason::stage_failed : reason::edge_full, wiring_.outputs[e].settlers);
  }
}

void stage_host::emit(const stream_end& end) {
  if (muted_)
    return;
  std::erase_if(ends_in_logic_, [&](const stream_end& e) {
    return e.stream == end.stream && e.epoch == end.epoch;
  });
  for (std::size_t e = 0; e < outlets_.size(); ++e)
    if (wiring_.outputs[e].type != port_type::trigger && outlets_[e].put_end(end)) // no frames pass there
      send(outlets_[e], end);
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
    logic_->on_credit(m.lane, *this);
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

void stage_host::worked(duration cpu) {
  auto& numbers = env_.numbers.stage(wiring_.self);
  numbers.busy_ns.fetch_add(static_cast<std::uint64_t>(cpu.count()), relaxed);
  numbers.cpu_ns.fetch_add(static_cast<std::uint64_t>(cpu.count()), relaxed);
  numbers.service.record(cpu);
}

void stage_host::injected(const std::string& kind, const std::string& where) {
  env_.numbers.injected(where.empty() ? wiring_.plan.name : where, kind);
}

void stage_host::alarm(std::string sentence) {
  env_.numbers.tell({now(), wiring_.plan.name, std::move(sentence), false});
}

} // namespace hyperframes
