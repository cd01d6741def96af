// Whoever has no business here: refused, told of once, at no cost, and the others are served.
#include "runtime/net/link_hub.hpp"
#include "runtime/process_memory.hpp"
#include "tests/net/deployment.hpp"
#include "tests/net/ends.hpp"
#include "tests/net/raw_peer.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

/// What is still done for whoever may come.
void check_service(link_hub& at, std::uint16_t port, const link_settings& settings) {
  const auto a = std::make_shared<heard>(), b = std::make_shared<heard>();
  const auto in = at.accept(id_of(77), b);
  link_hub peer{settings};
  const auto out = peer.connect("127.0.0.1", port, id_of(77), a);
  REQUIRE(a->wait_up());
  out->send(a->incarnation(), lane::control, bytes_of("still here"));
  CHECK(b->wait_messages(1));
  in->close();
}

std::string refused(const std::string& address, const std::string& why) {
  return "a connection from " + address + " was refused: " + why;
}

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::vector<std::byte> bytes(count);
  for (auto& b : bytes)
    b = static_cast<std::byte>(random());
  return bytes;
}

} // namespace

TEST_CASE("without a certificate of the deployment nobody gets in, and each is told of once") {
  const deployment d, other;
  const auto good = d.issue("good");
  const auto expired = d.issue("expired", d.now - std::chrono::hours{72}, 1);
  const auto foreign = other.issue("foreign");
  refusals told;
  const link_settings settings{.tls = good};
  link_hub hub{settings, told.listener()};
  const auto port = hub.listen("127.0.0.1", 0);
  const auto user = std::make_shared<heard>();
  const auto expects = hub.accept(id_of(1), user);

  struct attempt {
    const char* from;
    std::optional<tls_files> shown;
    const char* why;
  };
  const attempt attempts[] = {
    {"127.0.0.2", std::nullopt, "it shows no certificate"},
    {"127.0.0.3", expired, "its certificate is refused: certificate has expired"},
    {"127.0.0.4", foreign, "its certificate is refused: unable to get local issuer certificate"},
    // The authority's own key signs for nobody who is asked.
    {"127.0.0.5", tls_files{d.folder / "certs/ca.pem", d.folder / "certs/ca.key", ""},
     "its certificate is refused: "},
  };
  const auto before = memory_of_process().peak;
  std::size_t count = 0;
  for (const auto& a : attempts) {
    INFO(a.from);
    for (int i = 0; i < 2; ++i) {
      auto tls = careless_tls(a.shown);
      raw_peer peer{port, a.from};
      peer.handshake(tls);
      peer.hello(id_of(1), lane::control);
      CHECK(peer.wait_closed() == 0);
    }
    REQUIRE(told.wait(++count));
    CHECK_MESSAGE(told.all().back().starts_with(refused(a.from, a.why)), told.all().back());
  }
  CHECK(eventually([&] { return hub.rejected() == 8; }));
  CHECK(told.all().size() == 4);
  CHECK(memory_of_process().peak - before < memory_margin);
  CHECK(user->ups().empty());
  check_service(hub, port, settings);
}

TEST_CASE("an older TLS is refused") {
  const deployment d;
  const auto good = d.issue("good");
  refusals told;
  link_hub hub{{.tls = good}, told.listener()};
  const auto port = hub.listen("127.0.0.1", 0);
  auto tls = careless_tls(good);
  tls.set_options(asio::ssl::context::no_tlsv1_3);
  raw_peer peer{port};
  CHECK_FALSE(peer.handshake(tls));
  REQUIRE(told.wait(1));
  CHECK_MESSAGE(
    told.all()[0].starts_with(refused("127.0.0.1", "it does not speak TLS 1.3 as is expected: ")),
    told.all()[0]);
}

TEST_CASE("no session can be resumed: each connection shows its certificate") {
  const deployment d;
  const auto good = d.issue("good");
  link_hub hub{{.tls = good}};
  const auto port = hub.listen("127.0.0.1", 0);
  const auto user = std::make_shared<heard>();
  const auto l = hub.accept(id_of(1), user);
  auto tls = careless_tls(good);
  raw_peer control{port}, data{port};
  REQUIRE(control.handshake(tls));
  REQUIRE(data.handshake(tls));
  control.hello(id_of(1), lane::control);
  data.hello(id_of(1), lane::data);
  CHECK(control.welcome()); // a ticket would have come before it
  CHECK_FALSE(control.resumable());
  CHECK(user->wait_up());
}

