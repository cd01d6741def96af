#include "runtime/net/receive_memory.hpp"

#include "runtime/error.hpp"

#include <algorithm>

namespace hyperframes {

namespace {
constexpr std::uint64_t most_slots = 64;
}

void receive_memory::allow(std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  allowed_ += bytes;
  std::erase_if(pools_, [](const auto& p) { return p.second.in_use() == 0; }); // of the old bound
}

void receive_memory::withdraw(std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  allowed_ -= std::min(allowed_, bytes);
  std::erase_if(pools_, [](const auto& p) { return p.second.in_use() == 0; });
}

std::uint64_t receive_memory::taken() const {
  std::uint64_t bytes = 0;
  for (const auto& [size, pool] : pools_)
    bytes += pool.in_use() * size;
  return bytes;
}

buffer_ref receive_memory::take(std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  if (bytes == 0 || bytes > allowed_ || taken() > allowed_ - bytes)
    return {};
  auto found = pools_.find(bytes);
  if (found == pools_.end()) {
    // Slots cost nothing before they are first written, and an idle size makes place for a new one.
    std::erase_if(pools_, [](const auto& p) { return p.second.in_use() == 0; });
    found =
      pools_
        .emplace(
          bytes,
          buffer_pool{
            static_cast<std::size_t>(std::clamp<std::uint64_t>(allowed_ / bytes, 1, most_slots)),
            static_cast<std::size_t>(bytes)})
        .first;
  }
  return found->second.acquire();
}

} // namespace hyperframes
