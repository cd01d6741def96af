// What is left of shared memory when its processes die, and what wrong handles do.
#include "runtime/shared_import.hpp"
#include "runtime/shared_loans.hpp"
#include "tests/runtime/peer_process.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace hyperframes;
using test::peer_process;

namespace {

std::set<std::string> names_in(const char* folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    names.insert(entry.path().filename());
  return names;
}

std::size_t open_descriptors() {
  return names_in("/proc/self/fd").size();
}

/// Of this process, of shared memory of ours.
std::size_t mappings() {
  std::ifstream maps{"/proc/self/maps"};
  std::size_t n = 0;
  for (std::string line; std::getline(maps, line);)
    n += line.find("memfd:hyperframes") != std::string::npos;
  return n;
}

bool all(const buffer_ref& b, int value) {
  for (std::size_t i = 0; i < b.size(); ++i)
    if (b.data()[i] != static_cast<std::byte>(value))
      return false;
  return true;
}

} // namespace

TEST_CASE("a borrower that is killed gives everything back") {
  buffer_pool pool{3, 4096, nullptr, shared_backing()};
  loan_book book;
  peer_process peer;
  const auto borrower = book.join();
  for (int i = 0; i < 3; ++i) {
    auto b = pool.acquire();
    std::memset(b.data(), i, b.size());
    const auto h = *handle_of(b);
    REQUIRE(book.lend(borrower, std::move(b)));
    REQUIRE(peer.number("sum " + peer.open(h)) == 4096U * static_cast<unsigned>(i));
  }
  CHECK_FALSE(pool.acquire());
  peer.kill();
  CHECK(book.gone(borrower) == 3);
  for (int i = 0; i < 3; ++i)
    CHECK(pool.acquire());
  CHECK(pool.in_use() == 0);
}

TEST_CASE("what was borrowed stays readable when its owner is killed, and nothing is left of it") {
  const auto named = names_in("/dev/shm");
  const auto descriptors = open_descriptors(), mapped = mappings();
  int released = 0;
  {
    shared_importer importer;
    shared_handle late;
    std::vector<buffer_ref> kept;
    std::int32_t owner = 0;
    {
      peer_process peer;
      owner = peer.id();
      REQUIRE(peer.ask("own 3 100000") == "owned");
      for (int i = 1; i <= 2; ++i) {
        auto opened = importer.open(peer.fill(i).handle, [&] { ++released; });
        REQUIRE(opened.has_value());
        kept.push_back(std::move(*opened));
      }
      late = peer.fill(3).handle;
      CHECK(names_in("/dev/shm") == named);
      peer.kill();
    }
    CHECK(all(kept[0], 1));
    CHECK(all(kept[1], 2));
    importer.forget(owner);
    CHECK(all(kept[1], 2));
    kept.clear();
    CHECK(released == 2);
    CHECK(importer.now().pools == 0);
    const auto refused = importer.open(late, [] {});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("its owner is gone") != std::string::npos);
  }
  CHECK(names_in("/dev/shm") == named);
  CHECK(open_descriptors() == descriptors);
  CHECK(mappings() == mapped);
}

namespace {

/// Two processes that lend to each other, a step at a time.
class both_ways {
public:
  explicit both_ways(std::uint32_t seed) : random_(seed) {
    REQUIRE(peer_.ask("own 4 3000") == "owned");
  }

  void step() {
    switch (any(7)) {
      case 0:
      case 1:
        lend();
        break;
      case 2:
        if (!lent_.empty())
          take_back();
        break;
      case 3:
      case 4:
        if (borrowed_.size() < 4) // else it has none left
          borrow();
        break;
      case 5:
        if (!borrowed_.empty())
          give_back();
        break;
      case 6:
        if (any(8) == 0) // what is lent of the old one keeps it
          pool_ = buffer_pool{4, bytes, nullptr, shared_backing()};
    }
  }

  void finish() {
    CHECK(book_.lent() == lent_.size());
    CHECK(book_.ignored() == 0);
    while (!lent_.empty())
      take_back();
    while (!borrowed_.empty())
      give_back();
    CHECK(book_.lent() == 0);
    CHECK(pool_.in_use() == 0);
    CHECK(importer_.now().buffers == 0);
    for (int i = 0; i < 3; ++i) { // so that it looks at what is gone
      lend();
      take_back();
    }
    std::istringstream state{peer_.ask("state")};
    std::size_t pools = 0, buffers = 0;
    state >> pools >> buffers;
    CHECK(pools == 1); // those that are gone are unmapped
    CHECK(buffers == 0);
  }

private:
  static constexpr std::size_t bytes = 5000;
  struct lent {
    loan_number loan;
    std::string there; ///< its number in the peer
    unsigned value;
  };
  struct borrowed {
    buffer_ref buffer;
    std::size_t there;
    int value;
  };

