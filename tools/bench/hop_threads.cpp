#include "runtime/frame.hpp"
#include "tools/bench/hop.hpp"
#include "tools/bench/measure.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace hyperframes::bench {

namespace {

/// The bounded queue that everybody has written once.
class queue {
public:
  void push(std::optional<frame> f) { // none: the end
    std::unique_lock lock{mutex_};
    room_.wait(lock, [this] { return items_.size() < capacity; });
    items_.push_back(std::move(f));
    filled_.notify_one();
  }
  std::optional<frame> pop() {
    std::unique_lock lock{mutex_};
    filled_.wait(lock, [this] { return !items_.empty(); });
    auto f = std::move(items_.front());
    items_.pop_front();
    room_.notify_one();
    return f;
  }

private:
  static constexpr std::size_t capacity = 8;
  std::mutex mutex_;
  std::condition_variable room_, filled_;
  std::deque<std::optional<frame>> items_;
};

} // namespace

double thread_chain(const chain_load& load) {
  const auto before = cpu_seconds();
  std::vector<std::unique_ptr<queue>> queues;
  for (unsigned i = 0; i <= load.stages; ++i)
    queues.push_back(std::make_unique<queue>());
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < load.stages; ++i)
    threads.emplace_back([from = queues[i].get(), to = queues[i + 1].get()] {
      while (auto f = from->pop())
        to->push(std::move(f));
      to->push(std::nullopt);
    });
  threads.emplace_back([last = queues.back().get()] {
    while (last->pop())
      ;
  });
  pace due{load.every};
  for (std::uint64_t i = 0; i < load.frames; ++i) {
    due.wait();
    queues.front()->push(frame{});
  }
  queues.front()->push(std::nullopt);
  for (auto& t : threads)
    t.join();
  return cpu_seconds() - before;
}

} // namespace hyperframes::bench
