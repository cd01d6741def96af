// What a link that is open does when the other end, or the network between, misbehaves.
#include "runtime/net/link_hub.hpp"
#include "runtime/process_memory.hpp"
#include "tests/net/deployment.hpp"
#include "tests/net/ends.hpp"
#include "tests/net/raw_peer.hpp"
#include "tests/net/relay.hpp"

#include <doctest/doctest.h>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

using namespace hyperframes;
using namespace hyperframes::test;
using std::chrono::milliseconds;

namespace {

/// The header of a message and a table of sizes, whatever they claim.
std::vector<std::byte> header(
  std::uint8_t kind, std::uint32_t head, std::uint32_t parts,
  const std::vector<std::uint64_t>& sizes = {}) {
  std::vector<std::byte> bytes(16 + 8 * sizes.size());
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  };
  put(0, kind, 1);
  put(4, head, 4);
  put(8, parts, 4);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    put(16 + 8 * i, sizes[i], 8);
  return bytes;
}

const link_settings quick{
  .heartbeat = milliseconds{20}, .dead_after = milliseconds{200}, .first_pause = milliseconds{1}};
const std::string stands_still =
  "nothing came for 200 ms: the other side, or the network between, stands still";

} // namespace

TEST_CASE("a size beyond its bound takes the link down, before memory is taken") {
  struct attempt {
    lane on;
    std::vector<std::byte> bytes;
    const char* why;
  };
  const auto with_head = [](std::vector<std::byte> bytes, std::size_t head) {
    bytes.resize(bytes.size() + head);
    return bytes;
  };
  const auto changed = [](std::vector<std::byte> bytes, std::size_t at) {
    bytes[at] = std::byte{1};
    return bytes;
  };
  const attempt attempts[] = {
    {lane::control, header(1, 0xffffffff, 0),
     "a message's head claims 4294967295 bytes; at most 1048576 are allowed"},
    {lane::data, header(1, link_head_bytes + 1, 0),
     "a message's head claims 1048577 bytes; at most 1048576 are allowed"},
    {lane::data, header(1, 4, 0xffffffff),
     "a message claims 4294967295 parts; at most 4096 are allowed"},
    {lane::data, header(1, 4, 4097), "a message claims 4097 parts; at most 4096 are allowed"},
    {lane::data, with_head(header(1, 4, 1, {0xffffffff}), 4),
     "part 0 of a message claims 4294967295 bytes; there is room for 65536"},
    {lane::data, with_head(header(1, 0, 2, {65536, 65537}), 0),
     "part 1 of a message claims 65537 bytes; there is room for 65536"},
    {lane::data, with_head(header(1, 0, 1, {~std::uint64_t{0}}), 0),
     "part 0 of a message claims 18446744073709551615 bytes; there is room for 65536"},
    {lane::data, with_head(header(1, 4, 9, std::vector<std::uint64_t>(9, 1)), 4),
     "a message with 9 parts, the first of 1 bytes, is more than was agreed on"},
    {lane::control, header(0, 0, 0), "what came is no message of the link protocol"},
    {lane::control, header(3, 0, 0), "what came is no message of the link protocol"},
    {lane::control, changed(header(1, 0, 0), 3), "what came is no message of the link protocol"},
    {lane::data, changed(header(2, 0, 0), 12), "what came is no message of the link protocol"},
    {lane::control, header(2, 1, 0), "what came is no message of the link protocol"},
    {lane::control, bytes_of("GET / HTTP/1.1\r\n"), "what came is no message of the link protocol"},
  };
  link_hub hub{{}};
  const auto port = hub.listen("127.0.0.1", 0);
  const auto user = std::make_shared<heard>(8, 65536);
  const auto l = hub.accept(id_of(1), user);
  const auto before = memory_of_process().peak;
  std::size_t count = 0;
  for (const auto& a : attempts) {
    INFO(a.why);
    raw_link peer{port, id_of(1)};
    REQUIRE(peer.open);
    REQUIRE(user->wait_up(++count));
    auto& on = a.on == lane::control ? peer.control : peer.data;
    on.write(a.bytes);
    REQUIRE(user->wait_down(count));
    CHECK(user->downs().back() == a.why);
    CHECK(l->trouble() == a.why);
    peer.control.wait_closed(); // both, whichever it was
    peer.data.wait_closed();
  }
  CHECK(memory_of_process().peak - before < memory_margin);
  CHECK(user->messages().empty());
  CHECK(eventually([&] { return user->pool().in_use() == 0; }));
}

