#pragma once

#include "runtime/net/link_hub.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace hyperframes::test {

/// How long a test waits for what must come; never for what must not.
inline constexpr std::chrono::seconds patience{60};

/// Bytes by which a process may grow that took nothing: what tests take themselves.
/// AddressSanitizer keeps up to 256 MB of what was freed; a field that claims 4 GB is found all the
/// same.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::uint64_t memory_margin = std::uint64_t{512} << 20;
#else
inline constexpr std::uint64_t memory_margin = std::uint64_t{24} << 20;
#endif

inline std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Keeps what a link tells, and lets a test wait for it: waits return false where it never came.
/// Receives bulk into a pool of its own.
class heard : public link_user {
public:
  struct message {
    lane on;
    std::string head;
    std::vector<bulk_part> bulk;
  };

  explicit heard(std::size_t slots = 8, std::size_t slot_bytes = 1 << 16)
    : pool_(slots, slot_bytes) {}

  void up(std::uint32_t incarnation) override {
    note([&] { ups_.push_back(incarnation); });
  }
  void down(const std::string& why) override {
    note([&] { downs_.push_back(why); });
  }
  bool place(
    std::span<const std::byte>, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) override {
    for (const auto size : sizes)
      if (size == 0)
        into.emplace_back();
      else if (auto slot = pool_.acquire())
        into.push_back(std::move(slot));
      else
        return false;
    return true;
  }
  void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override {
    note([&] { messages_.push_back({on, text_of(head), std::move(bulk)}); });
  }

  bool wait_up(std::size_t times = 1) {
    return wait([&] { return ups_.size() >= times; });
  }
  bool wait_down(std::size_t times = 1) {
    return wait([&] { return downs_.size() >= times; });
  }
  bool wait_messages(std::size_t count) {
    return wait([&] { return messages_.size() >= count; });
  }
  void forget_messages() {
    std::vector<message> gone;
    const std::lock_guard lock{mutex_};
    gone.swap(messages_);
  }
  std::uint32_t incarnation() {
    const std::lock_guard lock{mutex_};
    return ups_.empty() ? 0 : ups_.back();
  }
  const buffer_pool& pool() const { return pool_; }

  std::vector<std::uint32_t> ups() {
    const std::lock_guard lock{mutex_};
    return ups_;
  }
  std::vector<std::string> downs() {
    const std::lock_guard lock{mutex_};
    return downs_;
  }
  std::vector<message> messages() {
    const std::lock_guard lock{mutex_};
    return messages_;
  }

protected:
  void note(const std::function<void()>& change) {
    {
      const std::lock_guard lock{mutex_};
      change();
    }
    changed_.notify_all();
  }

private:
  bool wait(const std::function<bool()>& holds) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, holds);
  }
  buffer_pool pool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> ups_; ///< guarded by `mutex_`, as are the next two
  std::vector<std::string> downs_;
  std::vector<message> messages_;
};

/// Sentences of refused connections.
class refusals {
public:
  std::function<void(const std::string&)> listener() {
    return [this](const std::string& sentence) {
      {
        const std::lock_guard lock{mutex_};
        all_.push_back(sentence);
      }
      changed_.notify_all();
    };
  }
  bool wait(std::size_t count) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, [&] { return all_.size() >= count; });
  }
  std::vector<std::string> all() {
    const std::lock_guard lock{mutex_};
    return all_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

/// Waits for what nobody tells of. @returns false: it never held.
inline bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::yield();
  }
  return true;
}

inline link_id id_of(unsigned char token, std::uint32_t opener = 1, std::uint32_t acceptor = 2) {
  link_id id{.token = {}, .opener = opener, .acceptor = acceptor};
  id.token.fill(std::byte{token});
  return id;
}

/// Bytes of a slot, drawn from `seed`.
inline bulk_part drawn(buffer_ref slot, std::uint64_t bytes, unsigned seed) {
  for (std::uint64_t i = 0; i < bytes; ++i)
    slot.data()[i] = static_cast<std::byte>((i * 31 + seed) ^ (i >> 8));
  return {std::move(slot), bytes};
}

inline bool same(const bulk_part& a, const bulk_part& b) {
  return a.bytes == b.bytes
         && (a.bytes == 0 || std::memcmp(a.buffer.data(), b.buffer.data(), a.bytes) == 0);
}

} // namespace hyperframes::test
