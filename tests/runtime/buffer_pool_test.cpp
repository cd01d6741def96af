#include "runtime/buffer_pool.hpp"

#include "runtime/error.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

using namespace hyperframes;

TEST_CASE("a pool gives its slots and no more, and takes them back") {
  buffer_pool pool{2, 100};
  auto a = pool.acquire();
  auto b = pool.acquire();
  REQUIRE(a);
  REQUIRE(b);
  CHECK_FALSE(pool.acquire());
  CHECK(pool.in_use() == 2);
  CHECK(a.size() == 100);
  CHECK(a.data() != b.data());
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 64 == 0);
  b = {};
  CHECK(pool.in_use() == 1);
  CHECK(pool.acquire());
  CHECK(pool.peak_in_use() == 2);
}

TEST_CASE("a slot goes back with its last reference") {
  buffer_pool pool{1, 8};
  auto a = pool.acquire();
  CHECK(a.unique());
  {
    const auto copy = a;
    CHECK_FALSE(a.unique());
    a = {};
    CHECK_FALSE(pool.acquire());
    CHECK(copy.unique());
  }
  CHECK(pool.acquire());
}

TEST_CASE("references outlive their pool") {
  buffer_ref kept;
  {
    buffer_pool pool{2, 16};
    kept = pool.acquire();
  }
  kept.data()[15] = std::byte{7};
  CHECK(kept.size() == 16);
}

TEST_CASE("a pool that was moved from is empty") {
  buffer_pool pool{1, 8};
  auto other = std::move(pool);
  CHECK_FALSE(pool.acquire());
  CHECK(pool.slots() == 0);
  CHECK(other.acquire());
}

TEST_CASE("a pool that the memory cannot hold says so") {
  CHECK_THROWS_WITH_AS(buffer_pool(SIZE_MAX / 4, 1024),
                       doctest::Contains("cannot be had; use fewer streams or smaller frames"),
                       failure);
}

TEST_CASE("threads share a pool") {
  buffer_pool pool{4, 64};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 2000; ++i)
        if (auto slot = pool.acquire()) {
          slot.data()[0] = std::byte(t);
          const auto copy = slot;
          if (copy.data()[0] != std::byte(t))
            std::abort();
        }
    });
  for (auto& t : threads)
    t.join();
  CHECK(pool.in_use() == 0);
  CHECK(pool.peak_in_use() <= 4);
}
