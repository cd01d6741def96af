#pragma once

#include "runtime/frame.hpp"
#include "runtime/outcome.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hyperframes {

/// The last moments of a lane, for triggers that ask for what came before them. Moments are numbered
/// from 0 in the order in which they came; the numbers go on when the ring is emptied.
///
///   if (auto* oldest = ring.full()) ...;      // say what becomes of its frames
///   auto& m = ring.push();                    // fill every entry of it
///   for (auto n = ring.begin(); n < ring.end(); ++n) ring.at(n);
///
/// Keeps its frames' buffers in use. Allocates at construction only. Not thread-safe.
class moment_ring {
public:
  struct entry {
    std::optional<frame> content;
    bool own = false; ///< its outcome is owed by the ring
    bool gap = false; ///< frames of its stream are missing before it
    reason absent = reason::none;
  };
  struct moment {
    std::vector<entry> entries; ///< one a member
    graph_time place{};         ///< on the time line
    graph_time arrived{};
  };

  moment_ring(std::uint32_t size, std::size_t members);

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  bool full() const { return end_ - begin_ == slots_.size(); }
  moment& at(std::uint64_t number) { return slots_[number % slots_.size()]; }
  const moment& at(std::uint64_t number) const { return slots_[number % slots_.size()]; }
  /// Room for one more, with entries that are empty. The ring must not be full.
  moment& push();
  /// Lets the oldest go.
  void pop();
  /// The first moment at or after `t` on the time line; `end()` where all are before it.
  std::uint64_t first_from(graph_time t) const;

private:
  std::vector<moment> slots_;
  std::uint64_t begin_ = 0, end_ = 0;
};

} // namespace hyperframes
