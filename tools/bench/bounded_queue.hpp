#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

namespace hyperframes::bench {

/// The bounded queue that everybody has written once: what peers made of threads use.
template <class T>
class bounded_queue {
public:
  explicit bounded_queue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for room; a closed queue takes nothing.
  void push(T item) {
    std::unique_lock lock{mutex_};
    room_.wait(lock, [this] { return closed_ || items_.size() < capacity_; });
    if (closed_)
      return;
    items_.push_back(std::move(item));
    filled_.notify_one();
  }
  void close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    filled_.notify_all();
    room_.notify_all();
  }
  /// Waits for an item; none once the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock{mutex_};
    filled_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty())
      return std::nullopt;
    std::optional<T> item{std::move(items_.front())};
    items_.pop_front();
    room_.notify_one();
    return item;
  }

private:
  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable room_, filled_;
  std::deque<T> items_;
  bool closed_ = false;
};

} // namespace hyperframes::bench
