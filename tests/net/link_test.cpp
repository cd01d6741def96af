#include "runtime/net/link_hub.hpp"
#include "tests/net/deployment.hpp"
#include "tests/net/ends.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

void round_trip(link_hub& opening, link_hub& accepting) {
  const auto a = std::make_shared<heard>(), b = std::make_shared<heard>();
  const auto port = accepting.listen("127.0.0.1", 0);
  const auto at_b = accepting.accept(id_of(1), b);
  const auto at_a = opening.connect("127.0.0.1", port, id_of(1), a);
  REQUIRE(a->wait_up());
  REQUIRE(b->wait_up());
  CHECK(a->incarnation() == b->incarnation());
  CHECK(at_a->incarnation() == a->incarnation());
  CHECK(at_a->trouble() == "");

  buffer_pool pool{4, 1 << 16};
  const std::vector<bulk_part> bulk{
    drawn(pool.acquire(), 1 << 16, 1),
    drawn(pool.acquire(), 1, 2),
    {},
    drawn(pool.acquire(), 5000, 3)};
  at_a->send(a->incarnation(), lane::data, bytes_of("first"), bulk);
  at_a->send(a->incarnation(), lane::data, {}, {});
  at_a->send(a->incarnation(), lane::data, bytes_of(std::string(link_head_bytes, 'x')));
  REQUIRE(b->wait_messages(3));
  CHECK(b->messages()[0].head == "first");
  CHECK(b->messages()[0].on == lane::data);
  REQUIRE(b->messages()[0].bulk.size() == 4);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(same(b->messages()[0].bulk[i], bulk[i]));
  CHECK(b->messages()[1].head == "");
  CHECK(b->messages()[1].bulk.empty());
  CHECK(b->messages()[2].head == std::string(link_head_bytes, 'x'));

  at_b->send(b->incarnation(), lane::control, bytes_of("back"));
  REQUIRE(a->wait_messages(1));
  CHECK(a->messages()[0].head == "back");
  CHECK(a->messages()[0].on == lane::control);
  CHECK(eventually([&] { return at_a->counters().messages_sent == 3; }));
  CHECK(at_a->counters().bytes_sent == 5 + (1 << 16) + 1 + 5000 + link_head_bytes);
  CHECK(at_b->counters().bytes_received == at_a->counters().bytes_sent);
  CHECK(at_b->counters().messages_received == 3);
  CHECK(at_a->queued_bytes() == 0);
  b->forget_messages();
  CHECK(b->pool().in_use() == 0);

  at_a->close();
  REQUIRE(b->wait_down());
  CHECK(b->downs()[0] == "the other side closed the connection");
  CHECK(at_b->incarnation() == 0);
  CHECK(at_b->trouble() == "the other side closed the connection");
  CHECK(a->downs().empty());
}

} // namespace

TEST_CASE("messages with bulk go both ways, with TLS") {
  const deployment d;
  link_hub a{{.tls = d.issue("opener")}}, b{{.tls = d.issue("acceptor")}};
  round_trip(a, b);
}

TEST_CASE("messages with bulk go both ways, without TLS") {
  link_hub a{{}}, b{{}};
  round_trip(a, b);
}
