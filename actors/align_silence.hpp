#pragma once

#include "runtime/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace hyperframes {

/// Finds the mute members of a live group.
///
/// A member is silent once another one gives a frame at
///   t + max(grace, 3 periods)
/// or later, where t is when another member gave a frame for the first time after its own last one
/// and after the group's last pause, and a period is that of its declared rate, or the least of its
/// last four gaps where that is longer. The group has paused when a member's frame is the first of
/// all for that member's own max(grace, 3 periods). It is back with its next frame. Not
/// thread-safe; never allocates after construction.
class silence_watch {
public:
  struct change {
    std::uint32_t member = 0;
    bool silent = false;
    /// Arrival of its last frame before the silence; none: it has never given one.
    std::optional<graph_time> since{};
  };

  /// @param periods by member, zero where unknown.
  silence_watch(duration grace, const std::vector<duration>& periods);

  /// A frame came. @returns that the member is back, where it was silent.
  std::optional<change> came(std::uint32_t member, graph_time now);
  /// It is not watched until it gives a frame again, and not silent.
  void ended(std::uint32_t member);
  /// @returns a member that has become silent with the last frame that came; call until there is
  /// none.
  std::optional<change> next_silent();
  bool silent(std::uint32_t member) const { return members_[member].silent; }

private:
  struct member_state {
    std::optional<graph_time> last;
    graph_time missed = never; ///< others have given frames since
    duration period{};
    std::array<duration, 4> gaps{};
    std::uint32_t gap_count = 0;
    bool silent = false, ended = false;
  };
  duration patience(const member_state& m) const;

  duration grace_;
  std::optional<graph_time> last_; ///< frame of any member
  std::vector<member_state> members_;
};

} // namespace hyperframes
