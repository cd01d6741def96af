#pragma once

#include "runtime/item.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hyperframes {

/// What became of a trigger that somebody fired.
enum class trigger_result {
  taken,   ///< on its way
  full,    ///< too many wait already: it is lost
  unknown, ///< no stream, group or stage has that name
  closed,  ///< the graph is not running
};

/// Where triggers come in from other threads: from the program, and from what listens at a network
/// address. Shared by them and the stage; either may go first.
///
///   port->fire();                // the hyperframes of all streams, or of those that the stage names
///   port->fire("station1.cam2"); // of one stream, or of the streams of a group
///
/// Thread-safe; never blocks.
class trigger_port {
public:
  /// Triggers that may wait for the stage to take them.
  static constexpr std::size_t room = 256;

  /// The trigger's moment is now.
  trigger_result fire(std::string_view whose = {});
  /// Counts what was asked for in a way that has no meaning.
  /// @param why a sentence of ours, never text of the sender's.
  void refuse(std::string_view why);

  std::uint64_t fired() const;   ///< requests that were taken
  std::uint64_t refused() const; ///< that had no meaning, or named nothing

  // For the stage.

  struct waiting {
    std::vector<trigger> triggers;
    std::uint64_t refused = 0; ///< since the start
    std::uint64_t lost = 0;    ///< since the start: the port was full
    std::string why;           ///< the last refusal
  };
  /// @param names the streams that each name stands for; the empty one those of a bare trigger.
  /// @param now none: a trigger's moment is when the stage takes it.
  void open(std::map<std::string, std::vector<stream_index>, std::less<>> names,
            std::function<graph_time()> now, std::function<void()> wake);
  void close() noexcept;
  /// @param at the moment of triggers whose arrival was not stamped.
  waiting take(graph_time at);

private:
  mutable std::mutex mutex_; ///< guards all below
  bool open_ = false;
  std::map<std::string, std::vector<stream_index>, std::less<>> names_;
  std::function<graph_time()> now_;
  std::function<void()> wake_; ///< not called under the lock
  waiting waiting_;
  std::uint64_t fired_ = 0;
};

} // namespace hyperframes
