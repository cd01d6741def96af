#pragma once

#include "runtime/buffer_pool.hpp"
#include "runtime/pool_stats.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

/// What stands behind a `buffer_ref`.
namespace hyperframes::detail {

struct pool_slot;

/// Where a slot lies in the memory of its pool.
struct slot_place {
  const pool_memory* memory = nullptr; ///< null: it is not of a pool of this process
  std::uint32_t index = 0;
};

/// Whose slots go back when their last reference does: a pool, or what was borrowed.
class slot_home {
public:
  /// Runs on the thread that gave up the last reference.
  virtual void take_back(pool_slot& s) noexcept = 0;
  virtual slot_place place(const pool_slot& s) const noexcept = 0;

protected:
  ~slot_home() = default;
};

/// No time was noted since the slot was taken.
inline constexpr std::int64_t not_noted = std::numeric_limits<std::int64_t>::min();

struct pool_slot {
  std::atomic<std::uint32_t> references{0};
  std::atomic<std::uint32_t> stage{held_slot::nobody}; ///< as in `held_slot`
  std::atomic<std::int64_t> since{not_noted};          ///< ns; as in `held_slot`
  std::atomic<bool> lent{false};                       ///< one of the references is a decoder's
  bool borrowed = false;                               ///< the lender holds a reference too
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  slot_home* home = nullptr;

  /// Gives the slot out: nothing is noted, and the result is its only reference.
  buffer_ref give_out() noexcept;
  /// As long as a stage holds it.
  std::optional<held_slot> held() const noexcept;
  static const pool_slot* of(const buffer_ref& r) noexcept { return r.slot_; }
};

} // namespace hyperframes::detail
