#include "tools/bench/bounded_queue.hpp"
#include "tools/bench/lock_waits.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace hyperframes::bench;

namespace {

const bool seen = (see_lock_waits(), true); // while there is one thread

/// What is counted while it lives.
struct counted {
  lock_waits before = lock_waits_so_far();
  std::uint64_t times() const { return lock_waits_so_far().times - before.times; }
  hyperframes::duration took() const { return lock_waits_so_far().took - before.took; }
};

void until(auto is_so) {
  while (!is_so())
    std::this_thread::yield();
}

/// A thread that waits for `go`.
struct waiter {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> has_lock = false;
  bool go = false;
  std::thread thread{[this] {
    std::unique_lock lock{mutex};
    has_lock = true;
    changed.wait(lock, [this] { return go; });
  }};
  /// Takes the lock when the thread waits.
  std::unique_lock<std::mutex> lock_while_it_waits() {
    until([this] { return has_lock.load(); });
    std::unique_lock lock{mutex, std::defer_lock};
    until([&] { return lock.try_lock(); });
    return lock;
  }
};

} // namespace

TEST_CASE("a lock that is free costs no wait") {
  std::mutex mutex;
  const counted count;
  for (int i = 0; i < 1000; ++i)
    const std::lock_guard lock{mutex};
  CHECK(count.times() == 0);
}

TEST_CASE("a lock that is taken is waited for until it is free") {
  std::mutex mutex;
  const counted count;
  std::unique_lock lock{mutex};
  std::thread other{[&] { const std::lock_guard mine{mutex}; }};
  until([] { return waiting_for_locks() == 1; });
  const auto begin = std::chrono::steady_clock::now();
  until([&] { return std::chrono::steady_clock::now() > begin; });
  const auto held = std::chrono::steady_clock::now() - begin;
  lock.unlock();
  other.join();
  CHECK(count.times() == 1);
  CHECK(count.took() >= held);
  CHECK(waiting_for_locks() == 0);
}

TEST_CASE("readers wait for a writer, and a writer for readers") {
  for (const bool writer_has_it : {true, false}) {
    std::shared_mutex mutex;
    const counted count;
    writer_has_it ? mutex.lock() : mutex.lock_shared();
    std::thread other{[&] {
      if (writer_has_it)
        const std::shared_lock mine{mutex};
      else
        const std::unique_lock mine{mutex};
    }};
    until([] { return waiting_for_locks() == 1; });
    writer_has_it ? mutex.unlock() : mutex.unlock_shared();
    other.join();
    CHECK(count.times() == 1);
  }
}

TEST_CASE("a thread that waits for work waits for no lock") {
  const counted count;
  waiter w;
  auto lock = w.lock_while_it_waits();
  w.go = true;
  lock.unlock();
  w.changed.notify_one();
  w.thread.join();
  CHECK(count.times() == 0);
}

TEST_CASE("a thread that got work waits for the lock that it must have back") {
  const counted count;
  waiter w;
  auto lock = w.lock_while_it_waits();
  w.go = true;
  w.changed.notify_all();
  until([] { return waiting_for_locks() == 1; });
  lock.unlock();
  w.thread.join();
  CHECK(count.times() == 1);
  CHECK(count.took() > hyperframes::duration{0});
}

TEST_CASE("waits with an end come to it, on both clocks") {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock{mutex};
  const auto steady = std::chrono::steady_clock::now() + 2ms;
  CHECK_FALSE(never.wait_until(lock, steady, [] { return false; }));
  CHECK(std::chrono::steady_clock::now() >= steady);
  const auto wall = std::chrono::system_clock::now() + 2ms;
  CHECK_FALSE(never.wait_until(lock, wall, [] { return false; }));
  CHECK(std::chrono::system_clock::now() >= wall);
}

TEST_CASE("no signal is lost between threads that wait for each other") {
  constexpr int items = 20'000;
  bounded_queue<int> there{1}, back{1};
  std::jthread other{[&] {
    while (auto i = there.pop())
      back.push(*i + 1);
  }};
  long sum = 0;
  for (int i = 0; i < items; ++i) {
    there.push(i);
    sum += *back.pop() - i;
  }
  there.close();
  CHECK(sum == items);
}
