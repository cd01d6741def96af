#include "actors/trigger.hpp"

#include "actors/trigger_http.hpp"
#include "actors/trigger_listener.hpp"
#include "runtime/stream_stats.hpp"
#include "tests/actors/stage_context.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include <doctest/doctest.h>

#include <condition_variable>
#include <istream>
#include <mutex>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

namespace asio = boost::asio;
using words = std::vector<std::string>;

const listen_address any_port{"127.0.0.1", 0};

/// A port that is open, and a way to wait until something has come there.
struct watched_port {
  std::shared_ptr<trigger_port> port = std::make_shared<trigger_port>();

  explicit watched_port(std::size_t cam2_streams = 1) {
    port->open(
      {{"", {~stream_index{0}}},
       {"cam1", {0}},
       {"cam 2", std::vector<stream_index>(cam2_streams, 1)}},
      [] { return 7_ms; },
      [this] {
        const std::lock_guard lock{mutex_};
        changed_.notify_all();
      });
  }
  ~watched_port() { port->close(); }
  /// Waits for a condition that a wake makes true; the patience is for a test that fails.
  template <class Condition>
  bool wait(Condition reached) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 30s, reached);
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// One connection to a listener.
class http_client {
public:
  explicit http_client(std::uint16_t port) : socket_(io_) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
  }
  void send(const std::string& text) { asio::write(socket_, asio::buffer(text)); }
  /// @returns the status of the next answer; 0 where the connection was closed instead.
  unsigned status() {
    boost::system::error_code e;
    const auto size = asio::read_until(socket_, buffer_, "\r\n\r\n", e);
    if (e)
      return 0;
    std::string header{
      asio::buffers_begin(buffer_.data()),
      asio::buffers_begin(buffer_.data()) + static_cast<std::ptrdiff_t>(size)};
    buffer_.consume(size);
    if (const auto at = header.find("Content-Length: "); at != std::string::npos) {
      const auto body = std::stoul(header.substr(at + 16));
      if (body > buffer_.size())
        asio::read(socket_, buffer_, asio::transfer_exactly(body - buffer_.size()), e);
      buffer_.consume(body);
    }
    return static_cast<unsigned>(std::stoul(header.substr(9, 3)));
  }
  unsigned ask(const std::string& text) {
    send(text);
    return status();
  }

private:
  asio::io_context io_;
  asio::ip::tcp::socket socket_;
  asio::streambuf buffer_;
};

std::string request(const std::string& line, const std::string& more = {}) {
  return line + " HTTP/1.1\r\nHost: here\r\n" + more + "\r\n";
}

std::string sentence(const std::function<void()>& action) {
  try {
    action();
  } catch (const failure& f) {
    return f.what();
  }
  return "(nothing)";
}

std::unique_ptr<stage> make(
  const settings& own, std::shared_ptr<trigger_port> port, bool threads = true,
  std::vector<stream_index> streams = {}) {
  const auto d = describe_trigger();
  auto plan = plan_with(d, own, cameras(2, 2, true));
  plan.streams = std::move(streams);
  plan.settles = !plan.streams.empty();
  plan.threads = threads;
  auto resource = std::make_shared<trigger_resource>();
  resource->port = std::move(port);
  plan.resource = resource;
  return d.make(plan);
}

setting list_of(const words& texts) {
  setting::list values;
  for (const auto& t : texts)
    values.push_back(initial_value(t));
  return initial_value(values);
}

std::vector<std::string> in_words(const std::vector<trigger>& triggers) {
  words result;
  for (const auto& t : triggers)
    result.push_back(
      (t.stream == ~stream_index{0} ? "all" : std::to_string(t.stream)) + (t.of_frame ? " frame" : "")
      + " at " + std::to_string(t.moment.time_since_epoch() / 1ms));
  return result;
}

} // namespace

TEST_CASE("addresses to listen at") {
  const auto text = [](const std::string& address) {
    const auto a = read_address(address);
    return a ? a->host + " " + std::to_string(a->port) : "none";
  };
  CHECK(text("127.0.0.1:5005") == "127.0.0.1 5005");
  CHECK(text("0.0.0.0:0") == "0.0.0.0 0");
  CHECK(text("localhost:80") == "127.0.0.1 80");
  CHECK(text("[::1]:65535") == "::1 65535");
  for (const auto* wrong :
       {"", ":", "5005", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:80",
        "127.0.0.1:-1", "127.0.0.1: 5", "example.org:80", "[127.0.0.1]:80", "[::1:80", "256.0.0.1:80"})
    CHECK_MESSAGE(text(wrong) == "none", wrong);
  CHECK(
    faults_of(describe_trigger(), settings{}.with("udp", std::string{"5005"}))
    == words{
      "`udp: 5005` is no address to listen at: expected an IP address of this machine and a port, "
      "such as 127.0.0.1:5005 or [::1]:5005"});
}

