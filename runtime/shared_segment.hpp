#pragma once

#include "runtime/shared_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

/// One piece of shared memory, as its owner and as a borrower have it.
namespace hyperframes::detail {

/// What stands at its begin. A generation (64 bits) a slot follows, then from the next page on the
/// slots.
struct segment_header {
  static constexpr std::uint64_t expected_magic = 0x31656d6172667948; // "Hyframe1"
  std::uint64_t magic = expected_magic;
  std::array<std::uint64_t, 2> nonce{};
  std::uint64_t slots = 0;
  std::uint64_t stride = 0;              ///< bytes from slot to slot
  std::atomic<std::uint64_t> retired{0}; ///< 1 once the pool is gone: nothing new will come
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The owner's.
class owned_segment final : public pool_memory {
public:
  static expected<std::unique_ptr<owned_segment>> make(std::size_t slots, std::size_t stride);
  ~owned_segment() override;
  const segment_address& address() const { return address_; }

private:
  owned_segment() = default;
  segment_address address_;
  std::span<std::byte> mapping_;
};

/// A borrower's: for reading, checked against what it says of itself.
class borrowed_segment {
public:
  static expected<std::unique_ptr<borrowed_segment>> map(const segment_address& from);
  borrowed_segment(const borrowed_segment&) = delete;
  borrowed_segment& operator=(const borrowed_segment&) = delete;
  ~borrowed_segment();

  const segment_address& address() const { return address_; }
  std::size_t mapped_bytes() const { return mapping_.size(); }
  bool retired() const;
  /// @returns the content that `h` names, or why it is not there (any more).
  expected<std::span<const std::byte>> content(const shared_handle& h) const;

private:
  borrowed_segment() = default;
  expected<void> check();
  const segment_header& header() const;

  segment_address address_;
  std::span<const std::byte> mapping_;
  std::size_t slots_ = 0, stride_ = 0, first_ = 0; ///< as checked; the owner may change its own
};

} // namespace hyperframes::detail
