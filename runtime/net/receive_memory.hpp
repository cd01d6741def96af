#pragma once

#include "runtime/buffer_pool.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace hyperframes {

/// Memory for what peers send, up to a bound that the receiver has agreed to. Sizes repeat: those
/// that were used are kept. Thread-safe.
class receive_memory {
public:
  /// Raises or lowers the bound.
  void allow(std::uint64_t bytes);
  void withdraw(std::uint64_t bytes);
  /// @returns at least `bytes` bytes, or an empty buffer where they are beyond the bound.
  buffer_ref take(std::uint64_t bytes);

private:
  std::uint64_t taken() const; ///< by pools that have something in use

  std::mutex mutex_; ///< guards all below
  std::uint64_t allowed_ = 0;
  std::map<std::uint64_t, buffer_pool> pools_; ///< by the size of their slots
};

} // namespace hyperframes
