#include "runtime/outlet.hpp"

#include <algorithm>
#include <stdexcept>

namespace hyperframes {

outlet::outlet(
  edge_index edge, stage_index target, const edge_limits& limits,
  const std::vector<credit_message>& used)
  : edge_(edge), target_(target), limits_(limits), lanes_(std::max(1U, limits.lanes)) {
  for (const auto& u : used) {
    auto& l = lane(u.lane);
    l.under_way += u.items;
    l.bytes += limits.counted(u.bytes);
    under_way_ += u.items;
  }
}

outlet::lane_state& outlet::lane(stream_index index) {
  if (index >= lanes_.size())
    lanes_.resize(index + 1);
  return lanes_[index];
}

bool outlet::admits(const lane_state& l, std::uint64_t bytes) const {
  if (l.under_way >= limits_.credit())
    return false;
  return limits_.capacity_bytes == 0 || l.under_way == 0
         || l.bytes + bytes <= limits_.capacity_bytes;
}

void outlet::count_sent(lane_state& l, const item& i) {
  ++l.under_way;
  ++under_way_;
  if (limits_.capacity_bytes > 0)
    l.bytes += held_bytes(i);
}

void outlet::wait(lane_state& l, item value) {
  waiting_frames_ += own_frames(value);
  ++waiting_items_;
  ++l.items_waiting;
  l.waiting.emplace_back(std::move(value));
}

outlet::sent outlet::put(item value) {
  sent result;
  auto& l = lane(lane_of(value));
  if (l.waiting.empty() && admits(l, held_bytes(value))) {
    count_sent(l, value);
    result.out = std::move(value);
    return result;
  }
  switch (limits_.overflow) {
    case overflow_policy::block:
      wait(l, std::move(value));
      break;
    case overflow_policy::drop_newest:
      if (l.items_waiting > 0) {
        ++drops_;
        result.dropped = std::move(value);
      } else {
        wait(l, std::move(value));
      }
      break;
    case overflow_policy::drop_oldest:
      if (l.items_waiting > 0) {
        const auto oldest = std::ranges::find_if(
          l.waiting, [](const mailbox::entry& e) { return std::holds_alternative<item>(e); });
        result.dropped = std::get<item>(std::move(*oldest));
        l.waiting.erase(oldest);
        --l.items_waiting;
        --waiting_items_;
        waiting_frames_ -= own_frames(*result.dropped);
        ++drops_;
      }
      wait(l, std::move(value));
      break;
    case overflow_policy::fail:
      ++drops_;
      result.dropped = std::move(value);
      break;
  }
  return result;
}

bool outlet::put_end(const stream_end& end) {
  auto& l = lane(lanes_.size() > 1 ? end.stream : stream_index{0});
  if (l.waiting.empty())
    return true;
  l.waiting.emplace_back(end);
  return false;
}

recycled_vector<mailbox::entry> outlet::grant(const credit_message& credit) {
  auto& l = lane(credit.lane);
  const auto bytes = limits_.counted(credit.bytes);
  if (credit.items > l.under_way || bytes > l.bytes)
    throw std::logic_error("an edge got more credit back than it gave");
  l.under_way -= credit.items;
  l.bytes -= bytes;
  under_way_ -= credit.items;
  recycled_vector<mailbox::entry> result;
  while (!l.waiting.empty()) {
    if (auto* i = std::get_if<item>(&l.waiting.front())) {
      if (!admits(l, held_bytes(*i)))
        break;
      count_sent(l, *i);
      --l.items_waiting;
      --waiting_items_;
      waiting_frames_ -= own_frames(*i);
    }
    result.push_back(std::move(l.waiting.front()));
    l.waiting.pop_front();
  }
  return result;
}

std::uint32_t outlet::credit(stream_index index) const {
  if (index >= lanes_.size())
    return limits_.credit();
  const auto& l = lanes_[index];
  const auto used = l.under_way + l.items_waiting;
  return used >= limits_.credit() ? 0 : limits_.credit() - used;
}

std::vector<mailbox::entry> outlet::take_waiting() {
  std::vector<mailbox::entry> result;
  for (auto& l : lanes_) {
    std::ranges::move(l.waiting, std::back_inserter(result));
    l.waiting.clear();
    l.items_waiting = 0;
  }
  waiting_items_ = 0;
  waiting_frames_ = 0;
  return result;
}

} // namespace hyperframes
