#include "actors/schedule.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace hyperframes {

namespace {

constexpr auto any_room = std::numeric_limits<std::uint32_t>::max();

bool same_shape(const pack_spec& a, const pack_spec& b) {
  return a.width == b.width && a.height == b.height && a.channels == b.channels
         && a.layout == b.layout && a.type == b.type;
}

void add_own(const hyperframe_descriptor& d, outcome what, reason why, outcome_batch& into) {
  for (const auto& s : d.slots)
    if (s.own)
      into.add(s.meta, what, why);
}

} // namespace

scheduler::scheduler(const schedule_options& options) : options_(options) {}

void scheduler::add(hyperframe_ptr h, graph_time now) {
  const auto& d = h->descriptor;
  entry e;
  e.deadline = d.deadline();
  e.expires = std::min(e.deadline, options_.ttl ? later_by(now, *options_.ttl) : never);
  e.slots = static_cast<std::uint32_t>(d.slots.size());
  e.own = static_cast<std::uint32_t>(d.own_count());
  if (options_.order == schedule_order::fair) {
    if (d.group >= shares_.size())
      shares_.resize(d.group + 1);
    shares_[d.group].slots += e.slots;
    quantum_ = std::max(quantum_, e.slots);
  }
  due_ = std::min(due_, e.expires);
  held_ += e.own;
  e.content = std::move(h);
  queue_.push_back(std::move(e));
}

void scheduler::expire(graph_time now, expired& to) {
  if (now < due_)
    return;
  outcome_batch outcomes;
  for (auto at = queue_.begin(); at != queue_.end();) {
    if (at->expires > now) {
      ++at;
      continue;
    }
    const auto why = at->expires == at->deadline ? reason::deadline : reason::ttl;
    const auto place = at - queue_.begin();
    add_own(remove(at)->descriptor, outcome::expired, why, outcomes);
    ++to.hyperframes;
    at = queue_.begin() + place;
  }
  find_due();
  to.outcomes.insert(to.outcomes.end(), outcomes.ranges().begin(), outcomes.ranges().end());
}

batch_ptr scheduler::next(graph_time now) {
  if (queue_.empty())
    return nullptr;
  auto b = std::make_shared<batch>();
  b->number = batches_++;
  b->dispatched = now;
  auto at = first(nullptr, any_room);
  do {
    const auto slots = at->slots;
    b->parts.push_back({remove(at), 0, slots});
    b->slots += slots;
    if (b->slots >= options_.batch_slots)
      break;
    at = first(b->parts.front().source.get(), options_.batch_slots - b->slots);
  } while (at != queue_.end());
  find_due();
  return b;
}

bool scheduler::before(const entry& a, const entry& b) const {
  if (options_.order == schedule_order::priority) {
    const auto pa = a.content->descriptor.priority, pb = b.content->descriptor.priority;
    if (pa != pb)
      return pa > pb;
  }
  return options_.order != schedule_order::fifo && a.deadline < b.deadline;
}

/// @returns the first by the order that fits `room` and the tensor of `like`; the end where none
/// does.
scheduler::queue::iterator scheduler::first(const hyperframe* like, std::uint32_t room) {
  if (options_.order == schedule_order::fair)
    return first_fair(like, room);
  auto best = queue_.end();
  for (auto at = queue_.begin(); at != queue_.end(); ++at)
    if (
      at->slots <= room && (!like || same_shape(like->pack, at->content->pack))
      && (best == queue_.end() || before(*at, *best)))
      best = at;
  return best;
}

scheduler::queue::iterator
scheduler::first_of_group(std::uint32_t group, const hyperframe* like, std::uint32_t room) {
  return std::ranges::find_if(queue_, [&](const entry& e) {
    return e.content->descriptor.group == group && e.slots <= room
           && (!like || same_shape(like->pack, e.content->pack));
  });
}

/// A group whose turn comes gets `quantum_` slots of credit and spends it; no hyperframe is larger
/// than that, so that every turn serves one at least. What a group cannot spend it keeps, up to one
/// turn's.
scheduler::queue::iterator scheduler::first_fair(const hyperframe* like, std::uint32_t room) {
  const auto fits = [&](const entry& e) {
    return e.slots <= room && (!like || same_shape(like->pack, e.content->pack));
  };
  if (std::ranges::none_of(queue_, fits))
    return queue_.end();
  for (;;) {
    auto& s = shares_[turn_];
    const auto at = first_of_group(static_cast<std::uint32_t>(turn_), like, room);
    if (at != queue_.end() && s.deficit >= at->slots) {
      s.deficit -= at->slots;
      return at;
    }
    turn_ = (turn_ + 1) % shares_.size();
    auto& next = shares_[turn_];
    next.deficit = next.slots == 0
                     ? 0
                     : std::min<std::int64_t>(next.deficit + quantum_, 2 * std::int64_t{quantum_});
  }
}

hyperframe_ptr scheduler::evict(overflow_policy policy) {
  if (queue_.empty())
    throw std::logic_error("schedule was asked to evict from an empty queue");
  auto victim = queue_.begin();
  if (policy == overflow_policy::drop_newest) {
    victim = queue_.end() - 1;
  } else if (options_.order == schedule_order::priority) {
    victim = std::ranges::min_element(
      queue_, {}, [](const entry& e) { return e.content->descriptor.priority; });
  } else if (options_.order == schedule_order::fair) {
    const auto largest = std::ranges::max_element(shares_, {}, &share::slots) - shares_.begin();
    victim = first_of_group(static_cast<std::uint32_t>(largest), nullptr, any_room);
  }
  auto h = remove(victim);
  find_due();
  return h;
}

hyperframe_ptr scheduler::remove(queue::iterator at) {
  auto h = std::move(at->content);
  held_ -= at->own;
  if (options_.order == schedule_order::fair) {
    auto& s = shares_[h->descriptor.group];
    s.slots -= at->slots;
    if (s.slots == 0)
      s.deficit = 0;
  }
  queue_.erase(at);
  return h;
}

void scheduler::find_due() {
  due_ = never;
  for (const auto& e : queue_)
    due_ = std::min(due_, e.expires);
}

void scheduler::give_up(outcome what, reason why, outcome_batch& into) {
  for (const auto& e : queue_)
    add_own(e.content->descriptor, what, why, into);
  queue_.clear();
  shares_.clear();
  turn_ = 0;
  held_ = 0;
  due_ = never;
}

} // namespace hyperframes
