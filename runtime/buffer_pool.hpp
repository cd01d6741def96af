#pragma once

#include "runtime/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace hyperframes {

class pool_stats;

/// Where a pool's memory comes from: the heap, POSIX shared memory, pinned host memory.
class memory_backing {
public:
  virtual ~memory_backing() = default;
  /// @returns `bytes` bytes aligned to 64, or an empty span where there are none.
  virtual std::span<std::byte> allocate(std::size_t bytes) = 0;
  virtual void release(std::span<std::byte> memory) noexcept = 0;
};

std::shared_ptr<memory_backing> heap_backing();

namespace detail {
struct pool_core;
struct pool_slot;
} // namespace detail

/// A counted reference to one slot of a pool. The slot goes back when the last reference does,
/// from whichever thread that is. Empty by default.
///
/// Whoever fills the slot is its only holder until it shares it; from then on nobody writes.
class buffer_ref {
public:
  buffer_ref() = default;
  buffer_ref(const buffer_ref& other) noexcept;
  buffer_ref(buffer_ref&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  buffer_ref& operator=(buffer_ref other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~buffer_ref();

  explicit operator bool() const noexcept { return slot_ != nullptr; }
  std::byte* data() const noexcept;
  std::size_t size() const noexcept; ///< bytes of the slot; 0 when empty
  bool unique() const noexcept;      ///< true where no other reference exists
  /// Notes for the metrics that `stage` (index in its graph) has taken the slot in. Whoever fills
  /// it says `held_slot::nobody`. The slot counts as in use since the first note. Any thread; costs
  /// two relaxed stores at the most.
  void note_taken(std::uint32_t stage, graph_time when) const noexcept;
  /// Notes that a decoder holds this reference: where it is the only one, no stage holds the slot.
  void note_lent(bool lent) const noexcept;

private:
  friend class buffer_pool;
  explicit buffer_ref(detail::pool_slot* slot) noexcept : slot_(slot) {}
  detail::pool_slot* slot_ = nullptr;
};

/// A fixed number of slots of one size, 64-byte aligned, reference counted.
///
/// Its size is given once; it never grows. Thread-safe. References may outlive the pool object:
/// the memory goes when the last of them does.
class buffer_pool {
public:
  buffer_pool() = default;
  /// Takes all memory at once. Throws `failure` (out_of_memory) when the backing has none, or where
  /// it would be beyond the bound of `stats`.
  /// @param stats where its slots are counted; null: nowhere.
  buffer_pool(
    std::size_t slots, std::size_t slot_bytes, std::shared_ptr<pool_stats> stats = nullptr,
    std::shared_ptr<memory_backing> backing = heap_backing());
  buffer_pool(buffer_pool&&) noexcept;
  buffer_pool& operator=(buffer_pool&&) noexcept;
  ~buffer_pool();

  /// @returns a slot, or an empty reference when all are in use. Never blocks, never allocates.
  buffer_ref acquire() noexcept;

  std::size_t slots() const noexcept;
  std::size_t slot_bytes() const noexcept;
  std::size_t in_use() const noexcept;
  std::size_t peak_in_use() const noexcept;

private:
  detail::pool_core* core_ = nullptr;
};

} // namespace hyperframes
