#include "runtime/recycled.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HYPERFRAMES_HEAP_ONLY
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HYPERFRAMES_HEAP_ONLY // it finds uses of what is gone only where that went to the heap
#endif

namespace hyperframes {

#ifdef HYPERFRAMES_HEAP_ONLY

void* take_recycled(std::size_t bytes) {
  return ::operator new(bytes);
}
void give_recycled(void* memory, std::size_t) noexcept {
  ::operator delete(memory);
}

#else

// Magazines, after Bonwick and Adams, "Magazines and Vmem" (USENIX 2001): a thread has two lots of
// each size and passes whole lots on, so that a lock is taken once in a lot however blocks wander.

namespace {

constexpr std::size_t least = 32, most = std::size_t{1} << 16;
constexpr auto sizes =
  static_cast<std::size_t>(std::countr_zero(most) - std::countr_zero(least)) + 1;

/// What stands in a block that is free.
struct block {
  block* next = nullptr;     ///< in its lot
  block* next_lot = nullptr; ///< of the first one in a lot that lies on a shelf
  std::size_t count = 0;     ///< the same: blocks in the lot
};
static_assert(sizeof(block) <= least);

struct lot {
  block* first = nullptr;
  std::size_t count = 0;
};

std::size_t size_index(std::size_t bytes) {
  return static_cast<std::size_t>(
    std::countr_zero(std::bit_ceil(std::max(bytes, least))) - std::countr_zero(least));
}

constexpr std::size_t full(std::size_t index) {
  return std::clamp<std::size_t>(4096 / (least << index), 1, 32);
}

/// Lots of one size that no thread has.
class shelf {
public:
  void put(lot l) {
    if (l.count == 0)
      return;
    l.first->count = l.count;
    const std::lock_guard lock{mutex_};
    l.first->next_lot = std::exchange(first_, l.first);
  }
  lot take() {
    const std::lock_guard lock{mutex_};
    if (!first_)
      return {};
    auto* taken = std::exchange(first_, first_->next_lot);
    return {taken, taken->count};
  }

private:
  std::mutex mutex_;
  block* first_ = nullptr;
};

/// Never destroyed: threads may end after everything else.
std::array<shelf, sizes>& shelves() {
  static auto& all = *new std::array<shelf, sizes>;
  return all;
}

struct hand {
  std::array<lot, sizes> current{}, spare{};
  ~hand();
};
thread_local bool hand_is_gone = false;
thread_local hand own;

hand::~hand() {
  for (std::size_t i = 0; i < sizes; ++i) {
    shelves()[i].put(current[i]);
    shelves()[i].put(spare[i]);
  }
  hand_is_gone = true;
}

} // namespace

void* take_recycled(std::size_t bytes) {
  if (bytes > most)
    return ::operator new(bytes);
  const auto index = size_index(bytes);
  if (hand_is_gone)
    return ::operator new(least << index);
  auto& current = own.current[index];
  if (current.count == 0)
    std::swap(current, own.spare[index]);
  if (current.count == 0)
    current = shelves()[index].take();
  if (current.count == 0)
    return ::operator new(least << index);
  --current.count;
  return std::exchange(current.first, current.first->next);
}

void give_recycled(void* memory, std::size_t bytes) noexcept {
  if (bytes > most || hand_is_gone) {
    ::operator delete(memory);
    return;
  }
  const auto index = size_index(bytes);
  auto& current = own.current[index];
  if (current.count == full(index)) {
    shelves()[index].put(std::exchange(own.spare[index], current));
    current = {};
  }
  current.first = new (memory) block{current.first};
  ++current.count;
}

#endif

} // namespace hyperframes
