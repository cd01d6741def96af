#include "actors/schedule.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace hyperframes {

namespace {

constexpr auto any_room = std::numeric_limits<std::uint32_t>::max();

duration between(graph_time a, graph_time b) {
  return a < b ? b - a : a - b;
}

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
  e.came = now;
  e.lane = d.slots.front().meta.stream;
  e.expires = std::min(e.deadline, options_.ttl ? later_by(now, *options_.ttl) : never);
  e.slots = static_cast<std::uint32_t>(d.slots.size());
  e.own = static_cast<std::uint32_t>(d.own_count());
  if (options_.order == schedule_order::fair) {
    if (d.group >= shares_.size())
      shares_.resize(d.group + 1);
    shares_[d.group].slots += e.slots;
    ++shares_[d.group].hyperframes;
    quantum_ = std::max(quantum_, e.slots);
  }
  if (e.lane >= lanes_.size())
    lanes_.resize(e.lane + 1);
  auto& l = lanes_[e.lane];
  if (d.first_slot == 0) { // what follows a first part is no further hyperframe
    if (l.known)
      l.period = l.period == duration{0} ? now - l.came : l.period + (now - l.came - l.period) / 4;
    l.known = true;
    l.came = now;
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

batch_ptr scheduler::next(graph_time now, duration needed) {
  const auto reach = later_by(now, needed);
  choice c{nullptr, any_room, reach, false};
  auto at = first(c);
  if (at == queue_.end()) {
    c.late = true;
    c.reach = graph_time::min();
    at = first(c);
  }
  if (at == queue_.end())
    return nullptr;
  auto b = make_recycled<batch>();
  b->number = batches_++;
  b->dispatched = now;
  do {
    pass_over(at, reach);
    const auto slots = at->slots;
    auto& turn = lanes_[at->lane].left = ++turns_;
    if (options_.order == schedule_order::fair)
      shares_[at->content->descriptor.group].left = turn;
    b->parts.push_back({remove(at), 0, slots});
    b->slots += slots;
    if (b->slots >= options_.batch_slots)
      break;
    c.like = b->parts.front().source.get();
    c.room = options_.batch_slots - b->slots;
    at = first(c);
  } while (at != queue_.end());
  find_due();
  return b;
}

bool scheduler::before(const entry& a, const entry& b, bool late) const {
  if (options_.order == schedule_order::priority) {
    const auto pa = a.content->descriptor.priority, pb = b.content->descriptor.priority;
    if (pa != pb)
      return pa > pb;
  }
  if (late)
    return a.deadline > b.deadline;
  return (options_.order == schedule_order::deadline || options_.order == schedule_order::priority)
         && a.deadline < b.deadline;
}

bool scheduler::admits(const choice& c, const entry& e) const {
  return !e.passed_over && e.slots <= c.room && e.deadline >= c.reach
         && (!c.like || same_shape(c.like->pack, e.content->pack));
}

/// @returns whether two have equal claims; not of one lane, whose order is fixed.
bool scheduler::equal(const entry& a, const entry& b, bool by_deadline) const {
  if (
    options_.order == schedule_order::priority
    && a.content->descriptor.priority != b.content->descriptor.priority)
    return false;
  const auto near = std::min(lanes_[a.lane].period, lanes_[b.lane].period) / 2;
  if (!by_deadline || (a.deadline == never && b.deadline == never))
    return between(a.came, b.came) < near;
  return a.deadline != never && b.deadline != never && between(a.deadline, b.deadline) < near;
}

/// @returns the first by the order that `c` admits; the end where there is none.
scheduler::queue::iterator scheduler::first(const choice& c) {
  if (options_.order == schedule_order::fair)
    return first_fair(c);
  return first_of(c, [](const entry&) { return true; });
}

template <class Of>
scheduler::queue::iterator scheduler::first_of(const choice& c, Of of) {
  const auto best_of = [&](auto counts) {
    auto best = queue_.end();
    for (auto at = queue_.begin(); at != queue_.end(); ++at)
      if (
        counts(*at) && of(*at) && admits(c, *at)
        && (best == queue_.end() || before(*at, *best, c.late)))
        best = at;
    return best;
  };
  const auto best = best_of([](const entry&) { return true; });
  if (best == queue_.end())
    return best;
  const bool by_deadline = c.late || options_.order == schedule_order::deadline
                           || options_.order == schedule_order::priority;
  auto turn = best->lane;
  for (const auto& e : queue_)
    if (
      of(e) && admits(c, e) && lanes_[e.lane].left < lanes_[turn].left
      && equal(*best, e, by_deadline))
      turn = e.lane;
  return turn == best->lane ? best : best_of([turn](const entry& e) { return e.lane == turn; });
}

/// A group whose turn comes gets `quantum_` slots of credit and spends it; no hyperframe is larger
/// than that, so that every turn serves one at least. What a group cannot spend it keeps, up to one
/// turn's.
scheduler::queue::iterator scheduler::first_fair(const choice& c) {
  if (std::ranges::none_of(queue_, [&](const entry& e) { return admits(c, e); }))
    return queue_.end();
  for (;;) {
    auto& s = shares_[turn_];
    const auto at =
      first_of(c, [this](const entry& e) { return e.content->descriptor.group == turn_; });
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

/// What is older than `chosen` in its lane and cannot be in time will not leave any more.
void scheduler::pass_over(queue::iterator chosen, graph_time reach) {
  for (auto at = queue_.begin(); at != chosen; ++at)
    if (at->lane == chosen->lane && at->deadline < reach)
      at->passed_over = true;
}

/// @returns the oldest, or of those with an equal claim that of the lane that has not made room for
/// longest; where none of them ever has, of the one that was served last.
template <class Of>
scheduler::queue::iterator scheduler::oldest_of(Of of) {
  const auto oldest = std::ranges::find_if(queue_, of);
  auto victim = oldest;
  const auto claim = [this](const entry& e) {
    const auto& l = lanes_[e.lane];
    return std::pair{l.made_room, std::numeric_limits<std::uint64_t>::max() - l.left};
  };
  for (auto at = oldest; at != queue_.end(); ++at)
    if (of(*at) && equal(*oldest, *at, false) && claim(*at) < claim(*victim))
      victim = at;
  return victim;
}

std::uint32_t scheduler::fullest_group() const {
  const auto claim = [](const share& s) {
    return std::tuple{
      s.hyperframes, std::numeric_limits<std::uint64_t>::max() - s.made_room, s.left};
  };
  return static_cast<std::uint32_t>(std::ranges::max_element(shares_, {}, claim) - shares_.begin());
}

hyperframe_ptr scheduler::evict(overflow_policy policy) {
  if (queue_.empty())
    throw std::logic_error("schedule was asked to evict from an empty queue");
  auto victim = queue_.end() - 1;
  if (policy != overflow_policy::drop_newest) {
    if (options_.order == schedule_order::priority) {
      const auto priority = [](const entry& e) { return e.content->descriptor.priority; };
      const auto lowest = priority(*std::ranges::min_element(queue_, {}, priority));
      victim = oldest_of([&](const entry& e) { return priority(e) == lowest; });
    } else if (options_.order == schedule_order::fair) {
      victim = oldest_of(
        [group = fullest_group()](const entry& e) { return e.content->descriptor.group == group; });
    } else {
      victim = oldest_of([](const entry&) { return true; });
    }
  }
  auto& turn = lanes_[victim->lane].made_room = ++turns_;
  if (options_.order == schedule_order::fair)
    shares_[victim->content->descriptor.group].made_room = turn;
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
    --s.hyperframes;
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
  lanes_.clear();
  shares_.clear();
  turn_ = 0;
  held_ = 0;
  due_ = never;
}

} // namespace hyperframes
