#pragma once

#include "runtime/pool_stats.hpp"
#include "runtime/recycled.hpp"
#include "runtime/shared_memory.hpp"

#include <cstdint>
#include <memory>

namespace hyperframes {

namespace detail {
struct import_core;
}

/// Borrows buffers of other processes of this host, for reading: who writes into one dies of it.
///
/// The memory of a pool is mapped when its first buffer is opened, and stays mapped for the next
/// ones: until its pool is gone or its process is forgotten, and its last buffer is released. That
/// a pool is gone is seen as other buffers are opened and released. An owner that dies leaves what
/// is mapped as it is.
///
/// A borrower that was taken for dead and is not may see the owner write into what it reads; its
/// results come too late and are discarded.
///
/// Thread-safe. Buffers may outlive the importer. In steady state nothing is taken from the heap.
class shared_importer {
public:
  /// @param stats where open buffers are counted, with their holders; they have no slots or bytes
  /// of this process. Null: nowhere.
  /// @param most_pools that are mapped at once. Beyond it those without an open buffer go.
  explicit shared_importer(
    std::shared_ptr<pool_stats> stats = nullptr, std::size_t most_pools = 4096);
  shared_importer(const shared_importer&) = delete;
  shared_importer& operator=(const shared_importer&) = delete;
  ~shared_importer();

  /// @param on_release runs when the last reference goes, on that thread, once, without a lock of
  /// ours, and must not throw; it returns the loan. Where `open` fails, it does not run.
  /// @returns the buffer, or why there is none: each value of `h` is checked, its generation
  /// included, before anything of the memory is read.
  expected<buffer_ref> open(const shared_handle& h, recycled_function<void> on_release);
  /// The process is gone: what it lent is unmapped as its buffers are released.
  void forget(std::int32_t process);

  struct numbers {
    std::size_t pools = 0, mapped_bytes = 0; ///< that are mapped
    std::size_t buffers = 0;                 ///< that are open
  };
  numbers now() const;

private:
  std::shared_ptr<detail::import_core> core_;
};

} // namespace hyperframes
