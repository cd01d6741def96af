#include "runtime/watchdog.hpp"

namespace hyperframes {

std::vector<watchdog::finding> watchdog::look(const std::vector<watched>& all, graph_time now) {
  std::vector<finding> found;
  for (const auto& w : all) {
    const auto told = told_.find(w.name);
    if (told != told_.end() && told->second != w.since) {
      found.push_back({w.name, now - told->second, true});
      told_.erase(told);
    }
    if (w.since != never && now - w.since >= patience_ && told_.emplace(w.name, w.since).second)
      found.push_back({w.name, now - w.since, false});
  }
  return found;
}

} // namespace hyperframes
