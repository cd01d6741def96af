#include "tests/fuzz/heap.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

std::atomic<std::size_t> now{0}, most{0};

void* noted(void* memory) {
  if (!memory)
    throw std::bad_alloc{};
  const auto all = now += ::malloc_usable_size(memory);
  most = std::max(most.load(), all); // targets have one thread that takes much
  return memory;
}

void give(void* memory) noexcept {
  if (memory)
    now -= ::malloc_usable_size(memory);
  std::free(memory);
}

} // namespace

namespace hyperframes::test {

std::size_t heap_bytes() {
  return now;
}
std::size_t most_heap_bytes() {
  return most;
}
void forget_most_heap_bytes() {
  most = now.load();
}

} // namespace hyperframes::test

// The other forms call these.
void* operator new(std::size_t bytes) {
  return noted(std::malloc(bytes > 0 ? bytes : 1));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  return noted(std::aligned_alloc(a, (bytes + a - 1) / a * a));
}
void operator delete(void* memory) noexcept {
  give(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give(memory);
}