TEST_CASE("a user that throws, or places too little, takes the link down and nothing else") {
  struct throws : heard {
    bool place(
      std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
      std::vector<buffer_ref>& into) override {
      if (text_of(head) == "throw")
        throw std::runtime_error("no such stage");
      return text_of(head) == "forget" ? true : heard::place(head, sizes, into);
    }
    void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override {
      if (text_of(head) == "throw")
        throw std::runtime_error("no such edge");
      heard::received(on, head, std::move(bulk));
    }
  };
  link_hub a{{.first_pause = milliseconds{1}}}, b{{}};
  const auto port = b.listen("127.0.0.1", 0);
  const auto sender = std::make_shared<heard>();
  const auto user = std::make_shared<throws>();
  const auto at_b = b.accept(id_of(1), user);
  const auto at_a = a.connect("127.0.0.1", port, id_of(1), sender);
  buffer_pool pool{1, 100};
  const auto slot = drawn(pool.acquire(), 100, 1);
  std::size_t count = 0;
  const auto check = [&](const char* head, std::vector<bulk_part> bulk, const char* why) {
    REQUIRE(user->wait_up(++count));
    REQUIRE(sender->wait_up(count));
    at_a->send(sender->incarnation(), lane::data, bytes_of(head), std::move(bulk));
    REQUIRE(user->wait_down(count));
    CHECK(user->downs().back() == why);
    REQUIRE(sender->wait_down(count));
  };
  check("throw", {}, "a message could not be taken: no such edge");
  check("throw", {slot}, "a message could not be taken: no such stage");
  check("forget", {slot}, "part 0 of a message claims 100 bytes; there is room for 0");
  REQUIRE(user->wait_up(++count));
  REQUIRE(sender->wait_up(count));
  at_a->send(sender->incarnation(), lane::data, bytes_of("good"), {slot});
  CHECK(user->wait_messages(1));
}

TEST_CASE("a cut in the middle of a message is told at both ends, and the link comes back") {
  relayed r{quick};
  REQUIRE(r.a->wait_up());
  REQUIRE(r.b->wait_up());
  buffer_pool pool{2, 1 << 16};
  r.relay.pass(1000); // a part of the first message, no more
  const auto first = r.a->incarnation();
  for (unsigned i = 0; i < 2; ++i)
    r.at_a->send(first, lane::data, bytes_of("cut"), {drawn(pool.acquire(), 1 << 16, i)});
  REQUIRE(r.relay.wait_passed());
  r.relay.cut();
  REQUIRE(r.a->wait_down());
  REQUIRE(r.b->wait_down());
  CHECK(eventually([&] { return pool.in_use() == 0; }));
  CHECK(eventually([&] { return r.b->pool().in_use() == 0; }));
  CHECK(r.at_a->queued_bytes() == 0);
  r.relay.pass_all();
  REQUIRE(r.a->wait_up(2));
  REQUIRE(r.b->wait_up(2));
  const auto second = r.a->incarnation();
  CHECK(second > first);
  CHECK(r.b->incarnation() == second);
  CHECK(r.b->messages().empty());
  // What belongs to the time before is not sent now.
  r.at_a->send(first, lane::control, bytes_of("stale"));
  r.at_a->send(second, lane::control, bytes_of("fresh"));
  REQUIRE(r.b->wait_messages(1));
  CHECK(r.b->messages()[0].head == "fresh");
  // Of the first two as many as the system had not yet taken.
  CHECK(eventually([&] {
    const auto c = r.at_a->counters();
    return c.messages_discarded >= 1 && c.messages_sent + c.messages_discarded == 4;
  }));
}

TEST_CASE("a network that stands still is found at both ends, and the link comes back") {
  relayed r{quick};
  REQUIRE(r.a->wait_up());
  REQUIRE(r.b->wait_up());
  r.relay.pass(0);
  REQUIRE(r.a->wait_down());
  REQUIRE(r.b->wait_down());
  CHECK(r.a->downs()[0] == stands_still);
  CHECK(
    (r.b->downs()[0] == stands_still || r.b->downs()[0] == "the other side closed the connection"));
  r.relay.pass_all();
  REQUIRE(r.a->wait_up(2));
  REQUIRE(r.b->wait_up(2));
}

