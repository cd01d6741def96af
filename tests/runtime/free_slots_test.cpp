#include "runtime/free_slots.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

using namespace hyperframes;

TEST_CASE("the slot that came back last goes first, and none goes that is not there") {
  free_slots free{3};
  CHECK(free.take() == std::nullopt);
  for (const auto slot : {2U, 0U, 1U})
    free.put(slot);
  CHECK(free.take() == 1);
  CHECK(free.take() == 0);
  free.put(1);
  CHECK(free.take() == 1);
  CHECK(free.take() == 2);
  CHECK(free.take() == std::nullopt);
}

TEST_CASE("a slot that went and came back is not taken for one that has stayed") {
  free_slots free{3};
  for (const auto slot : {2U, 1U, 0U})
    free.put(slot);
  auto seen = free.look(); // slot 0 above 1
  CHECK(free.take() == 0);
  CHECK(free.take() == 1);
  free.put(0); // slot 0 above 2
  CHECK_FALSE(free.take_as_seen(seen));
  CHECK(free.take_as_seen(seen));
  CHECK(free.take() == 2); // 1 is in use
  CHECK(free.take() == std::nullopt);
}

TEST_CASE("among threads no slot is given twice, and none is lost") {
  constexpr std::uint32_t count = 4;
  free_slots free{count};
  for (std::uint32_t slot = 0; slot < count; ++slot)
    free.put(slot);
  std::vector<std::atomic<int>> holders(count);
  std::atomic<int> given_twice{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < count; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        const std::optional<std::uint32_t> mine[] = {free.take(), free.take()};
        for (const auto& slot : mine)
          if (slot)
            given_twice += holders[*slot].fetch_add(1, std::memory_order_relaxed);
        for (const auto& slot : mine)
          if (slot) {
            holders[*slot].fetch_sub(1, std::memory_order_relaxed);
            free.put(*slot);
          }
      }
    });
  for (auto& t : threads)
    t.join();
  CHECK(given_twice == 0);
  for (std::uint32_t slot = 0; slot < count; ++slot)
    CHECK(free.take());
  CHECK(free.take() == std::nullopt);
}
