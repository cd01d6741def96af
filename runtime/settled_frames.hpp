#pragma once

#include "runtime/outcome.hpp"
#include "runtime/stage.hpp"

#include <boost/icl/interval_set.hpp>

#include <map>
#include <optional>
#include <vector>

namespace hyperframes {

/// Which frames have had their outcome in one account, and which epochs have all of theirs: what a sink
/// needs that ends accounts without an unbundle above it. Not thread-safe.
///
/// An epoch is complete when its end is known, every frame below has an outcome, and the epochs before
/// it are complete. Takes room for the holes between the frames that have ended, not for the frames.
class settled_frames {
public:
  /// Says that every frame of `stream` before `next` had its outcome. For a stream that is new here.
  void begin_at(stream_index stream, frame_position next);
  /// @returns the pieces of `range` that had no outcome so far, in order.
  std::vector<outcome_range> add(const outcome_range& range);
  /// @returns true where every frame of `range` has an outcome.
  bool has(const outcome_range& range) const;
  void add(const stream_end& end);
  /// @returns the ends of the epochs that became complete since the last call.
  std::vector<stream_end> take_complete();

private:
  using ids = boost::icl::interval_set<std::uint64_t>;
  struct epoch {
    ids settled;
    std::uint64_t count = 0; ///< of `settled`
    std::optional<stream_end> end;
  };
  struct stream {
    std::uint32_t first_open = 0; ///< the epochs before it are complete
    std::map<std::uint32_t, epoch> open;
  };
  std::map<stream_index, stream> streams_;
};

} // namespace hyperframes
