#pragma once

#include "runtime/buffer_pool.hpp"
#include "runtime/error.hpp"

#include <memory>
#include <string>

namespace hyperframes {

/// A camera's pool whose slots grow with its pictures.
///
/// A slot holds any picture that is not larger. For a larger one a new pool takes over, with as
/// many slots; the old one goes when all of its slots were given back. Together they take no more
/// than the graph's `memory` allows (memory_reserve). Not thread-safe.
class growing_pool {
public:
  /// Begins anew: nothing is taken before `fit`. @param stats where the slots are counted; may be
  /// null.
  void reset(std::string stream, std::size_t slots, std::shared_ptr<pool_stats> stats);
  /// Makes sure that a slot has `bytes`. @returns `errc::out_of_memory` where the memory for it is
  /// not there; what is in use stays valid, and a smaller picture may still fit.
  expected<void> fit(std::size_t bytes);
  /// @returns a slot, or an empty reference when all are in use.
  buffer_ref acquire() noexcept { return pool_.acquire(); }
  std::size_t slots() const { return slots_; }
  std::size_t slot_bytes() const { return pool_.slot_bytes(); } ///< 0 before `fit`

private:
  std::string stream_;
  std::size_t slots_ = 0;
  std::shared_ptr<pool_stats> stats_;
  buffer_pool pool_;
};

} // namespace hyperframes
