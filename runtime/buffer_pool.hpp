#pragma once

#include "runtime/error.hpp"
#include "runtime/time.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace hyperframes {

class pool_stats;

/// The memory of one pool; it goes with the object.
class pool_memory {
public:
  pool_memory() = default;
  pool_memory(const pool_memory&) = delete;
  pool_memory& operator=(const pool_memory&) = delete;
  virtual ~pool_memory() = default;
  /// One slot behind the other, aligned to 64.
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// A counter a slot, which the pool raises before it gives the slot out, so that other processes
  /// know whether the slot is still the one that they were told of. Empty where none can see it.
  std::span<std::atomic<std::uint64_t>> generations() const noexcept { return generations_; }

protected:
  std::span<std::byte> bytes_;
  std::span<std::atomic<std::uint64_t>> generations_;
};

/// Where a pool's memory comes from: the heap, shared memory (shared_memory.hpp), pinned host
/// memory. Thread-safe.
class memory_backing {
public:
  virtual ~memory_backing() = default;
  /// @param stride bytes from slot to slot, a multiple of 64; `slots * stride` is below 2^64.
  /// @returns the memory, or why it cannot be had: the end of a sentence that begins with what was
  /// wanted.
  virtual expected<std::unique_ptr<pool_memory>>
  allocate(std::size_t slots, std::size_t stride) = 0;
};

std::shared_ptr<memory_backing> heap_backing();

namespace detail {
struct pool_core;
struct pool_slot;
} // namespace detail

/// A counted reference to one slot of a pool. The slot goes back when the last reference does,
/// from whichever thread that is. Empty by default.
///
/// Whoever fills the slot is its only holder until it shares it; from then on nobody writes. What
/// was borrowed from another process (shared_import.hpp) cannot be written at all.
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
  bool unique() const noexcept; ///< true where no other reference exists, in no other process either
  /// Notes for the metrics that `stage` (index in its graph) has taken the slot in. Whoever fills
  /// it says `held_slot::nobody`. The slot counts as in use since the first note. Any thread; costs
  /// two relaxed stores at the most.
  void note_taken(std::uint32_t stage, graph_time when) const noexcept;
  /// Notes that a decoder holds this reference: where it is the only one, no stage holds the slot.
  void note_lent(bool lent) const noexcept;

private:
  friend struct detail::pool_slot;
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
  /// Takes all memory at once, from the backing that `stats` names, without `stats` from the heap.
  /// Throws `failure` (out_of_memory) when there is none, or where it would be beyond the bound of
  /// `stats`.
  /// @param stats where its slots are counted; null: nowhere.
  buffer_pool(
    std::size_t slots, std::size_t slot_bytes, std::shared_ptr<pool_stats> stats = nullptr);
  /// The same with memory from `backing`, which is not null.
  buffer_pool(
    std::size_t slots, std::size_t slot_bytes, std::shared_ptr<pool_stats> stats,
    const std::shared_ptr<memory_backing>& backing);
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