TEST_CASE("what speaks no TLS is refused, random bytes too") {
  const deployment d;
  const link_settings settings{.tls = d.issue("good")};
  refusals told;
  link_hub hub{settings, told.listener()};
  const auto port = hub.listen("127.0.0.1", 0);
  const auto user = std::make_shared<heard>();
  const auto expects = hub.accept(id_of(1), user);
  const auto before = memory_of_process().peak;
  raw_peer plain{port, "127.0.0.2"};
  plain.hello(id_of(1), lane::control);
  plain.wait_closed();
  REQUIRE(told.wait(1));
  CHECK_MESSAGE(
    told.all()[0].starts_with(refused("127.0.0.2", "it does not speak TLS 1.3 as is expected: ")),
    told.all()[0]);
  for (unsigned seed = 0; seed < 200; ++seed) {
    raw_peer peer{port, "127.0.0.3"};
    auto bytes = random_bytes(1 + seed * 7, seed);
    if (seed % 2 == 1 && bytes.size() > 5) { // a TLS record that claims to be as large as can be
      bytes[0] = std::byte{0x16};
      bytes[1] = bytes[2] = std::byte{0x03};
      bytes[3] = bytes[4] = std::byte{0xff};
    }
    peer.write(bytes);
    boost::system::error_code e;
    peer.tcp().shutdown(asio::socket_base::shutdown_send, e);
    peer.wait_closed();
  }
  CHECK(eventually([&] { return hub.rejected() == 201; }));
  CHECK(told.all().size() < 20); // once for each reason that OpenSSL knows
  CHECK(memory_of_process().peak - before < memory_margin);
  CHECK(user->ups().empty());
  check_service(hub, port, settings);
}

TEST_CASE("a hello that is not ours is refused, each kind with its reason") {
  refusals told;
  link_hub hub{{}, told.listener()};
  const auto port = hub.listen("127.0.0.1", 0);
  const auto user = std::make_shared<heard>();
  const auto expects = hub.accept(id_of(1), user);
  const auto good = link_wire::encode(link_wire::hello{id_of(1), lane::control, 1});
  const auto changed = [&](std::size_t at, unsigned char to) {
    auto bytes = good;
    bytes[at] = std::byte{to};
    return std::vector<std::byte>{bytes.begin(), bytes.end()};
  };
  struct attempt {
    std::vector<std::byte> bytes;
    const char* why;
    std::string answered;
  };
  const std::string version =
    "it speaks another version of the link protocol than 1; run the same release at both ends";
  const attempt attempts[] = {
    {changed(0, 'X'), "what it sent is not the link protocol", ""},
    {random_bytes(48, 1), "what it sent is not the link protocol", ""},
    {bytes_of("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"),
     "what it sent is not the link protocol", ""},
    {changed(8, 2), version.c_str(), "the other side refused the link"},
    {changed(10, 2), "its hello is malformed", ""},
    {changed(15, 1), "its hello is malformed", ""},
    {changed(47, 1), "its hello is malformed", ""},
    {changed(40, 0), "its hello is malformed", ""},
    {changed(16, 9), "it named a link that is not expected",
     "the other side does not expect this link; it ended there, or belongs to another run"},
    {changed(31, 9), "it named a link that is not expected",
     "the other side does not expect this link; it ended there, or belongs to another run"},
    {changed(32, 9), "it named a link that is not expected",
     "the other side does not expect this link; it ended there, or belongs to another run"},
    {changed(36, 9), "it named a link that is not expected",
     "the other side does not expect this link; it ended there, or belongs to another run"},
  };
  std::size_t count = 0;
  for (const auto& a : attempts) {
    const auto from = "127.0.0." + std::to_string(2 + count);
    INFO(from);
    raw_peer peer{port, from};
    peer.write(a.bytes);
    const auto answer = peer.read(link_wire::welcome_bytes);
    REQUIRE(answer.size() == (a.answered.empty() ? 0 : link_wire::welcome_bytes));
    if (!a.answered.empty())
      CHECK(
        link_wire::decode_welcome(std::span<const std::byte, link_wire::welcome_bytes>{answer})
        == a.answered);
    REQUIRE(told.wait(++count));
    CHECK(told.all().back() == refused(from, a.why));
  }
  raw_peer cut{port, "127.0.0.100"};
  cut.write(std::span{good}.first(47));
  cut.close();
  REQUIRE(told.wait(++count));
  CHECK(
    told.all().back()
    == refused("127.0.0.100", "the other side closed the connection before it named a link"));
  CHECK(user->ups().empty());
  check_service(hub, port, {});
}

