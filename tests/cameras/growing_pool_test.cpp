#include "cameras/growing_pool.hpp"
#include "runtime/pool_stats.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <vector>

using namespace hyperframes;

namespace {

constexpr std::size_t slots = 4;

} // namespace

TEST_CASE("growing_pool: up and down under held frames, its memory stays within plan and reserve") {
  // Planned for 640 bytes a slot; beyond it the graph has 4 kB.
  constexpr std::size_t planned = slots * 640, beyond = 4096;
  const auto reserve = std::make_shared<memory_reserve>(beyond);
  const auto stats = std::make_shared<pool_stats>("pool", "capture", planned, reserve);
  growing_pool pool;
  pool.reset("cam", slots, stats);
  struct step {
    const char* what;
    std::size_t bytes; ///< of the next picture
    std::size_t hold;  ///< frames that the graph holds afterwards, the newest ones
    bool fits;
    std::size_t memory; ///< of all slots afterwards
  };
  std::deque<buffer_ref> held;
  for (const step& s : {
         step{"as planned", 640, 2, true, planned},
         {"smaller", 64, 3, true, planned},
         {"twice as large: a pool beside the old one", 1024, 3, true, planned + slots * 1024},
         {"smaller again, in the large pool", 640, 3, true, planned + slots * 1024},
         {"the old one is empty and gone", 64, 3, true, slots * 1024},
         {"too large beside what is held", 1600, 3, false, slots * 1024},
         {"a smaller one still fits", 1024, 1, true, slots * 1024},
         {"larger, nothing held", 64, 0, true, slots * 1024},
         {"takes the place of the old pool", 1600, 2, true, slots * 1600},
         {"down", 64, 2, true, slots * 1600},
         {"down", 64, 1, true, slots * 1600},
         {"more than all there is", 1 << 20, 1, false, slots * 1600},
         {"down", 640, 0, true, slots * 1600},
         {"more than all there is, nothing held", 1 << 20, 0, false, 0},
         {"and a smaller one after it", 640, 1, true, planned},
       }) {
    CAPTURE(s.what);
    CHECK(pool.fit(s.bytes).has_error() == !s.fits);
    if (s.fits) {
      auto slot = pool.acquire();
      REQUIRE(slot);
      CHECK(slot.size() >= s.bytes);
      held.push_back(std::move(slot));
    }
    while (held.size() > s.hold)
      held.pop_front();
    CHECK(stats->now().bytes == s.memory);
    CHECK(reserve->left() == beyond - (s.memory > planned ? s.memory - planned : 0));
    CHECK(stats->now().in_use == held.size());
  }
  held.clear();
  pool.reset("cam", slots, stats);
  CHECK(stats->now().bytes == 0);
  CHECK(reserve->left() == beyond);
  CHECK(stats->now().peak_bytes <= planned + beyond);
}

TEST_CASE("growing_pool: what the memory does not allow is said in a sentence") {
  growing_pool pool;
  pool.reset(
    "cam", slots,
    std::make_shared<pool_stats>(
      "pool of stream cam", "capture", 256, std::make_shared<memory_reserve>(0)));
  CHECK_FALSE(pool.fit(64).has_error());
  const auto held = pool.acquire();
  const auto refused = pool.fit(65);
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == errc::out_of_memory);
  CHECK(
    refused.error().to_string()
    == "cam: 4 slots of 128 bytes are more than the graph's `memory` leaves beside what is in use; "
       "raise it, or let frames of the size before go sooner");
}
