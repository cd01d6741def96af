#pragma once

#include "runtime/net/link.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace hyperframes {

/// Messages of a link that wait to be written, and what is counted of them. Thread-safe.
class link_outbox {
public:
  struct message {
    std::vector<std::byte> header, head;
    std::vector<bulk_part> bulk;
    std::uint64_t bytes = 0; ///< of head and bulk
  };

  void open(std::uint32_t incarnation);
  /// Discards what waits.
  void close();
  std::uint32_t incarnation() const { return incarnation_.load(std::memory_order_acquire); }

  /// Discards the message where `incarnation` is not open.
  /// @returns true where the lane was empty: whoever writes is to be woken.
  bool push(std::uint32_t incarnation, lane on, message m);
  /// Appends what is to be written next: messages of `batch_bytes` together, at least one where one
  /// waits.
  void take(lane on, std::vector<message>& into);
  /// `batch` was written, or never will be.
  void written(const std::vector<message>& batch);
  void discarded(const std::vector<message>& batch);
  void received(std::uint64_t messages, std::uint64_t bytes);

  std::uint64_t queued_bytes() const { return queued_.load(std::memory_order_relaxed); }
  link_counters counters() const;

private:
  static constexpr std::uint64_t batch_bytes = std::uint64_t{256} << 10;
  static constexpr std::size_t batch_messages = 64;

  std::mutex mutex_;
  std::array<std::deque<message>, lanes> waiting_; ///< guarded by `mutex_`
  std::atomic<std::uint32_t> incarnation_{0};      ///< written under `mutex_`
  std::atomic<std::uint64_t> queued_{0}, messages_sent_{0}, bytes_sent_{0}, messages_received_{0},
    bytes_received_{0}, discarded_{0};
};

} // namespace hyperframes
