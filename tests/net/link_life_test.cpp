// How links come up, go down and end where nobody misbehaves.
#include "runtime/error.hpp"
#include "runtime/net/link_hub.hpp"
#include "runtime/net/link_opening.hpp"
#include "tests/net/deployment.hpp"
#include "tests/net/ends.hpp"
#include "tests/net/raw_peer.hpp"
#include "tests/net/relay.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>

using namespace hyperframes;
using namespace hyperframes::test;
using std::chrono::milliseconds;

namespace {

const link_settings eager{.first_pause = milliseconds{1}, .longest_pause = milliseconds{20}};

std::string thrown_by(auto&& f) {
  try {
    f();
  } catch (const failure& e) {
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("a large message under way holds up no small one") {
  // The data lane stands still in the middle of a message; what is known of it is that nothing
  // comes.
  link_settings settings;
  settings.dead_after = std::chrono::minutes{2};
  relayed r{settings, 64, 1 << 20};
  REQUIRE(r.a->wait_up());
  REQUIRE(r.b->wait_up());
  r.relay.pass_each(100'000);
  constexpr unsigned count = 32;
  buffer_pool pool{count, 1 << 20};
  std::vector<bulk_part> sent;
  for (unsigned i = 0; i < count; ++i) {
    sent.push_back(drawn(pool.acquire(), 1 << 20, i));
    r.at_a->send(r.a->incarnation(), lane::data, {}, {sent.back()});
  }
  for (int i = 0; i < 100; ++i) {
    r.at_a->send(r.a->incarnation(), lane::control, bytes_of("there"));
    r.at_b->send(r.b->incarnation(), lane::control, bytes_of("back"));
  }
  REQUIRE(r.a->wait_messages(100));
  REQUIRE(r.b->wait_messages(100));
  for (const auto& m : r.b->messages())
    CHECK(m.on == lane::control);
  CHECK(r.at_a->queued_bytes() > 0);
  r.relay.pass_all();
  REQUIRE(r.b->wait_messages(100 + count));
  for (unsigned i = 0; i < count; ++i)
    CHECK(same(r.b->messages()[100 + i].bulk.at(0), sent[i]));
}

TEST_CASE("it does not matter which end is there first") {
  const auto a = std::make_shared<heard>(), b = std::make_shared<heard>();
  link_hub opening{eager}, accepting{eager};
  const auto port = accepting.listen("127.0.0.1", 0);
  const auto at_a = opening.connect("127.0.0.1", port, id_of(1), a);
  const auto unexpected =
    "127.0.0.1:" + std::to_string(port)
    + ": the other side does not expect this link; it ended there, or belongs to another run";
  REQUIRE(eventually([&] { return at_a->trouble() == unexpected; }));
  CHECK(at_a->incarnation() == 0);
  const auto at_b = accepting.accept(id_of(1), b);
  REQUIRE(a->wait_up());
  REQUIRE(b->wait_up());
  CHECK(at_a->trouble() == "");
  at_b->close();
  REQUIRE(a->wait_down());
  CHECK(a->downs()[0] == "the other side closed the connection");
  REQUIRE(eventually([&] { return at_a->trouble() == unexpected; }));
}

TEST_CASE("why a link cannot be opened is said") {
  const deployment d, other;
  const auto user = std::make_shared<heard>();
  link_hub ours{{.tls = d.issue("ours"), .first_pause = milliseconds{1}}},
    theirs{{.tls = other.issue("theirs")}}, plain{eager};
  const auto to_theirs = theirs.listen("127.0.0.1", 0), to_plain = plain.listen("127.0.0.1", 0);
  std::uint16_t to_nobody = 0;
  {
    link_hub gone{{}};
    to_nobody = gone.listen("127.0.0.1", 0);
  }
  const auto trouble = [&](link_hub& from, std::uint16_t port) {
    const auto l = from.connect("127.0.0.1", port, id_of(1), user);
    REQUIRE(eventually([&] { return l->trouble() != ""; }));
    const auto why = l->trouble();
    l->close();
    const auto place = "127.0.0.1:" + std::to_string(port) + ": ";
    REQUIRE(why.starts_with(place));
    return why.substr(place.size());
  };
  CHECK(trouble(plain, to_nobody) == "it cannot be connected to: Connection refused");
  CHECK(
    trouble(ours, to_theirs)
    == "its certificate is refused: unable to get local issuer certificate");
  CHECK(trouble(plain, to_theirs) != "");
  CHECK(trouble(ours, to_plain) != "");
  CHECK(user->ups().empty());
  CHECK(user->downs().empty());
}

TEST_CASE("whoever is no member is not told the secret of a link that is opened to it") {
  const deployment d, other;
  const auto foreign = other.issue("foreign");
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor{io, {asio::ip::make_address("127.0.0.1"), 0}};
  asio::ssl::context tls{asio::ssl::context::tls_server};
  tls.use_certificate_file(foreign.certificate, asio::ssl::context::pem);
  tls.use_private_key_file(foreign.key, asio::ssl::context::pem);
  link_hub opening{{.tls = d.issue("n")}};
  const auto l = opening.connect(
    "127.0.0.1", acceptor.local_endpoint().port(), id_of(1), std::make_shared<heard>());
  asio::ip::tcp::socket socket{io};
  acceptor.accept(socket);
  asio::ssl::stream<asio::ip::tcp::socket&> stream{socket, tls};
  boost::system::error_code e;
  stream.handshake(asio::ssl::stream_base::server, e);
  std::array<std::byte, 1> secret{};
  CHECK(asio::read(stream, asio::buffer(secret), e) == 0);
  CHECK(e);
}

TEST_CASE("pauses between attempts grow up to the longest, and begin anew") {
  growing_pause p{milliseconds{50}, milliseconds{300}};
  for (const int ms : {50, 100, 200, 300, 300})
    CHECK(p.next() == milliseconds{ms});
  p.begin_anew();
  CHECK(p.next() == milliseconds{50});
}

TEST_CASE("a link that cannot be opened is tried again, each time after a longer pause") {
  refusals told;
  link_hub opening{{.first_pause = milliseconds{1}, .longest_pause = milliseconds{64}}},
    accepting{{}, told.listener()};
  const auto port = accepting.listen("127.0.0.1", 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto l = opening.connect("127.0.0.1", port, id_of(1), std::make_shared<heard>());
  // The eighth attempt, of which at least one lane has been refused.
  REQUIRE(eventually([&] { return accepting.rejected() > 7 * 2; }));
  CHECK(std::chrono::steady_clock::now() - begin >= milliseconds{1 + 2 + 4 + 8 + 16 + 32 + 64});
}

TEST_CASE("an opener that comes anew replaces what was, an older one does not") {
  refusals told;
  link_hub hub{{}, told.listener()};
  const auto port = hub.listen("127.0.0.1", 0);
  const auto user = std::make_shared<heard>();
  const auto l = hub.accept(id_of(1), user);
  raw_link first{port, id_of(1), 5};
  REQUIRE(user->wait_up());
  CHECK(user->ups() == std::vector<std::uint32_t>{5});
  for (const std::uint32_t old : {5, 4}) {
    const raw_link again{port, id_of(1), old};
    CHECK_FALSE(again.open);
  }
  CHECK(user->downs().empty());
  REQUIRE(told.wait(1));
  CHECK(
    told.all()[0]
    == "a connection from 127.0.0.1 was refused: it named a link that is open already");
  raw_link second{port, id_of(1), 6};
  CHECK(second.open);
  REQUIRE(user->wait_up(2));
  CHECK(user->ups().back() == 6);
  CHECK(user->downs() == std::vector<std::string>{"the other side opened the link anew"});
  first.control.wait_closed();
  first.data.wait_closed();

  // A lane alone makes place for both of a later attempt, and takes part in none of an earlier one.
  second.data.close();
  REQUIRE(user->wait_down(2));
  raw_peer half{port};
  half.hello(id_of(1), lane::control, 9);
  raw_link older{port, id_of(1), 8};
  CHECK_FALSE(older.open);
  raw_link later{port, id_of(1), 10};
  CHECK(later.open);
  CHECK(half.wait_closed() == 0);
  REQUIRE(user->wait_up(3));
  CHECK(user->ups().back() == 10);
}

TEST_CASE("what cannot be sent is refused or discarded, and counted") {
  link_hub hub{{}};
  const auto l = hub.accept(id_of(1), std::make_shared<heard>());
  l->send(0, lane::data, bytes_of("down"));
  l->send(1, lane::data, bytes_of("down"));
  CHECK(l->counters().messages_discarded == 2);
  CHECK(l->queued_bytes() == 0);
  CHECK(
    thrown_by([&] { l->send(1, lane::data, std::vector<std::byte>(link_head_bytes + 1)); })
    == "link: a message of 1048577 bytes of head and 0 parts is too large; at most 1048576 bytes "
       "and "
       "4096 parts are allowed: carry more as bulk, or in more messages");
  CHECK(
    thrown_by([&] { l->send(1, lane::data, {}, std::vector<bulk_part>(link_bulk_parts + 1)); })
    != "");
  buffer_pool pool{1, 10};
  CHECK(
    thrown_by([&] {
      l->send(1, lane::data, {}, {{pool.acquire(), 11}});
    })
    == "link: a part of 11 bytes lies in a buffer of 10");
  CHECK(pool.in_use() == 0);
}

TEST_CASE("close ends a link for its user at once, from within a call too") {
  struct closes : heard {
    void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override {
      self->close();
      heard::received(on, head, std::move(bulk));
    }
    std::shared_ptr<hyperframes::link> self;
  };
  link_hub opening{eager}, accepting{{}};
  const auto port = accepting.listen("127.0.0.1", 0);
  const auto a = std::make_shared<heard>();
  const auto b = std::make_shared<closes>();
  b->self = accepting.accept(id_of(1), b);
  const auto at_a = opening.connect("127.0.0.1", port, id_of(1), a);
  REQUIRE(a->wait_up());
  for (int i = 0; i < 100; ++i)
    at_a->send(a->incarnation(), lane::control, bytes_of("x"));
  REQUIRE(a->wait_down());
  CHECK(b->wait_messages(1));
  CHECK(b->messages().size() == 1);
  CHECK(b->downs().empty());
  CHECK(b->self->trouble() == "the link was closed here");
  b->self->close();
  const std::weak_ptr<hyperframes::link> gone = b->self;
  b->self = nullptr;
  CHECK(eventually([&] { return gone.expired(); }));
}

TEST_CASE("close from another thread is the end for the user, also of what has come already") {
  /// Keeps the I/O thread in its first call until it may go on.
  struct keeps : heard {
    void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override {
      heard::received(on, head, std::move(bulk));
      may_go_on.wait(false);
    }
    std::atomic<bool> may_go_on{false};
  };
  link_hub hub{{}};
  const auto port = hub.listen("127.0.0.1", 0);
  std::array<std::shared_ptr<keeps>, 3> users;
  std::array<std::shared_ptr<hyperframes::link>, 3> links;
  std::vector<std::unique_ptr<raw_link>> peers;
  for (unsigned i = 0; i < 3; ++i) {
    users[i] = std::make_shared<keeps>();
    links[i] = hub.accept(id_of(1, i), users[i]);
    peers.push_back(std::make_unique<raw_link>(port, id_of(1, i)));
    REQUIRE(users[i]->wait_up());
  }
  // While the first call is under way something comes for both of the others; while the one that is
  // served then is under way, the other one is closed.
  const auto empty = link_wire::encode_header(0, {});
  peers[0]->control.write(empty);
  REQUIRE(users[0]->wait_messages(1));
  peers[1]->control.write(empty);
  peers[2]->control.write(empty);
  users[0]->may_go_on = true;
  users[0]->may_go_on.notify_all();
  REQUIRE(
    eventually([&] { return users[1]->messages().size() + users[2]->messages().size() == 1; }));
  const auto closed = users[1]->messages().empty() ? 1 : 2;
  links[closed]->close();
  for (auto& user : users) {
    user->may_go_on = true;
    user->may_go_on.notify_all();
  }
  peers[closed]->control.wait_closed();
  CHECK(users[closed]->messages().empty());
  CHECK(users[closed]->downs().empty());
}

TEST_CASE("a link that is closed can be expected again at once") {
  link_hub opening{eager}, accepting{{}};
  const auto port = accepting.listen("127.0.0.1", 0);
  const auto a = std::make_shared<heard>();
  const auto at_a = opening.connect("127.0.0.1", port, id_of(1), a);
  for (std::size_t i = 1; i <= 5; ++i) {
    const auto b = std::make_shared<heard>();
    const auto at_b = accepting.accept(id_of(1), b);
    REQUIRE(b->wait_up());
    REQUIRE(a->wait_up(i));
    at_b->close();
    REQUIRE(a->wait_down(i));
  }
}

TEST_CASE("the end of a hub ends its links; who keeps one has an end that is down") {
  buffer_pool pool{8, 1 << 20};
  const auto a = std::make_shared<heard>(), b = std::make_shared<heard>(8, 1 << 20);
  link_hub accepting{{}};
  const auto port = accepting.listen("127.0.0.1", 0);
  const auto at_b = accepting.accept(id_of(1), b);
  std::shared_ptr<hyperframes::link> kept;
  {
    link_hub opening{{}};
    kept = opening.connect("127.0.0.1", port, id_of(1), a);
    REQUIRE(a->wait_up());
    for (unsigned i = 0; i < 8; ++i)
      kept->send(a->incarnation(), lane::data, {}, {drawn(pool.acquire(), 1 << 20, i)});
  }
  CHECK(pool.in_use() == 0);
  CHECK(kept->queued_bytes() == 0);
  CHECK(a.use_count() == 1);
  CHECK(a->downs().empty());
  REQUIRE(b->wait_down());
  kept->send(a->incarnation(), lane::control, bytes_of("late"));
  CHECK(kept->incarnation() == 0);
  kept->close();
  kept = nullptr;
}

TEST_CASE("one hub carries many links, each with its own") {
  constexpr std::uint32_t count = 40;
  const deployment d;
  const auto files = d.issue("n");
  link_hub opening{{.tls = files}}, accepting{{.tls = files}};
  const auto port = accepting.listen("127.0.0.1", 0);
  std::vector<std::shared_ptr<heard>> as, bs;
  std::vector<std::shared_ptr<hyperframes::link>> links;
  for (std::uint32_t i = 0; i < count; ++i) {
    as.push_back(std::make_shared<heard>());
    bs.push_back(std::make_shared<heard>());
    links.push_back(accepting.accept(id_of(1, i, 2), bs.back()));
    links.push_back(opening.connect("127.0.0.1", port, id_of(1, i, 2), as.back()));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    REQUIRE(as[i]->wait_up());
    links[2 * i + 1]->send(as[i]->incarnation(), lane::data, bytes_of(std::to_string(i)));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    REQUIRE(bs[i]->wait_messages(1));
    CHECK(bs[i]->messages()[0].head == std::to_string(i));
  }
}