TEST_CASE("who says nothing is given up after the set time, with TLS and without, in every phase") {
  const deployment d;
  const auto good = d.issue("good");
  for (const bool secure : {false, true}) {
    INFO(secure);
    refusals told;
    link_settings settings{.handshake_patience = std::chrono::milliseconds{100}};
    if (secure)
      settings.tls = good;
    link_hub hub{settings, told.listener()};
    const auto port = hub.listen("127.0.0.1", 0);
    const auto user = std::make_shared<heard>();
    const auto expects = hub.accept(id_of(1), user);
    raw_peer silent{port, "127.0.0.2"}, half{port, "127.0.0.3"};
    auto tls = careless_tls(good);
    if (secure)
      CHECK(half.handshake(tls));
    const auto hello = link_wire::encode(link_wire::hello{id_of(1), lane::control, 1});
    half.write(std::span{hello}.first(20));
    silent.wait_closed();
    half.wait_closed();
    REQUIRE(told.wait(2));
    CHECK(hub.rejected() == 2);
    for (const auto& sentence : told.all())
      CHECK(sentence.ends_with(" was refused: it opened no link within 100 ms"));
    // One lane is no link.
    raw_peer one{port, "127.0.0.4"};
    if (secure)
      CHECK(one.handshake(tls));
    one.write(hello);
    CHECK_FALSE(one.welcome());
    CHECK(eventually([&] { return expects->trouble() == "only one of the two lanes was opened"; }));
    CHECK(user->ups().empty());
  }
}

TEST_CASE("of connections that open no link 32 are kept, and others are still served") {
  refusals told;
  link_hub hub{{.handshake_patience = std::chrono::minutes{10}}, told.listener()};
  const auto port = hub.listen("127.0.0.1", 0);
  std::vector<std::unique_ptr<raw_peer>> peers;
  for (int i = 0; i < 40; ++i)
    peers.push_back(std::make_unique<raw_peer>(port));
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(peers[i]->wait_closed() == 0);
  CHECK(eventually([&] { return hub.rejected() == 8; }));
  REQUIRE(told.wait(1));
  CHECK(told.all().size() == 1);
  CHECK(told.all()[0] == refused("127.0.0.1", "more than 32 connections waited to open a link"));
  check_service(hub, port, {});
}

TEST_CASE("what is told of refused connections is bounded") {
  refusals told;
  link_hub hub{{}, told.listener()};
  const auto port = hub.listen("127.0.0.1", 0);
  for (int i = 0; i < 300; ++i) {
    raw_peer peer{port, "127.0." + std::to_string(1 + i / 100) + '.' + std::to_string(1 + i % 100)};
    peer.write(random_bytes(48, 7));
    peer.wait_closed();
  }
  CHECK(eventually([&] { return hub.rejected() == 300; }));
  REQUIRE(told.all().size() == 256);
  CHECK(told.all().back().ends_with("; further addresses and reasons are counted only"));
}

TEST_CASE("without certificates there are loopback addresses and no others") {
  link_hub hub{{}};
  const auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const failure& e) {
      return e.what();
    }
    return "";
  };
  CHECK(
    message([&] { hub.listen("0.0.0.0", 0); })
    == "0.0.0.0:0: cannot listen for links: without certificates only loopback addresses are "
       "listened "
       "at; make some with `hyperframes certs init`");
  CHECK(
    message([&] { hub.connect("10.0.0.1", 1, id_of(1), std::make_shared<heard>()); })
    == "10.0.0.1:1: without certificates only loopback addresses are connected to; make some with "
       "`hyperframes certs init`");
  CHECK(message([&] { hub.connect("n.example", 1, id_of(1), std::make_shared<heard>()); }) != "");
  CHECK(message([&] { hub.listen("localhost", 0); }) == "");
  CHECK(message([&] { hub.listen("::1", 0); }) == "");
  CHECK(
    message([&] { hub.listen("n.example", 0); })
    == "n.example:0: cannot listen for links: expected an IP address of this machine, or "
       "localhost");
  const auto port = hub.listen("127.0.0.1", 0);
  const auto taken = message([&] { hub.listen("127.0.0.1", port); });
  CHECK_MESSAGE(taken.ends_with("; another program listens there: use another port"), taken);
  const auto elsewhere = message([&] {
    const deployment d;
    link_hub secure{{.tls = d.issue("n")}};
    secure.listen("192.0.2.1", 0);
  });
  CHECK_MESSAGE(
    elsewhere.ends_with("; use an address of this machine and a port that may be used"), elsewhere);
  CHECK(
    message([] {
      link_hub{
        {.heartbeat = std::chrono::milliseconds{500},
         .dead_after = std::chrono::milliseconds{1499}}};
    })
    == "link: dead_after of 1499 ms: expected at least 3 heartbeats of 500 ms");
  const auto expects = hub.accept(id_of(1), std::make_shared<heard>());
  CHECK(
    message([&] { hub.accept(id_of(1), std::make_shared<heard>()); })
    == "link: the link from process 1 to process 2 is expected already; close it first");
  expects->close();
  CHECK(message([&] { hub.accept(id_of(1), std::make_shared<heard>()); }) == "");
}
