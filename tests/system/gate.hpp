#pragma once

#include <condition_variable>
#include <mutex>

namespace hyperframes::test {

/// What a call that hangs waits for: opened when the test is over, and then left to itself.
struct gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool entered = false, open = false;

  void pass() {
    std::unique_lock lock{mutex};
    entered = true;
    changed.notify_all();
    changed.wait(lock, [this] { return open; });
  }
  void wait_until_entered() {
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return entered; });
  }
  void release() {
    const std::lock_guard lock{mutex};
    open = true;
    changed.notify_all();
  }
};

} // namespace hyperframes::test
