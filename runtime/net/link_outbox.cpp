#include "runtime/net/link_outbox.hpp"

#include <utility>

namespace hyperframes {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::uint64_t bytes_of(const auto& messages) {
  std::uint64_t sum = 0;
  for (const auto& m : messages)
    sum += m.bytes;
  return sum;
}

} // namespace

void link_outbox::open(std::uint32_t incarnation) {
  const std::lock_guard lock{mutex_};
  incarnation_.store(incarnation, std::memory_order_release);
}

void link_outbox::close() {
  std::array<std::deque<message>, lanes> gone; // let go outside of the lock
  {
    const std::lock_guard lock{mutex_};
    incarnation_.store(0, std::memory_order_release);
    gone.swap(waiting_);
  }
  for (const auto& messages : gone) {
    queued_.fetch_sub(bytes_of(messages), relaxed);
    discarded_.fetch_add(messages.size(), relaxed);
  }
}

bool link_outbox::push(std::uint32_t incarnation, lane on, message m) {
  const std::lock_guard lock{mutex_};
  if (incarnation == 0 || incarnation != incarnation_.load(relaxed)) {
    discarded_.fetch_add(1, relaxed);
    return false;
  }
  auto& waiting = waiting_[static_cast<std::size_t>(on)];
  const bool first = waiting.empty();
  queued_.fetch_add(m.bytes, relaxed);
  waiting.push_back(std::move(m));
  return first;
}

void link_outbox::take(lane on, std::vector<message>& into) {
  const std::lock_guard lock{mutex_};
  auto& waiting = waiting_[static_cast<std::size_t>(on)];
  for (std::uint64_t bytes = 0;
       !waiting.empty() && bytes < batch_bytes && into.size() < batch_messages;) {
    bytes += waiting.front().bytes;
    into.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
}

void link_outbox::written(const std::vector<message>& batch) {
  const auto bytes = bytes_of(batch);
  queued_.fetch_sub(bytes, relaxed);
  bytes_sent_.fetch_add(bytes, relaxed);
  messages_sent_.fetch_add(batch.size(), relaxed);
}

void link_outbox::discarded(const std::vector<message>& batch) {
  queued_.fetch_sub(bytes_of(batch), relaxed);
  discarded_.fetch_add(batch.size(), relaxed);
}

void link_outbox::received(std::uint64_t messages, std::uint64_t bytes) {
  messages_received_.fetch_add(messages, relaxed);
  bytes_received_.fetch_add(bytes, relaxed);
}

link_counters link_outbox::counters() const {
  return {
    messages_sent_.load(relaxed), bytes_sent_.load(relaxed), messages_received_.load(relaxed),
    bytes_received_.load(relaxed), discarded_.load(relaxed)};
}

} // namespace hyperframes