TEST_CASE("what a request is answered") {
  struct row {
    const char* method;
    const char* target;
    unsigned status;
  };
  for (const auto& r : {
         row{"POST", "/trigger", 204}, row{"POST", "/trigger/", 204}, row{"POST", "/trigger?x=1", 204},
         row{"POST", "/trigger/cam1", 204}, row{"POST", "/trigger/cam%202", 204},
         row{"POST", "/trigger/cam1/", 404}, row{"POST", "/trigger/cam3", 404},
         row{"POST", "/trigger/cam%2", 400}, row{"POST", "/trigger/cam%zz", 400},
         row{"POST", "/triggers", 404}, row{"POST", "/", 404}, row{"POST", "", 404},
         row{"POST", "*", 404}, row{"GET", "/trigger/cam1", 405}, row{"DELETE", "/trigger", 405}}) {
    CAPTURE(r.method);
    CAPTURE(r.target);
    watched_port p;
    const auto answer = answer_trigger(r.method, r.target, *p.port);
    CHECK(answer.status == r.status);
    CHECK(p.port->fired() == (r.status == 204 ? 1U : 0U));
    CHECK(p.port->refused() == (r.status == 204 ? 0U : 1U));
    CHECK(answer.text.empty() == (r.status == 204));
  }
  watched_port p;
  for (std::size_t i = 0; i < trigger_port::room; ++i)
    REQUIRE(answer_trigger("POST", "/trigger", *p.port).status == 204);
  CHECK(answer_trigger("POST", "/trigger", *p.port).status == 503);
  p.port->close();
  CHECK(answer_trigger("POST", "/trigger", *p.port).status == 503);
}

TEST_CASE("the port stamps triggers, is bounded, and takes none while it is closed") {
  trigger_port port;
  CHECK(port.fire() == trigger_result::closed);
  int wakes = 0;
  port.open({{"", {0, 1}}, {"one", {1}}}, [] { return 5_ms; }, [&] { ++wakes; });
  CHECK(port.fire() == trigger_result::taken);
  CHECK(port.fire("one") == trigger_result::taken);
  CHECK(port.fire("two") == trigger_result::unknown);
  CHECK(wakes == 2);
  CHECK(in_words(port.take(9_ms).triggers) == words{"0 at 5", "1 at 5", "1 at 5"});
  CHECK(port.take(9_ms).triggers.empty());
  for (std::size_t i = 0; i < trigger_port::room / 2; ++i)
    CHECK(port.fire() == trigger_result::taken);
  CHECK(port.fire() == trigger_result::full);
  CHECK(port.take(9_ms).lost == 1);
  port.close();
  CHECK(port.fire() == trigger_result::closed);
  port.open({{"", {0}}}, {}, [] {});
  port.fire();
  CHECK(in_words(port.take(9_ms).triggers) == words{"0 at 9"});
}

