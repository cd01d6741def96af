#include "actors/schedule_pace.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>
#include <utility>

namespace hyperframes {

dispatch_pace::dispatch_pace(std::uint32_t workers) : workers_(std::max(1U, workers)) {}

void dispatch_pace::left(const dispatched& batch, graph_time now) {
  under_way_.emplace_back(batch, now);
}

std::optional<dispatch_pace::returned> dispatch_pace::back(graph_time now) {
  if (under_way_.empty())
    return std::nullopt;
  auto [batch, begin] = under_way_.front();
  under_way_.pop_front();
  if (returned_.size() == workers_) {
    begin = std::max(begin, returned_.front());
    returned_.pop_front();
  }
  returned_.push_back(now);
  const auto service = now - begin;
  if (!std::exchange(known_, true)) {
    mean_ = service;
    deviation_ = service / 4;
  } else {
    const auto off = service - mean_;
    mean_ += off / 8;
    deviation_ += ((off < duration{0} ? -off : off) - deviation_) / 4;
  }
  return returned{batch, service};
}

bool dispatch_pace::quick() const {
  return known_ && mean_ < defaults::quick_batch;
}

duration dispatch_pace::needed() const {
  if (!known_)
    return duration{0};
  const auto service = mean_ + 2 * deviation_;
  return worker_free() ? service : 2 * service;
}

} // namespace hyperframes
