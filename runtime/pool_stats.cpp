#include "runtime/pool_stats.hpp"

#include "runtime/buffer_pool.hpp"

#include <algorithm>

namespace hyperframes {

bool memory_reserve::take(std::uint64_t bytes) noexcept {
  auto left = left_.load(std::memory_order_relaxed);
  do {
    if (bytes > left)
      return false;
  } while (!left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
  return true;
}

pool_stats::pool_stats(
  std::string name, std::string owner, std::uint64_t planned,
  std::shared_ptr<memory_reserve> reserve, std::shared_ptr<memory_backing> backing)
  : name_(std::move(name)),
    owner_(std::move(owner)),
    planned_(planned),
    reserve_(std::move(reserve)),
    backing_(backing ? std::move(backing) : heap_backing()) {}

bool pool_stats::admit(std::size_t slots, std::size_t bytes) noexcept {
  const std::lock_guard lock{mutex_};
  if (reserve_ && !reserve_->take(beyond(bytes_ + bytes) - beyond(bytes_)))
    return false;
  slots_ += slots;
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  return true;
}

void pool_stats::dismiss(std::size_t slots, std::size_t bytes) noexcept {
  const std::lock_guard lock{mutex_};
  if (reserve_)
    reserve_->give_back(beyond(bytes_) - beyond(bytes_ - bytes));
  slots_ -= slots;
  bytes_ -= bytes;
}

void pool_stats::watch(const detail::counted_pool& pool) {
  const std::lock_guard lock{mutex_};
  pools_.push_back(&pool);
}

void pool_stats::forget(const detail::counted_pool& pool) noexcept {
  const std::lock_guard lock{mutex_};
  std::erase(pools_, &pool);
}

void pool_stats::taken() noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  const auto now = in_use_.fetch_add(1, relaxed) + 1;
  auto peak = peak_in_use_.load(relaxed);
  while (peak < now && !peak_in_use_.compare_exchange_weak(peak, now, relaxed))
    ;
}

pool_stats::numbers pool_stats::now() const {
  const std::lock_guard lock{mutex_};
  numbers n{
    slots_,
    in_use_.load(std::memory_order_relaxed),
    peak_in_use_.load(std::memory_order_relaxed),
    bytes_,
    peak_bytes_,
    {}};
  for (const auto* pool : pools_)
    if (const auto held = pool->oldest(); held && (!n.oldest || held->since < n.oldest->since))
      n.oldest = held;
  return n;
}

} // namespace hyperframes
