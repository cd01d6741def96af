#include "runtime/telemetry.hpp"

namespace hyperframes {

telemetry::telemetry(std::size_t stages, std::size_t edges, std::size_t streams,
                     std::function<void(const event&)> listener)
  : listener_(std::move(listener)) {
  for (std::size_t i = 0; i < stages; ++i)
    stages_.push_back(std::make_unique<stage_stats>());
  for (std::size_t i = 0; i < edges; ++i)
    edges_.push_back(std::make_unique<edge_stats>());
  for (std::size_t i = 0; i < streams; ++i)
    streams_.push_back(std::make_unique<stream_stats>());
}

std::shared_ptr<pool_stats> telemetry::add_pool(
  std::string name, std::string owner, std::uint64_t planned,
  std::shared_ptr<memory_reserve> reserve,
  std::shared_ptr<memory_backing> backing) {
  pools_.push_back(
    std::make_shared<pool_stats>(std::move(name), std::move(owner), planned, std::move(reserve), std::move(backing)));
  return pools_.back();
}

void telemetry::injected(const std::string& where, const std::string& kind) {
  const std::lock_guard lock{mutex_};
  ++injected_[{where, kind}];
}

telemetry::fault_counts_by_place telemetry::injected() const {
  const std::lock_guard lock{mutex_};
  return injected_;
}

void telemetry::tell(const event& e) noexcept {
  if (!listener_)
    return;
  try {
    listener_(e);
  } catch (...) {
    events_untold.fetch_add(1, std::memory_order_relaxed);
  }
}

} // namespace hyperframes
