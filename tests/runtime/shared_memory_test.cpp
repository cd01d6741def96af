#include "runtime/pool_stats.hpp"
#include "runtime/shared_import.hpp"
#include "runtime/shared_memory.hpp"
#include "runtime/shared_segment.hpp"
#include "tests/runtime/peer_process.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>

#include <sys/mman.h>
#include <sys/resource.h>

using namespace hyperframes;
using test::peer_process;

namespace {

std::string why_not(const expected<void>& e) {
  return e ? "" : e.error().to_string();
}

std::string refusal(const shared_handle& h) {
  shared_importer importer;
  const auto opened = importer.open(h, [] {});
  return opened ? "" : opened.error().message;
}

buffer_ref filled(buffer_pool& pool, int value) {
  auto b = pool.acquire();
  REQUIRE(b);
  std::memset(b.data(), value, b.size());
  return b;
}

/// A file that anybody could have made, with the address of its descriptor in this process.
class made_by_hand {
public:
  made_by_hand(
    std::uint64_t magic, std::uint64_t slots, std::uint64_t stride, std::size_t bytes, int seals) {
    descriptor_ = ::memfd_create("by hand", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0);
    const std::array<std::uint64_t, 5> header{magic, 1, 2, slots, stride};
    if (bytes > 0)
      REQUIRE(::pwrite(descriptor_, header.data(), sizeof header, 0) == sizeof header);
    if (seals != 0)
      REQUIRE(::fcntl(descriptor_, F_ADD_SEALS, seals) == 0);
  }
  made_by_hand(const made_by_hand&) = delete;
  made_by_hand& operator=(const made_by_hand&) = delete;
  ~made_by_hand() { ::close(descriptor_); }
  segment_address address() const { return {::getpid(), descriptor_, {1, 2}}; }

private:
  int descriptor_ = -1;
};

/// While it lives, this process can open no file. What fails meanwhile is looked at afterwards: the sanitizers need
/// a descriptor to look at memory.
class no_descriptors_left {
public:
  no_descriptors_left() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const int next = ::dup(0);
    ::close(next);
    auto none = before_;
    none.rlim_cur = static_cast<rlim_t>(next);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  no_descriptors_left(const no_descriptors_left&) = delete;
  no_descriptors_left& operator=(const no_descriptors_left&) = delete;
  ~no_descriptors_left() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
  struct rlimit before_ {};
};

} // namespace

TEST_CASE("another process sees a buffer itself, not a copy of it") {
  buffer_pool pool{3, 1000, nullptr, shared_backing()};
  const auto a = filled(pool, 1);
  const auto b = filled(pool, 2);
  peer_process peer;
  const auto in_a = peer.open(*handle_of(a)), in_b = peer.open(*handle_of(b));
  CHECK(peer.number("sum " + in_a) == 1000);
  CHECK(peer.number("sum " + in_b) == 2000);
  b.data()[999] = std::byte{77};
  CHECK(peer.number("byte " + in_b + " 999") == 77);
  CHECK(peer.number("sum " + in_a) == 1000);
}

TEST_CASE("what is passed does not grow with the content") {
  // A copy, or a look at the content, would bring its pages into the other process.
  peer_process peer;
  constexpr std::size_t a_page_and_those_around_it = 128;
  for (const std::size_t bytes : {std::size_t{64} << 10, std::size_t{6} << 20}) {
    CAPTURE(bytes);
    buffer_pool pool{2, bytes, nullptr, shared_backing()};
    const auto b = filled(pool, 3);
    const auto before = peer.number("resident");
    const auto opened = peer.open(*handle_of(b));
    CHECK(peer.number("resident") <= before + a_page_and_those_around_it);
    CHECK(peer.number("sum " + opened) == 3 * bytes);
    peer.ask("release " + opened);
  }
}

TEST_CASE("only what lies in shared memory of this process has a handle") {
  buffer_pool heap{1, 64}, shared{1, 64, nullptr, shared_backing()};
  CHECK_FALSE(handle_of({}));
  CHECK_FALSE(handle_of(heap.acquire()));
  const auto b = shared.acquire();
  REQUIRE(handle_of(b));
  CHECK(handle_of(b)->bytes == 64);
  shared_importer importer;
  const auto borrowed = importer.open(*handle_of(b), [] {});
  REQUIRE(borrowed.has_value());
  CHECK_FALSE(handle_of(*borrowed));
}

TEST_CASE("pools take their memory from where their counts say") {
  const auto stats = std::make_shared<pool_stats>("pool", "capture", 0, nullptr, shared_backing());
  buffer_pool pool{2, 100, stats};
  const auto b = pool.acquire();
  CHECK(handle_of(b));
  CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 64 == 0);
  CHECK(stats->now().bytes == 256);
  CHECK(stats->now().in_use == 1);
}

TEST_CASE("each time that a slot is given out it is another one") {
  buffer_pool pool{1, 64, nullptr, shared_backing()};
  const auto first = *handle_of(pool.acquire());
  const auto b = pool.acquire();
  const auto second = *handle_of(b);
  CHECK(second.slot == first.slot);
  CHECK(second.generation == first.generation + 1);
  CHECK(handle_of(b)->generation == second.generation);
  CHECK(
    refusal(first)
    == "slot 0 was lent in generation 1 and is in 2; its owner took the loan back before it was"
       " opened");
  CHECK(refusal(second).empty());
}

