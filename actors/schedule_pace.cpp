#include "actors/schedule_pace.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>
#include <utility>

namespace hyperframes {

dispatch_pace::dispatch_pace(std::uint32_t workers) : workers_(std::max(1U, workers)) {}

void dispatch_pace::left(graph_time now) {
  under_way_.push_back(now);
}

void dispatch_pace::back(std::uint32_t batches, graph_time now) {
  for (; batches > 0 && !under_way_.empty(); --batches) {
    auto begin = under_way_.front();
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
      continue;
    }
    const auto off = service - mean_;
    mean_ += off / 8;
    deviation_ += ((off < duration{0} ? -off : off) - deviation_) / 4;
  }
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