  std::size_t any(std::size_t below) { return random_() % below; }
  template <class T>
  T take_any(std::vector<T>& from) {
    std::swap(from[any(from.size())], from.back());
    auto taken = std::move(from.back());
    from.pop_back();
    return taken;
  }

  void lend() {
    auto b = pool_.acquire();
    if (!b)
      return;
    const auto value = static_cast<unsigned>(any(256));
    std::memset(b.data(), static_cast<int>(value), b.size());
    const auto h = *handle_of(b);
    lent_.push_back({*book_.lend(borrower_, std::move(b)), peer_.open(h), value});
  }
  void take_back() {
    const auto l = take_any(lent_);
    CHECK(peer_.number("sum " + l.there) == bytes * l.value);
    peer_.ask("release " + l.there);
    CHECK(book_.returned(borrower_, l.loan));
  }
  void borrow() {
    const auto value = static_cast<int>(any(256));
    const auto there = peer_.fill(value);
    auto b = importer_.open(there.handle, [this] { ++released_; });
    REQUIRE(b.has_value());
    borrowed_.push_back({std::move(*b), there.number, value});
  }
  void give_back() {
    const auto before = released_;
    const auto there = [&] {
      const auto b = take_any(borrowed_);
      CHECK(all(b.buffer, b.value));
      CHECK(released_ == before);
      return b.there;
    }();
    CHECK(released_ == before + 1);
    CHECK(peer_.number("drop " + std::to_string(there)) == borrowed_.size());
  }

  std::mt19937 random_;
  peer_process peer_;
  buffer_pool pool_{4, bytes, nullptr, shared_backing()};
  loan_book book_;
  borrower_id borrower_ = book_.join();
  shared_importer importer_;
  std::size_t released_ = 0;
  std::vector<lent> lent_;
  std::vector<borrowed> borrowed_;
};

} // namespace

TEST_CASE("a thousand random rounds between two processes leave nothing behind") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  const auto descriptors = open_descriptors(), mapped = mappings();
  {
    both_ways run{seed};
    for (int round = 0; round < 1000; ++round)
      run.step();
    run.finish();
  }
  CHECK(open_descriptors() == descriptors);
  CHECK(mappings() == mapped);
}

TEST_CASE("whatever a handle says, it is refused or names a slot as it was lent") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random{seed};
  const auto descriptors = open_descriptors(), mapped = mappings();
  {
    peer_process peer;
    REQUIRE(peer.ask("own 4 3000") == "owned");
    shared_importer importer;
    std::vector<shared_handle> good;
    for (int i = 1; i <= 4; ++i)
      good.push_back(peer.fill(i).handle);
    const std::array<std::uint64_t, 9> edges{
      0, 1, 2, 3, 4096, 0x7fffffff, 0xffffffff, ~std::uint64_t{0}, std::uint64_t{1} << 63};
    const auto value = [&] {
      return random() % 2 == 0 ? edges[random() % edges.size()] : random();
    };
    int accepted = 0;
    for (int round = 0; round < 20000; ++round) {
      CAPTURE(round);
      auto h = good[random() % good.size()];
      for (auto changes = random() % 3 + 1; changes > 0; --changes)
        switch (random() % 7) {
          case 0:
            h.segment.process = static_cast<std::int32_t>(value());
            break;
          case 1:
            h.segment.descriptor = static_cast<std::int32_t>(value());
            break;
          case 2:
            h.segment.nonce[random() % 2] = value();
            break;
          case 3:
            h.slot = static_cast<std::uint32_t>(value());
            break;
          case 4:
            h.generation = value();
            break;
          case 5:
            h.bytes = value();
            break;
          case 6:
            h = {
              {h.segment.process, h.segment.descriptor, {value(), value()}},
              static_cast<std::uint32_t>(value()),
              value(),
              value()};
        }
      const auto opened = importer.open(h, {});
      if (!opened)
        continue;
      ++accepted;
      REQUIRE(h.segment == good[0].segment);
      REQUIRE(h.slot < 4);
      REQUIRE(h.generation == 1);
      REQUIRE(h.bytes <= 3008); // the next multiple of 64
      const auto shorter = std::min<std::size_t>(h.bytes, 3000);
      for (std::size_t i = 0; i < shorter; ++i)
        REQUIRE(opened->data()[i] == static_cast<std::byte>(h.slot + 1));
    }
    CHECK(accepted > 0); // what only says fewer bytes
    for (const auto& h : good)
      CHECK(importer.open(h, {}).has_value());
  }
  CHECK(open_descriptors() == descriptors);
  CHECK(mappings() == mapped);
}