TEST_CASE("a handle that names what is not there is refused with what was expected and found") {
  buffer_pool pool{2, 100, nullptr, shared_backing()};
  const auto b = pool.acquire();
  const auto good = *handle_of(b);
  auto h = good;
  h.slot = 2;
  CHECK(refusal(h) == "slot 2 was named, and there are 2; whoever sent the handle is broken");
  h = good;
  h.bytes = 129;
  CHECK(
    refusal(h) == "slot 0 is to hold 129 bytes, and has 128; whoever sent the handle is broken");
  h.bytes = 0;
  CHECK(refusal(h).find("is to hold 0 bytes") != std::string::npos);
  h.bytes = ~std::uint64_t{0};
  CHECK(refusal(h).find("and has 128") != std::string::npos);
  CHECK(refusal(good).empty());
}

TEST_CASE("a process says whether it can borrow from another, and why not") {
  const shared_probe probe;
  const auto a = probe.address();
  CHECK(why_not(may_borrow(a)).empty());
  const auto name = "shared memory of process " + std::to_string(a.process) + ", descriptor ";

  auto other = a;
  ++other.nonce[1];
  CHECK(
    why_not(may_borrow(other))
    == name + std::to_string(a.descriptor)
         + ": the descriptor names other memory by now; the memory that was meant is gone");

  other = a;
  other.process = 0x3fffffff; // above what Linux gives out
  CHECK(
    why_not(may_borrow(other))
      .find("cannot be opened (No such file or directory); its owner is gone, on another host or in"
            " a container of its own")
    != std::string::npos);

  for (const auto process : {0, -1, INT32_MIN}) {
    other.process = process;
    CHECK(why_not(may_borrow(other)).find("no process has this address") != std::string::npos);
  }
  other = a;
  other.descriptor = -1;
  CHECK(why_not(may_borrow(other)).find("no process has this address") != std::string::npos);

  // A pipe that nobody writes to would hold up whoever opens it.
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  other.descriptor = ends[0];
  CHECK(why_not(may_borrow(other)).find("found something that is no file") != std::string::npos);
  ::close(ends[0]);
  ::close(ends[1]);
  other.descriptor = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  CHECK(
    why_not(may_borrow(other)).find("that nobody can shrink, found another file")
    != std::string::npos);
  ::close(other.descriptor);
}

TEST_CASE("memory that says wrong things of itself is refused") {
  constexpr auto whole = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  constexpr auto magic = detail::segment_header::expected_magic;
  struct row {
    const char* what;
    std::uint64_t slots, stride;
    std::size_t bytes;
    int seals;
    const char* refusal; ///< empty: it is sound
  };
  for (const auto& r : {
         row{"sound", 3, 4096, 16384, whole, ""},
         {"may be shrunk", 3, 4096, 16384, 0, "that nobody can shrink, found another file"},
         {"empty", 0, 0, 0, whole, "expected at least 48 bytes, found 0"},
         {"no room for the last slot", 3, 4097, 16384, whole,
          "3 slots of 4097 bytes do not fit its 16384 bytes; its owner is broken"},
         {"product beyond 64 bits", 1U << 31, std::uint64_t{1} << 33, 1 << 20, whole, "do not fit"},
         {"strides beyond 64 bits", 4, std::uint64_t{1} << 62, 16384, whole, "do not fit"},
         {"generations beyond 64 bits", ~std::uint64_t{0} / 8, 0, 16384, whole, "do not fit"},
         {"all bits", ~std::uint64_t{0}, ~std::uint64_t{0}, 16384, whole, "do not fit"},
         {"generations beyond its end", 4096, 1, 16384, whole, "do not fit"},
         {"no slots", 0, ~std::uint64_t{0}, 4096, whole, ""},
       }) {
    CAPTURE(r.what);
    const made_by_hand file{magic, r.slots, r.stride, r.bytes, r.seals};
    const auto found = why_not(may_borrow(file.address()));
    CAPTURE(found);
    if (*r.refusal)
      CHECK(found.find(r.refusal) != std::string::npos);
    else
      CHECK(found.empty());
  }
  const made_by_hand other{magic ^ 1, 1, 64, 8192, whole};
  CHECK(
    why_not(may_borrow(other.address()))
      .find("expected shared memory of this version of HyperFrames")
    != std::string::npos);
}

TEST_CASE("nobody else can write the memory or make it smaller") {
  buffer_pool pool{1, 64, nullptr, shared_backing()};
  const auto b = pool.acquire();
  const auto at = handle_of(b)->segment;
  const auto path = "/proc/self/fd/" + std::to_string(at.descriptor);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  CHECK(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED);
  CHECK(::ftruncate(file, 0) != 0);
  CHECK(::pwrite(file, "x", 1, 0) != 1);
  ::close(file);
  b.data()[0] = std::byte{1}; // its owner still can
}

TEST_CASE("a pool for which there is no shared memory says why") {
  const auto stats = std::make_shared<pool_stats>("pool", "capture", 0, nullptr, shared_backing());
  std::string message;
  try {
    const no_descriptors_left limit; // gone before the handler runs
    buffer_pool{2, 64, stats};
  } catch (const failure& e) {
    message = e.what();
  }
  CHECK(
    message
    == "buffer pool: 2 slots of 64 bytes cannot be had as shared memory (memfd_create: Too many"
       " open files); each pool takes a descriptor: raise the bound on open files (`ulimit -n`)");
  CHECK(stats->now().bytes == 0);
  CHECK_THROWS_WITH_AS(
    buffer_pool(SIZE_MAX / 1024 / 8, 1024, nullptr, shared_backing()),
    doctest::Contains("cannot be had as shared memory"), failure);
}
