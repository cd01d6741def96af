#include "actors/trigger_port.hpp"

#include <utility>

namespace hyperframes {

trigger_result trigger_port::fire(std::string_view whose) {
  std::function<void()> wake;
  {
    const std::lock_guard lock{mutex_};
    if (!open_)
      return trigger_result::closed;
    const auto streams = names_.find(whose);
    if (streams == names_.end())
      return trigger_result::unknown;
    if (waiting_.triggers.size() + streams->second.size() > room) {
      ++waiting_.lost;
      return trigger_result::full;
    }
    const auto moment = now_ ? now_() : never;
    for (const auto s : streams->second)
      waiting_.triggers.push_back({moment, s, false});
    ++fired_;
    wake = wake_;
  }
  wake();
  return trigger_result::taken;
}

void trigger_port::refuse(std::string_view why) {
  std::function<void()> wake;
  {
    const std::lock_guard lock{mutex_};
    ++waiting_.refused;
    waiting_.why = why;
    wake = open_ ? wake_ : nullptr;
  }
  if (wake)
    wake();
}

std::uint64_t trigger_port::fired() const {
  const std::lock_guard lock{mutex_};
  return fired_;
}

std::uint64_t trigger_port::refused() const {
  const std::lock_guard lock{mutex_};
  return waiting_.refused;
}

void trigger_port::open(
  std::map<std::string, std::vector<stream_index>, std::less<>> names,
  std::function<graph_time()> now, std::function<void()> wake) {
  const std::lock_guard lock{mutex_};
  names_ = std::move(names);
  now_ = std::move(now);
  wake_ = std::move(wake);
  open_ = true;
}

void trigger_port::close() noexcept {
  const std::lock_guard lock{mutex_};
  open_ = false;
  waiting_.triggers.clear();
}

trigger_port::waiting trigger_port::take(graph_time at) {
  const std::lock_guard lock{mutex_};
  auto taken = waiting_;
  waiting_.triggers.clear();
  for (auto& t : taken.triggers)
    if (t.moment == never)
      t.moment = at;
  return taken;
}

} // namespace hyperframes
