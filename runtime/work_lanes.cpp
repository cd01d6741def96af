#include "runtime/work_lanes.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>

namespace hyperframes {

/// Shared by its thread and its owner, so that a thread left behind keeps what it needs.
struct work_lanes::lane {
  std::mutex mutex;
  std::condition_variable changed;
  recycled_deque<job> jobs;
  bool closing = false;
  bool finished = false;
  std::optional<std::chrono::steady_clock::time_point> since; ///< in a job
  std::thread thread;

  void run() {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [this] { return closing || !jobs.empty(); });
      if (closing)
        break;
      auto work = std::move(jobs.front());
      jobs.pop_front();
      since = std::chrono::steady_clock::now();
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
      since.reset();
    }
    jobs.clear();
    finished = true;
    changed.notify_all();
  }
};

work_lanes::~work_lanes() {
  close(std::chrono::hours{24 * 365});
}

void work_lanes::submit(std::uint64_t index, job work) {
  std::shared_ptr<lane> target;
  {
    const std::lock_guard lock{mutex_};
    auto& entry = lanes_[index];
    if (!entry) {
      entry = std::make_shared<lane>();
      entry->thread = std::thread{[l = entry] { l->run(); }};
    }
    target = entry;
  }
  {
    const std::lock_guard lock{target->mutex};
    target->jobs.push_back(std::move(work));
  }
  target->changed.notify_all();
}

std::vector<work_lanes::busy_lane> work_lanes::busy() const {
  std::vector<busy_lane> result;
  const std::lock_guard lock{mutex_};
  for (const auto& [index, l] : lanes_) {
    const std::lock_guard one{l->mutex};
    if (l->since)
      result.push_back({index, *l->since});
  }
  return result;
}

std::vector<std::uint64_t> work_lanes::close(
  std::chrono::milliseconds patience, const std::function<void(const busy_lane&)>& late) {
  std::map<std::uint64_t, std::shared_ptr<lane>> lanes;
  {
    const std::lock_guard lock{mutex_};
    lanes.swap(lanes_);
  }
  for (auto& [index, l] : lanes) {
    const std::lock_guard lock{l->mutex};
    l->closing = true;
    l->changed.notify_all();
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto wait_for_all = [&](std::chrono::milliseconds most) {
    return std::ranges::all_of(lanes, [&](const auto& entry) {
      std::unique_lock lock{entry.second->mutex};
      return entry.second->changed.wait_until(
        lock, begin + most, [&] { return entry.second->finished; });
    });
  };
  if (late && patience > usual_end && !wait_for_all(usual_end))
    for (const auto& [index, l] : lanes) {
      std::unique_lock lock{l->mutex};
      const auto since = l->since;
      lock.unlock();
      if (since)
        late({index, *since});
    }
  wait_for_all(patience);
  std::vector<std::uint64_t> left;
  for (const auto& [index, l] : lanes) {
    std::unique_lock lock{l->mutex};
    if (!l->finished) {
      left.push_back(index);
      l->thread.detach();
      continue;
    }
    lock.unlock();
    l->thread.join();
  }
  return left;
}

} // namespace hyperframes
