#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hyperframes {

/// Which of a fixed number of slots are free; the one that was given back last is taken first. Any
/// thread; nobody waits for another. Allocates when it is made only.
///
/// A stack without a lock, after R. K. Treiber, "Systems Programming: Coping with Parallelism"
/// (IBM, 1986). Beside its top stands a count that each step changes: a top that went and came back
/// meanwhile, so that another lies below it, is not taken for one that has stayed.
class free_slots {
public:
  /// None of the `count` slots is free. At most 2^32 - 2.
  explicit free_slots(std::size_t count) : below_(count) {}

  void put(std::uint32_t slot) noexcept {
    auto seen = look();
    do {
      below_[slot].store(top_of(seen), std::memory_order_relaxed);
    } while (!top_.compare_exchange_weak(
      seen, next(seen, slot + 1), std::memory_order_release, std::memory_order_relaxed));
  }
  /// @returns nothing where none is free.
  std::optional<std::uint32_t> take() noexcept {
    auto seen = look();
    while (top_of(seen) != none)
      if (take_as_seen(seen))
        return top_of(seen) - 1;
    return std::nullopt;
  }

  // The two steps of `take`, for tests: between them others may do theirs.
  using state = std::uint64_t;
  state look() const noexcept { return top_.load(std::memory_order_acquire); }
  /// @returns false where the stack is not as it was `seen`, not empty; then `seen` is as it is
  /// now.
  bool take_as_seen(state& seen) noexcept {
    const auto below = below_[top_of(seen) - 1].load(std::memory_order_relaxed);
    return top_.compare_exchange_strong(
      seen, next(seen, below), std::memory_order_acquire, std::memory_order_acquire);
  }

private:
  static constexpr std::uint32_t none = 0; // otherwise one above the slot's index
  static std::uint32_t top_of(state s) noexcept { return static_cast<std::uint32_t>(s); }
  static state next(state seen, std::uint32_t top) noexcept {
    return ((seen >> 32) + 1) << 32 | top;
  }

  std::vector<std::atomic<std::uint32_t>> below_; ///< of each free slot: what lies below it
  std::atomic<state> top_{none};                  ///< the count, then the slot
};

} // namespace hyperframes