TEST_CASE("datagrams fire; those without meaning are counted and do no harm") {
  watched_port p;
  const trigger_listener listener{"trigger", any_port, std::nullopt, p.port};
  CHECK(listener.http_port() == 0);
  asio::io_context io;
  asio::ip::udp::socket socket{io, asio::ip::udp::v4()};
  const asio::ip::udp::endpoint to{asio::ip::make_address("127.0.0.1"), listener.udp_port()};
  const auto send = [&](const std::string& text) { socket.send_to(asio::buffer(text), to); };
  send("");
  send("cam1");
  send("cam 2\r\n");
  CHECK(p.wait([&] { return p.port->fired() == 3; }));
  send("cam3");
  send(std::string(256, 'x'));
  send(std::string(257, 'x'));
  send(std::string(60'000, '\0'));
  CHECK(p.wait([&] { return p.port->refused() == 4; }));
  send("cam1");
  CHECK(p.wait([&] { return p.port->fired() == 4; }));
  CHECK(
    in_words(p.port->take(0_ms).triggers) == words{"all at 7", "0 at 7", "1 at 7", "0 at 7"});
}

TEST_CASE("requests fire, several on one connection; malformed ones are answered and counted") {
  watched_port p;
  const trigger_listener listener{"trigger", std::nullopt, any_port, p.port};
  http_client client{listener.http_port()};
  CHECK(client.ask(request("POST /trigger")) == 204);
  CHECK(client.ask(request("POST /trigger/cam%202", "Content-Length: 5\r\n") + "hello") == 204);
  CHECK(client.ask(request("GET /trigger")) == 405);
  CHECK(client.ask(request("POST /trigger/nobody")) == 404);
  CHECK(client.ask(request("POST /trigger/cam1", "Connection: close\r\n")) == 204);
  CHECK(client.status() == 0); // closed
  CHECK(p.port->fired() == 3);
  CHECK(p.port->refused() == 2);
  struct row {
    const char* what;
    std::string sent;
    unsigned status;
  };
  const std::vector<row> rows{
    {"no HTTP", "fire!\r\n\r\n", 400},
    {"bytes", std::string("\0\xff\x01\r\n\r\n", 7), 400},
    {"no version", "POST /trigger\r\n\r\n", 400},
    {"another version", "POST /trigger HTTP/9.9\r\n\r\n", 400},
    {"a header without a colon", "POST /trigger HTTP/1.1\r\nHost here\r\n\r\n", 400},
    {"a length that is no number", request("POST /trigger", "Content-Length: many\r\n"), 400},
    {"a negative length", request("POST /trigger", "Content-Length: -1\r\n"), 400},
    {"a body that is too large", request("POST /trigger", "Content-Length: 1025\r\n"), 413},
    {"a body of 16 EB", request("POST /trigger", "Content-Length: 18446744073709551615\r\n"), 413},
    {"chunks that are too large",
     request("POST /trigger", "Transfer-Encoding: chunked\r\n") + "ffffff\r\n", 413},
    {"chunks that are none", request("POST /trigger", "Transfer-Encoding: chunked\r\n") + "zz\r\n",
     400},
    {"a header that is too large", request("POST /trigger", "X: " + std::string(5000, 'x') + "\r\n"),
     431},
  };
  std::uint64_t refused = 2;
  for (const auto& r : rows) {
    CAPTURE(r.what);
    http_client another{listener.http_port()};
    CHECK(another.ask(r.sent) == r.status);
    CHECK(p.port->refused() == ++refused);
    CHECK(another.status() == 0); // closed
  }
  CHECK(p.port->fired() == 3);
  CHECK(http_client{listener.http_port()}.ask(request("POST /trigger")) == 204);
}

TEST_CASE("connections are bounded in number and in time") {
  watched_port p;
  listen_limits limits;
  limits.connections = 2;
  const trigger_listener listener{"trigger", std::nullopt, any_port, p.port, limits};
  http_client first{listener.http_port()};
  CHECK(first.ask(request("POST /trigger")) == 204);
  {
    http_client second{listener.http_port()};
    CHECK(second.ask(request("POST /trigger")) == 204);
    CHECK(http_client{listener.http_port()}.status() == 0);
    CHECK(p.port->refused() == 1);
  }
  CHECK(first.ask(request("POST /trigger")) == 204);

  limits.patience = 1ms;
  const trigger_listener hasty{"trigger", std::nullopt, any_port, p.port, limits};
  http_client slow{hasty.http_port()};
  CHECK(slow.status() == 0); // says nothing, and is not waited for
}

TEST_CASE("an address that cannot be had is said in a sentence") {
  watched_port p;
  const trigger_listener listener{"trigger", any_port, any_port, p.port};
  const listen_address udp{"127.0.0.1", listener.udp_port()}, http{"127.0.0.1", listener.http_port()};
  const auto taken = [](const std::string& what, std::uint16_t port) {
    return "other: cannot listen for " + what + " at 127.0.0.1, port " + std::to_string(port)
           + ": Address already in use; another program, or another stage, listens there: use another "
             "port";
  };
  CHECK(
    sentence([&] { trigger_listener{"other", udp, std::nullopt, p.port}; })
    == taken("datagrams", udp.port));
  CHECK(
    sentence([&] { trigger_listener{"other", std::nullopt, http, p.port}; })
    == taken("HTTP requests", http.port));
  CHECK(
    sentence([&] {
      trigger_listener{"other", listen_address{"192.0.2.1", 5005}, std::nullopt, p.port};
    })
    == "other: cannot listen for datagrams at 192.0.2.1, port 5005: Cannot assign requested address; "
       "use an address of this machine and a port that may be used");
}

TEST_CASE("a listener ends with connections open and requests half read") {
  watched_port p;
  auto listener = std::make_unique<trigger_listener>("trigger", any_port, any_port, p.port);
  http_client silent{listener->http_port()}, half{listener->http_port()};
  half.send("POST /trig");
  CHECK(http_client{listener->http_port()}.ask(request("POST /trigger")) == 204);
  listener.reset();
  CHECK(silent.status() == 0);
  CHECK(half.status() == 0);
}

TEST_CASE("the stage: frames fire at their place, the program when the stage hears of it") {
  auto port = std::make_shared<trigger_port>();
  fake_context context;
  auto s = make({}, port, false, {0});
  CHECK(s->start(context));
  frame f;
  f.meta.timeline = 33_ms;
  s->on_item(f, context);
  CHECK(port->fire("group1") == trigger_result::taken);
  CHECK(port->fire("group0.cam1") == trigger_result::taken);
  CHECK(port->fire("trigger") == trigger_result::taken);
  CHECK(port->fire("nobody") == trigger_result::unknown);
  context.advance_to(50_ms, *s);
  s->on_poke(context);
  CHECK(
    in_words(context.items<trigger>())
    == words{"all frame at 33", "2 at 50", "3 at 50", "1 at 50", "all at 50"});
  CHECK(s->held_frames() == 0);
  s->on_end({0, 0, 1, true}, context);
  CHECK(port->fire() == trigger_result::closed);
  for (const auto& e : context.sent)
    CHECK_FALSE(std::holds_alternative<stream_end>(e));
}

TEST_CASE("the stage fires for the streams that it names") {
  auto port = std::make_shared<trigger_port>();
  fake_context context;
  const auto streams = settings{}.with("streams", list_of({"group1", "group0.cam1", "group1.cam0"}).value);
  auto s = make(streams, port);
  s->start(context);
  port->fire();
  s->on_poke(context);
  REQUIRE(context.items<trigger>().size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(context.items<trigger>()[i].stream == i + 1);
  s->drain(context);
  CHECK(port->fire() == trigger_result::closed);
  CHECK(
    sentence([&] { make(settings{}.with("streams", list_of({"cam9"}).value), port); })
    == "trigger: `streams` names 'cam9', but there is no stream or group of that name");
}

TEST_CASE("the stage tells of what it lost and refused: the first time, the tenth, the hundredth") {
  auto port = std::make_shared<trigger_port>();
  fake_context context;
  auto s = make({}, port);
  s->start(context);
  context.credit_left = 0;
  for (int i = 0; i < 12; ++i) {
    port->fire();
    port->refuse("it was nonsense");
    s->on_poke(context);
  }
  CHECK(context.items<trigger>().empty());
  CHECK(
    context.alarms
    == words{
      "triggers lost so far, as too many waited: 1",
      "messages refused so far: 1; the last one: it was nonsense",
      "triggers lost so far, as too many waited: 10",
      "messages refused so far: 10; the last one: it was nonsense"});
}

TEST_CASE("the stage listens from its start to its end, and says which free port it took") {
  auto port = std::make_shared<trigger_port>();
  fake_context context;
  auto s = make(
    settings{}.with("udp", std::string{"127.0.0.1:0"}).with("http", std::string{"[::1]:0"}), port);
  try {
    s->start(context);
  } catch (const failure& f) {
    MESSAGE("no IPv6 here: " << f.what());
    return;
  }
  REQUIRE(context.alarms.size() == 2);
  CHECK(context.alarms[0].starts_with("listens for datagrams on port "));
  CHECK(context.alarms[1].starts_with("listens for HTTP requests on port "));
  const auto number =
    static_cast<std::uint16_t>(std::stoul(context.alarms[0].substr(context.alarms[0].rfind(' '))));
  s->drain(context);
  watched_port other;
  const trigger_listener free_again{
    "other", listen_address{"127.0.0.1", number}, std::nullopt, other.port};
  CHECK(free_again.udp_port() == number);
}

TEST_CASE("on the virtual clock the stage listens to nobody") {
  fake_context context;
  auto s = make(
    settings{}.with("udp", std::string{"127.0.0.1:0"}), std::make_shared<trigger_port>(), false);
  CHECK(
    sentence([&] { s->start(context); })
    == "trigger: it listens for messages, which are real: on the virtual clock only frames and the "
       "program fire triggers");
}
