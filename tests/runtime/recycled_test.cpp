#include "runtime/recycled.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <thread>

using namespace hyperframes;

namespace {

/// Runs `f` on a thread of its own, to its end.
template <class F>
void elsewhere(F f) {
  std::thread{f}.join();
}

#ifndef __SANITIZE_ADDRESS__ // there everything goes to the heap
constexpr bool recycles = true;
#else
constexpr bool recycles = false;
#endif

} // namespace

TEST_CASE("blocks are apart, aligned, and keep what is written") {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{32}, std::size_t{33}, std::size_t{65'536},
        std::size_t{70'000}}) {
    CAPTURE(bytes);
    std::vector<void*> all;
    for (unsigned char i = 0; i < 100; ++i) {
      all.push_back(take_recycled(bytes));
      CHECK(reinterpret_cast<std::uintptr_t>(all.back()) % 16 == 0);
      std::memset(all.back(), i, bytes);
    }
    for (unsigned char i = 0; i < 100; ++i) {
      const auto* p = static_cast<unsigned char*>(all[i]);
      CHECK(p[0] == i);
      CHECK(p[bytes - 1] == i);
      give_recycled(all[i], bytes);
    }
  }
}

TEST_CASE("what one thread lets go another one gets again: the heap is not asked") {
  if (!recycles)
    return;
  constexpr std::size_t bytes = 3000, blocks = 50;
  std::vector<void*> all(blocks);
  const auto take = [&] {
    for (auto& p : all)
      p = take_recycled(bytes);
  };
  elsewhere(take);
  std::set<void*> known;
  for (int round = 0; round < 20; ++round) {
    elsewhere([&] {
      known.insert(all.begin(), all.end());
      for (auto* p : all)
        give_recycled(p, bytes);
    });
    elsewhere(take);
  }
  known.insert(all.begin(), all.end());
  CHECK(known.size() == blocks);
  for (auto* p : all)
    give_recycled(p, bytes);
}

TEST_CASE("threads that pass blocks on at the same time do not disturb each other") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      recycled_deque<std::shared_ptr<std::size_t>> ring;
      for (std::size_t i = 0; i < 20'000; ++i) {
        ring.push_back(make_recycled<std::size_t>(i));
        if (ring.size() > 100) {
          if (*ring.front() != i - 100)
            throw std::logic_error("overwritten");
          ring.pop_front();
        }
      }
    });
  for (auto& t : threads)
    t.join();
}

TEST_CASE("a function is called, copied and let go with what it holds") {
  const auto value = std::make_shared<int>(7);
  recycled_function<int> f = [value] { return (*value)++; };
  CHECK(value.use_count() == 2);
  const auto copy = f;
  CHECK(f() == 7);
  CHECK(copy() == 8);
  f = nullptr;
  CHECK_FALSE(f);
  CHECK(value.use_count() == 2);
}
