#pragma once

#include "runtime/time.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

class memory_backing;

/// A slot in use: since when, and which stage took it in last.
struct held_slot {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0}; ///< it is where it was filled
  graph_time since{};
  std::uint32_t stage = nobody; ///< index in its graph
};

namespace detail {
/// A pool that is counted.
class counted_pool {
public:
  /// @returns of the slots in use that which was taken first; none where no time was noted for any.
  virtual std::optional<held_slot> oldest() const = 0;

protected:
  ~counted_pool() = default;
};
} // namespace detail

/// What a graph may take beyond its plan: the rest of what `memory` allows. Pools draw on it whose
/// slots have to grow, or that come while frames of the one before them are held. Thread-safe.
class memory_reserve {
public:
  explicit memory_reserve(std::uint64_t bytes) : left_(bytes) {}
  /// @returns false where less is left; nothing is taken then.
  bool take(std::uint64_t bytes) noexcept;
  void give_back(std::uint64_t bytes) noexcept {
    left_.fetch_add(bytes, std::memory_order_relaxed);
  }
  std::uint64_t left() const noexcept { return left_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> left_;
};

/// What all pools that serve one purpose have in use together: those of a stream, also while a new
/// one stands beside an old one that empties; the tensors of a stage.
///
/// At any time their memory is at most planned + what they drew from the reserve.
/// Thread-safe. Outlives its pools, whose last slots may be given back after the graph's end.
class pool_stats {
public:
  /// @param name as in `explain`, @param owner the stage that fills the slots, @param planned
  /// bytes,
  /// @param reserve for what they take beyond; null: there is no bound.
  /// @param backing where their memory comes from; null: the heap.
  pool_stats(
    std::string name, std::string owner, std::uint64_t planned = 0,
    std::shared_ptr<memory_reserve> reserve = nullptr,
    std::shared_ptr<memory_backing> backing = nullptr);

  struct numbers {
    std::size_t slots = 0; ///< of all pools that exist
    std::size_t in_use = 0, peak_in_use = 0;
    std::size_t bytes = 0, peak_bytes = 0; ///< of all slots
    std::optional<held_slot> oldest;
  };
  /// Looks at every slot: for scrapes, not for hot paths.
  numbers now() const;

  const std::string& name() const { return name_; }
  const std::string& owner() const { return owner_; }

  const std::shared_ptr<memory_backing>& backing() const { return backing_; } ///< never null

  // --- for the pools that are counted here
  /// Before the memory of a pool is taken. @returns false where it would be beyond the bound.
  bool admit(std::size_t slots, std::size_t bytes) noexcept;
  /// When the memory was given back.
  void dismiss(std::size_t slots, std::size_t bytes) noexcept;
  void watch(const detail::counted_pool& pool);
  void forget(const detail::counted_pool& pool) noexcept;
  void taken() noexcept;
  void given_back() noexcept { in_use_.fetch_sub(1, std::memory_order_relaxed); }

private:
  std::uint64_t beyond(std::uint64_t bytes) const {
    return bytes > planned_ ? bytes - planned_ : 0;
  }

  std::string name_, owner_;
  std::uint64_t planned_;
  std::shared_ptr<memory_reserve> reserve_;
  std::shared_ptr<memory_backing> backing_;
  std::atomic<std::size_t> in_use_{0}, peak_in_use_{0};
  mutable std::mutex mutex_; ///< guards all below
  std::vector<const detail::counted_pool*> pools_;
  std::size_t slots_ = 0, bytes_ = 0, peak_bytes_ = 0;
};

} // namespace hyperframes
