#include "runtime/buffer_pool.hpp"
#include "runtime/item.hpp"
#include "runtime/pool_stats.hpp"
#include "runtime/process_memory.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

graph_time at(int ms) {
  return graph_time{std::chrono::milliseconds{ms}};
}

} // namespace

TEST_CASE("pools of one purpose are counted together, also while an old one empties") {
  const auto stats = std::make_shared<pool_stats>("pool of stream cam", "capture");
  buffer_pool pool{2, 64, stats};
  auto old = pool.acquire();
  pool = buffer_pool{3, 128, stats};
  auto a = pool.acquire(), b = pool.acquire();
  auto n = stats->now();
  CHECK(n.slots == 5);
  CHECK(n.in_use == 3);
  CHECK(n.bytes == 2 * 64 + 3 * 128);
  old = {};
  n = stats->now();
  CHECK(n.slots == 3);
  CHECK(n.in_use == 2);
  CHECK(n.peak_in_use == 3);
  CHECK(n.bytes == 3 * 128);
  CHECK(n.peak_bytes == 2 * 64 + 3 * 128);
  a = b = {};
  pool = {};
  n = stats->now();
  CHECK(n.slots == 0);
  CHECK(n.in_use == 0);
  CHECK(n.bytes == 0);
  CHECK_FALSE(n.oldest);
}

TEST_CASE(
  "the oldest slot in use is the one that was noted first, with the stage that took it last") {
  const auto stats = std::make_shared<pool_stats>("pool", "capture");
  buffer_pool pool{3, 64, stats};
  auto a = pool.acquire(), b = pool.acquire(), c = pool.acquire();
  CHECK_FALSE(stats->now().oldest);
  b.note_taken(held_slot::nobody, at(10));
  a.note_taken(held_slot::nobody, at(20));
  REQUIRE(stats->now().oldest);
  CHECK(stats->now().oldest->since == at(10));
  CHECK(stats->now().oldest->stage == held_slot::nobody);
  a.note_taken(3, at(30));
  b.note_taken(4, at(40));
  b.note_taken(5, at(50));
  CHECK(stats->now().oldest->since == at(10));
  CHECK(stats->now().oldest->stage == 5);
  b = {};
  CHECK(stats->now().oldest->since == at(20));
  CHECK(stats->now().oldest->stage == 3);
  b = pool.acquire(); // begins anew
  a = {};
  CHECK_FALSE(stats->now().oldest);
}

TEST_CASE("a slot that a decoder alone holds is in use, and nobody's") {
  const auto stats = std::make_shared<pool_stats>("pool", "capture");
  buffer_pool pool{1, 64, stats};
  auto decoders = pool.acquire();
  decoders.note_lent(true);
  auto graphs = decoders;
  graphs.note_taken(2, at(1));
  CHECK(stats->now().oldest->stage == 2);
  graphs = {};
  CHECK_FALSE(stats->now().oldest);
  CHECK(stats->now().in_use == 1);
}

TEST_CASE("an item notes its taker in every buffer that it keeps in use") {
  const auto stats = std::make_shared<pool_stats>("pool", "capture");
  buffer_pool pool{1, 64, stats};
  const auto filled = [&] { return frame{{}, {}, pool.acquire()}; };
  const auto with_tensor = [&] {
    auto h = std::make_shared<hyperframe>();
    h->tensor = pool.acquire();
    return h;
  };
  const auto with_frames = [&] {
    auto h = std::make_shared<hyperframe>();
    h->frames = {frame{}, filled()};
    return h;
  };
  const auto in_batch = [](hyperframe_ptr h) {
    auto b = std::make_shared<batch>();
    b->parts = {{std::make_shared<hyperframe>(), 0, 0}, {std::move(h), 0, 1}};
    return item{batch_ptr{b}};
  };
  struct row {
    const char* what;
    std::function<item()> make;
  };
  for (const row& r :
       {row{"frame", [&] { return item{filled()}; }},
        {"aligned set",
         [&] {
           auto set = std::make_shared<aligned_set>();
           set->members.resize(2);
           set->members[1].item = filled();
           return item{aligned_set_ptr{set}};
         }},
        {"tensor", [&] { return item{hyperframe_ptr{with_tensor()}}; }},
        {"hyperframe's frames", [&] { return item{hyperframe_ptr{with_frames()}}; }},
        {"batch", [&] { return in_batch(with_tensor()); }},
        {"batch's frames", [&] { return in_batch(with_frames()); }},
        {"result",
         [&] {
           auto made = std::make_shared<result>();
           made->frames = {frame{}, filled()};
           return item{result_ptr{made}};
         }},
        {"frame result", [&] {
           auto made = std::make_shared<frame_result>();
           made->content = filled();
           return item{frame_result_ptr{made}};
         }}}) {
    CAPTURE(r.what);
    const auto i = r.make();
    note_taken(i, 7, at(5));
    REQUIRE(stats->now().oldest);
    CHECK(stats->now().oldest->stage == 7);
  }
  note_taken(item{frame_result_ptr{std::make_shared<frame_result>()}}, 7, at(5));
  note_taken(item{trigger{}}, 7, at(5));
}

TEST_CASE("the process knows its memory") {
  const auto memory = memory_of_process();
  CHECK(memory.now > 1'000'000);
  CHECK(memory.peak >= memory.now);
}
