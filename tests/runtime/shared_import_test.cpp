#include "runtime/shared_import.hpp"
#include "tests/runtime/peer_process.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <vector>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

buffer_pool shared_pool(std::size_t slots) {
  return {slots, 64, nullptr, shared_backing()};
}

} // namespace

TEST_CASE("the lender hears of a release once, when the last reference goes") {
  auto pool = shared_pool(1);
  const auto b = pool.acquire();
  int released = 0;
  shared_importer importer;
  auto first = *importer.open(*handle_of(b), [&] { ++released; });
  CHECK(first.size() == 64);
  CHECK_FALSE(first.unique()); // its owner holds it too
  auto second = first;
  first = {};
  CHECK(released == 0);
  CHECK(importer.now().buffers == 1);
  second = {};
  CHECK(released == 1);
  CHECK(importer.now().buffers == 0);
}

TEST_CASE("what cannot be opened is not released") {
  auto pool = shared_pool(1);
  auto h = *handle_of(pool.acquire());
  ++h.generation;
  int released = 0;
  shared_importer importer;
  CHECK_FALSE(importer.open(h, [&] { ++released; }).has_value());
  CHECK(released == 0);
  CHECK(importer.now().buffers == 0);
}

TEST_CASE("a pool is mapped once") {
  auto pool = shared_pool(3);
  const auto a = pool.acquire(), b = pool.acquire();
  shared_importer importer;
  const auto first = *importer.open(*handle_of(a), {}), again = *importer.open(*handle_of(a), {}),
             second = *importer.open(*handle_of(b), {});
  CHECK(first.data() == again.data());
  CHECK(importer.now().pools == 1);
  CHECK(importer.now().mapped_bytes == 4096 + 3 * 64);
  CHECK(importer.now().buffers == 3);
}

TEST_CASE("a pool stays mapped until it is gone and its last buffer is released") {
  shared_importer importer;
  const auto open = [&](const buffer_ref& b) { return *importer.open(*handle_of(b), {}); };
  std::optional pool{shared_pool(2)};
  auto a = pool->acquire();
  open(a);
  CHECK(importer.now().pools == 1); // for the next one
  SUBCASE("gone while a buffer is open") {
    auto kept = open(a);
    a = {};
    pool.reset();
    CHECK(importer.now().pools == 1);
    CHECK(kept.data()[0] == std::byte{0}); // readable
    kept = {};
    CHECK(importer.now().pools == 0);
  }
  SUBCASE("gone between buffers: when the next pool comes") {
    a = {};
    pool.reset();
    auto next = shared_pool(1);
    open(next.acquire());
    CHECK(importer.now().pools == 1);
  }
  SUBCASE("gone after the next pool came: as its buffers come and go") {
    auto next = shared_pool(1);
    open(next.acquire());
    a = {};
    pool.reset();
    CHECK(importer.now().pools == 2);
    for (int i = 0; i < 2; ++i)
      open(next.acquire());
    CHECK(importer.now().pools == 1);
  }
}

TEST_CASE("what a forgotten process lent is unmapped as it is released") {
  auto one = shared_pool(1), two = shared_pool(1);
  const auto a = one.acquire(), b = two.acquire();
  shared_importer importer;
  auto kept = *importer.open(*handle_of(a), {});
  CHECK(importer.open(*handle_of(b), {}).has_value());
  CHECK(importer.now().pools == 2);
  importer.forget(::getpid() + 1);
  CHECK(importer.now().pools == 2);
  importer.forget(::getpid());
  CHECK(importer.now().pools == 1);
  kept = {};
  CHECK(importer.now().pools == 0);
}

TEST_CASE("a pool that is not wanted any more goes with its last buffer, whichever it is") {
  std::vector<buffer_pool> pools;
  std::vector<buffer_ref> lent;
  std::map<segment_address, buffer_ref> kept; // in the order in which the importer looks at them
  shared_importer importer;
  for (int i = 0; i < 3; ++i) {
    pools.push_back(shared_pool(1));
    lent.push_back(pools.back().acquire());
    const auto h = *handle_of(lent.back());
    kept[h.segment] = *importer.open(h, {});
  }
  importer.forget(::getpid());
  while (!kept.empty()) {
    kept.erase(std::prev(kept.end()));
    CHECK(importer.now().pools == kept.size());
  }
}

TEST_CASE("no more pools are mapped than are allowed; those without a buffer go first") {
  auto one = shared_pool(1), two = shared_pool(1), three = shared_pool(1);
  const auto a = one.acquire(), b = two.acquire(), c = three.acquire();
  shared_importer importer{nullptr, 2};
  auto open_a = *importer.open(*handle_of(a), {});
  CHECK(importer.open(*handle_of(b), {}).has_value());
  auto open_c = *importer.open(*handle_of(c), {}); // in the place of b's
  CHECK(importer.now().pools == 2);
  const auto refused = importer.open(*handle_of(b), {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(
    refused.error().to_string()
    == "shared memory of process " + std::to_string(::getpid())
         + ": buffers of 2 pools are open here, which is the most; release some, or lend from fewer"
           " pools");
  open_a = {};
  CHECK(importer.open(*handle_of(b), {}).has_value());
}

TEST_CASE("buffers outlive their importer") {
  auto pool = shared_pool(1);
  const auto b = pool.acquire();
  b.data()[5] = std::byte{9};
  int released = 0;
  buffer_ref kept;
  {
    shared_importer importer;
    kept = *importer.open(*handle_of(b), [&] { ++released; });
  }
  CHECK(kept.data()[5] == std::byte{9});
  kept = {};
  CHECK(released == 1);
}

TEST_CASE("open buffers are counted, with the stage that has held one longest") {
  const auto stats = std::make_shared<pool_stats>("borrowed", "link");
  auto pool = shared_pool(2);
  const auto a = pool.acquire(), b = pool.acquire();
  {
    shared_importer importer{stats};
    auto first = *importer.open(*handle_of(a), {}), second = *importer.open(*handle_of(b), {});
    CHECK(stats->now().in_use == 2);
    CHECK_FALSE(stats->now().oldest);
    first.note_taken(4, graph_time{2ms});
    second.note_taken(5, graph_time{1ms});
    REQUIRE(stats->now().oldest);
    CHECK(stats->now().oldest->stage == 5);
    second = {};
    CHECK(stats->now().oldest->stage == 4);
    CHECK(stats->now().in_use == 1);
  }
  CHECK(stats->now().in_use == 0);
  CHECK(stats->now().bytes == 0);
}

TEST_CASE("threads open and release at once") {
  constexpr int pools = 3;
  std::vector<buffer_pool> all;
  std::vector<buffer_ref> held;
  std::vector<shared_handle> handles;
  for (int i = 0; i < pools; ++i) {
    all.push_back(shared_pool(1));
    held.push_back(all.back().acquire());
    held.back().data()[0] = std::byte(i);
    handles.push_back(*handle_of(held.back()));
  }
  std::atomic<int> released{0}, wrong{0};
  shared_importer importer;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const auto which = static_cast<std::size_t>(i + t) % pools;
        const auto b = importer.open(handles[which], [&] { ++released; });
        if (!b || b->data()[0] != std::byte(which))
          ++wrong;
        if (i % 50 == t)
          importer.forget(::getpid());
      }
    });
  for (auto& t : threads)
    t.join();
  CHECK(wrong == 0);
  CHECK(released == 4 * 500);
  CHECK(importer.now().buffers == 0);
}