TEST_CASE(
  "a network that stands still while much is under way is found too, and buffers come back") {
  relayed r{quick};
  REQUIRE(r.a->wait_up());
  REQUIRE(r.b->wait_up());
  constexpr std::size_t slots = 16, bytes = 1 << 20;
  buffer_pool pool{slots, bytes};
  r.relay.pass(0);
  for (unsigned i = 0; i < slots; ++i)
    r.at_a->send(r.a->incarnation(), lane::data, {}, {drawn(pool.acquire(), bytes, i)});
  REQUIRE(r.a->wait_down());
  CHECK(r.a->downs()[0] == stands_still);
  CHECK(r.at_a->counters().messages_discarded > 0); // the system took some of them
  CHECK(eventually([&] { return pool.in_use() == 0; }));
  CHECK(eventually([&] { return r.at_a->queued_bytes() == 0; }));
}

TEST_CASE("heartbeats keep a link that has nothing to say") {
  // Long enough that a machine with other work keeps it.
  relayed r{{.heartbeat = milliseconds{20}, .dead_after = milliseconds{2000}}};
  REQUIRE(r.a->wait_up());
  REQUIRE(r.b->wait_up());
  // 16 bytes on 2 lanes in 2 directions, for longer than dead_after.
  const auto passed = r.relay.passed();
  REQUIRE(eventually([&] { return r.relay.passed() > passed + 120 * 16 * 4; }));
  for (const auto& end : {r.a, r.b}) {
    for (const auto& why : end->downs())
      FAIL_CHECK(why);
    CHECK(end->ups().size() == 1);
  }
}

TEST_CASE("a network that is slow is not dead: a message may take longer than dead_after") {
  relayed r{{.heartbeat = milliseconds{20}, .dead_after = milliseconds{1500}}, 1, 1 << 20};
  REQUIRE(r.a->wait_up());
  REQUIRE(r.b->wait_up());
  // 1 MB takes 3 s.
  r.relay.drip((1 << 20) / 150, milliseconds{20});
  buffer_pool pool{1, 1 << 20};
  const auto sent = drawn(pool.acquire(), 1 << 20, 1);
  r.at_a->send(r.a->incarnation(), lane::data, {}, {sent});
  REQUIRE(r.b->wait_messages(1));
  CHECK(same(r.b->messages()[0].bulk.at(0), sent));
  for (const auto& end : {r.a, r.b})
    for (const auto& why : end->downs())
      FAIL_CHECK(why);
}

TEST_CASE("a process that is killed is told of at once, and its successor is taken") {
  const deployment d;
  const auto files = d.issue("n");
  for (const bool secure : {false, true}) {
    INFO(secure);
    link_settings settings;
    if (secure)
      settings.tls = files;
    // The child waits with its hub for its port; it is forked before this process has threads.
    int ports[2];
    REQUIRE(::pipe(ports) == 0);
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::alarm(60);
      std::uint16_t port = 0;
      if (::read(ports[0], &port, sizeof port) != sizeof port)
        ::_exit(1);
      const auto user = std::make_shared<heard>();
      link_hub hub{settings};
      const auto l = hub.connect("127.0.0.1", port, id_of(1), user);
      if (!user->wait_up())
        ::_exit(1);
      buffer_pool pool{8, 1 << 20};
      for (unsigned i = 0;; ++i) { // never still
        auto slot = pool.acquire();
        if (slot)
          l->send(
            user->incarnation(), lane::data, bytes_of("x"), {drawn(std::move(slot), 1 << 20, i)});
        else
          std::this_thread::yield();
      }
    }
    const auto user = std::make_shared<heard>(64, 1 << 20);
    link_hub hub{settings};
    const auto l = hub.accept(id_of(1), user);
    const auto port = hub.listen("127.0.0.1", 0);
    REQUIRE(::write(ports[1], &port, sizeof port) == sizeof port);
    ::close(ports[0]);
    ::close(ports[1]);
    REQUIRE(user->wait_messages(3));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    REQUIRE(user->wait_down());
    const auto count = l->counters().messages_received;
    user->forget_messages();
    CHECK(eventually([&] { return user->pool().in_use() == 0; }));
    CHECK(l->counters().messages_received == count);

    const auto successor = std::make_shared<heard>();
    link_hub other{settings};
    const auto again = other.connect("127.0.0.1", port, id_of(1), successor);
    REQUIRE(user->wait_up(2));
    REQUIRE(successor->wait_up());
    again->send(successor->incarnation(), lane::control, bytes_of("anew"));
    CHECK(user->wait_messages(1));
  }
}
