#pragma once

#include "runtime/defaults.hpp"
#include "runtime/time.hpp"

#include <optional>

namespace hyperframes {

/// When a stage that fails begins anew.
///
/// The k-th failure in a row (k = 0, 1, ...) is followed by a pause of
///   p_0 = 0, p_k = restart_pause * 2^(k - 1),
/// as long as p_0 + ... + p_k <= restart_time; after that it stays failed. Failures are in a row
/// that are not further apart than `restart_calm`, the pause not counted. Not thread-safe.
class restart_times {
public:
  /// @returns how long to pause; none where the stage is to stay failed.
  std::optional<duration> after_failure(graph_time now) {
    if (last_ && now - *last_ - pause_ > defaults::restart_calm)
      *this = {};
    pause_ = last_ ? next_ : duration{0};
    next_ = last_ ? next_ * 2 : next_;
    last_ = now;
    if (pause_ > defaults::restart_time - paused_)
      return std::nullopt;
    paused_ += pause_;
    return pause_;
  }

private:
  std::optional<graph_time> last_; ///< failure
  duration pause_{};               ///< after it
  duration next_ = defaults::restart_pause;
  duration paused_{}; ///< in this row
};

} // namespace hyperframes
