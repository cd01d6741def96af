#pragma once

#include "runtime/time.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hyperframes {

/// Finds calls that do not return: names each once when it has taken `patience`, and once more when it
/// has come back. Holds no thread; whoever owns it looks every now and then. Not thread-safe.
class watchdog {
public:
  /// Something that can be in a call: a stage's handler, a worker.
  struct watched {
    std::string name;
    graph_time since = never; ///< in one call since then; `never`: in none
  };
  struct finding {
    std::string name;
    duration taken{};
    bool back = false; ///< it has returned
  };

  explicit watchdog(duration patience) : patience_(patience) {}

  /// @returns what has changed since the last look.
  std::vector<finding> look(const std::vector<watched>& all, graph_time now);
  /// How many hang now.
  std::size_t hanging() const { return told_.size(); }

private:
  duration patience_;
  std::map<std::string, graph_time> told_; ///< by name: since when
};

} // namespace hyperframes
