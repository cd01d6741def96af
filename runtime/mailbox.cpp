#include "runtime/mailbox.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

template <class T>
void append_to(boost::circular_buffer<T>& ring, T value) {
  if (ring.full())
    ring.set_capacity(std::max<std::size_t>(8, ring.capacity() * 2));
  ring.push_back(std::move(value));
}

} // namespace

std::uint32_t edge_limits::lot() const {
  return std::max(1U, std::min(defaults::credit_lot, capacity / 4));
}

mailbox::mailbox(edge_index edge, const edge_limits& limits)
  : edge_(edge), limits_(limits), lanes_(std::max(1U, limits.lanes)) {}

mailbox::lane_state& mailbox::lane(stream_index index) {
  if (index >= lanes_.size())
    lanes_.resize(index + 1);
  return lanes_[index];
}

void mailbox::append(stream_index index, held value) {
  append_to(lane(index).ring, std::move(value));
  append_to(order_, index);
}

std::optional<item> mailbox::put(item value, graph_time now) {
  const auto index = lane_of(value);
  auto& l = lane(index);
  if (l.items >= limits_.credit())
    throw std::logic_error("an edge got more items than it gave credit for");
  const auto frames = own_frames(value);
  if (l.items < limits_.capacity) {
    append(index, {std::move(value), now});
    ++l.items;
    ++items_;
    frames_ += frames;
    peak_ = std::max(peak_, l.items);
    return std::nullopt;
  }
  if (limits_.overflow == overflow_policy::drop_newest)
    return value;
  // The oldest item of the lane leaves; ends keep their place in front of what follows them, so the
  // newcomer takes over the last place in the order and the first one's token stays valid.
  const auto victim = std::ranges::find_if(l.ring, [](const held& h) {
    return std::holds_alternative<item>(h.value);
  });
  auto evicted = std::get<item>(std::move(victim->value));
  l.ring.erase(victim);
  append_to(l.ring, held{std::move(value), now});
  frames_ += frames;
  frames_ -= own_frames(evicted);
  return evicted;
}

void mailbox::put_end(const stream_end& end) {
  const auto index = lanes_.size() > 1 ? end.stream : stream_index{0};
  append(index, {end, {}});
}

/// Takes the oldest entry of the lane at `place` in the order.
mailbox::entry mailbox::take_at(std::size_t place, graph_time now) {
  auto& l = lanes_[order_[place]];
  if (place == 0)
    order_.pop_front();
  else
    order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(place));
  auto first = std::move(l.ring.front());
  l.ring.pop_front();
  if (const auto* i = std::get_if<item>(&first.value)) {
    --l.items;
    --items_;
    frames_ -= own_frames(*i);
    last_wait_ = now - first.since;
  }
  return std::move(first.value);
}

std::optional<credit_message> mailbox::gone(stream_index index, std::uint64_t bytes) {
  auto& l = lane(index);
  if (!std::exchange(l.listed, true))
    owing_.push_back(index);
  ++l.owed;
  l.owed_bytes += bytes;
  if (l.owed < limits_.lot())
    return std::nullopt;
  return credit_message{edge_, index, std::exchange(l.owed, 0), std::exchange(l.owed_bytes, 0)};
}

recycled_vector<credit_message> mailbox::take_owed() {
  recycled_vector<credit_message> result;
  for (const auto i : owing_) {
    auto& l = lanes_[i];
    l.listed = false;
    if (l.owed > 0)
      result.push_back({edge_, i, std::exchange(l.owed, 0), std::exchange(l.owed_bytes, 0)});
  }
  owing_.clear();
  return result;
}

} // namespace hyperframes
