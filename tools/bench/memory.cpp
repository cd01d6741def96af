#include "runtime/recycled.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/bounded_queue.hpp"

#include <array>
#include <cstring>
#include <memory_resource>
#include <thread>

namespace hyperframes::bench {

namespace {

constexpr std::size_t in_hand = 64; ///< blocks that are handed over together
constexpr std::size_t lots = 8;     ///< such handfuls on their way
/// As results, descriptors, lists of outcomes and nodes of maps have.
constexpr std::array<std::size_t, 8> sizes{48, 96, 176, 200, 320, 400, 640, 1024};

using handful = std::array<void*, in_hand>;

std::size_t size_of(std::size_t index) {
  return sizes[index % sizes.size()];
}

template <class Memory>
void take_all(Memory& memory, handful& blocks) {
  for (std::size_t i = 0; i < in_hand; ++i) {
    blocks[i] = memory.take(size_of(i));
    std::memset(blocks[i], 1, 32); // whoever takes it writes to it
  }
}

template <class Memory>
void give_all(Memory& memory, const handful& blocks) {
  for (std::size_t i = 0; i < in_hand; ++i)
    memory.give(blocks[i], size_of(i));
}

/// @returns ns of CPU for a block that is taken and given back by one thread.
template <class Memory>
double alone(Memory memory, std::size_t rounds) {
  handful blocks{};
  const auto before = cpu_seconds();
  for (std::size_t r = 0; r < rounds; ++r) {
    take_all(memory, blocks);
    give_all(memory, blocks);
  }
  return (cpu_seconds() - before) / static_cast<double>(rounds * in_hand) * 1e9;
}

/// The same where one thread takes and another gives back, as along a chain of stages.
template <class Memory>
double between_threads(Memory memory, std::size_t rounds) {
  std::array<handful, lots> blocks{};
  bounded_queue<std::size_t> filled{lots}, empty{lots};
  for (std::size_t i = 0; i < lots; ++i)
    empty.push(i);
  const auto before = cpu_seconds();
  {
    const std::jthread other{[&] {
      while (const auto lot = filled.pop()) {
        give_all(memory, blocks[*lot]);
        empty.push(*lot);
      }
    }};
    for (std::size_t r = 0; r < rounds; ++r) {
      const auto lot = *empty.pop();
      take_all(memory, blocks[lot]);
      filled.push(lot);
    }
    filled.close();
  }
  return (cpu_seconds() - before) / static_cast<double>(rounds * in_hand) * 1e9;
}

struct recycling {
  void* take(std::size_t bytes) { return take_recycled(bytes); }
  void give(void* p, std::size_t bytes) { give_recycled(p, bytes); }
};
struct heap {
  void* take(std::size_t bytes) { return ::operator new(bytes); }
  void give(void* p, std::size_t) { ::operator delete(p); }
};
template <class Resource>
struct pooled {
  std::shared_ptr<Resource> pool = std::make_shared<Resource>();
  void* take(std::size_t bytes) { return pool->allocate(bytes); }
  void give(void* p, std::size_t bytes) { pool->deallocate(p, bytes); }
};
using synchronized = pooled<std::pmr::synchronized_pool_resource>;
using unsynchronized = pooled<std::pmr::unsynchronized_pool_resource>;

} // namespace

report memory(const context& c) {
  constexpr std::size_t rounds = 5000;
  report r;
  r.method = "Blocks of 48 to 1024 bytes, 64 at a time, 5000 times: taken and given back by one "
             "thread, and taken by "
             "one and given back by another, with 8 handfuls on their way through two queues. CPU "
             "time of the process "
             "for a block, queues and waits included. Recycled: the runtime's memory for what "
             "lives as long as a frame "
             "is under way. Against it std::pmr's pools with their defaults, and the heap.";
  const auto one = take_turns(
    {{"recycled", [] { return alone(recycling{}, rounds); }},
     {"pmr synchronized", [] { return alone(synchronized{}, rounds); }},
     {"pmr unsynchronized", [] { return alone(unsynchronized{}, rounds); }},
     {"heap", [] { return alone(heap{}, rounds); }}},
    least_rounds, c.progress);
  const auto two = take_turns(
    {{"recycled", [] { return between_threads(recycling{}, rounds); }},
     {"pmr synchronized", [] { return between_threads(synchronized{}, rounds); }},
     {"heap", [] { return between_threads(heap{}, rounds); }}},
    least_rounds, c.progress);
  r.results = {
    reading_of("two threads: recycled / pmr synchronized", "x", ratios(two[0], two[1]), under(1)),
    reading_of("two threads: recycled / heap", "x", ratios(two[0], two[2])),
    reading_of("two threads: recycled", "ns CPU", two[0]),
    reading_of("two threads: pmr synchronized", "ns CPU", two[1]),
    reading_of("two threads: heap", "ns CPU", two[2]),
    reading_of("one thread: recycled", "ns CPU", one[0]),
    reading_of("one thread: pmr synchronized", "ns CPU", one[1]),
    reading_of("one thread: pmr unsynchronized", "ns CPU", one[2]),
    reading_of("one thread: heap", "ns CPU", one[3])};
  return r;
}

} // namespace hyperframes::bench
