#pragma once

#include "runtime/stage.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hyperframes {

/// Knows when a sink has seen the last of its streams.
///
/// A stream is over when the end of its last epoch has come and, where this sink ends accounts,
///   own frames that came + frames with an outcome >= frames captured.
/// The second is needed because outcomes take a shorter way than the end does and may still come
/// after it.
class stream_ends {
public:
  /// @param settles whether the sink ends accounts: `stage_plan::settles`.
  stream_ends(std::span<const stream_index> streams, bool settles);

  void add(const item& i);
  void add(std::span<const outcome_range> ranges);
  void add(const stream_end& end);
  bool all_over() const;

private:
  struct account {
    stream_index stream = 0;
    std::uint64_t captured = 0; ///< in the epochs that have ended
    std::uint64_t settled = 0;
    bool ended = false;
  };
  account* find(stream_index stream);

  std::vector<account> accounts_;
  bool settles_;
};

} // namespace hyperframes
