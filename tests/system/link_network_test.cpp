// Links between two hosts that are joined by a slow network: network namespaces, a veth pair and
// tc's token bucket. Needs root and the command `ip`; where they are missing it says so and passes.
#include "runtime/net/link_hub.hpp"
#include "tests/net/deployment.hpp"
#include "tests/net/ends.hpp"
#include "tests/system/process.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using clock = std::chrono::steady_clock;

constexpr std::size_t frame_bytes = 6'220'800; ///< 1920 x 1080, three bytes each
constexpr unsigned frames = 10;

/// Two hosts, 10.199.77.1 and .2, and a network of so many Mbit/s between them.
class two_hosts {
public:
  explicit two_hosts(unsigned mbit) {
    const auto rate = std::to_string(mbit) + "mbit";
    ip({"netns", "add", name(1)});
    ip({"netns", "add", name(2)});
    ip(
      {"link", "add", "hf1", "netns", name(1), "type", "veth", "peer", "name", "hf2", "netns",
       name(2)});
    for (int host : {1, 2}) {
      const auto device = "hf" + std::to_string(host);
      ip({"-n", name(host), "addr", "add", address(host) + "/24", "dev", device});
      ip({"-n", name(host), "link", "set", device, "up"});
      ip(
        {"netns", "exec", name(host), "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate",
         rate, "burst", "64kb", "latency", "50ms"});
    }
  }
  two_hosts(const two_hosts&) = delete;
  two_hosts& operator=(const two_hosts&) = delete;
  ~two_hosts() {
    for (int host : {1, 2})
      finish({"/usr/bin/env", "ip", "netns", "del", name(host)}, "/");
  }

  /// Why there are no hosts; empty: there are.
  const std::string& missing() const { return missing_; }
  static std::string address(int host) { return "10.199.77." + std::to_string(host); }

  /// Runs `f` on a thread of that host; what is opened there, and by threads that it starts, is
  /// there.
  template <class F>
  void on(int host, F f) const {
    std::exception_ptr failed;
    std::thread{[&] {
      try {
        const auto path = "/var/run/netns/" + name(host);
        const int where = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (where < 0 || ::setns(where, CLONE_NEWNET) != 0)
          throw std::runtime_error(path + " cannot be entered");
        ::close(where);
        f();
      } catch (...) {
        failed = std::current_exception();
      }
    }}.join();
    if (failed)
      std::rethrow_exception(failed);
  }

private:
  static std::string name(int host) {
    return "hf-" + std::to_string(::getpid()) + '-' + std::to_string(host);
  }
  void ip(std::vector<std::string> arguments) {
    if (!missing_.empty())
      return;
    arguments.insert(arguments.begin(), {"/usr/bin/env", "ip"});
    const auto done = finish(arguments, "/");
    for (const auto& a : arguments)
      missing_ += (missing_.empty() ? "`" : " ") + a;
    missing_ += "` failed: " + done.err;
    if (done.status == 0)
      missing_.clear();
  }
  std::string missing_;
};

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// MB/s of one TCP connection from host 1 to host 2 that carries all frames.
double plain_tcp(const two_hosts& hosts) {
  asio::io_context io;
  tcp::acceptor acceptor{io};
  tcp::socket from{io}, to{io};
  hosts.on(2, [&] { acceptor = {io, {asio::ip::make_address(hosts.address(2)), 0}}; });
  hosts.on(1, [&] {
    from.open(tcp::v4());
    from.connect(acceptor.local_endpoint());
  });
  acceptor.accept(to);
  std::thread sender{[&] {
    const std::vector<char> frame(frame_bytes);
    for (unsigned i = 0; i < frames; ++i)
      asio::write(from, asio::buffer(frame));
  }};
  std::vector<char> frame(frame_bytes);
  asio::read(to, asio::buffer(frame)); // the first one fills what is between
  const auto begin = clock::now();
  for (unsigned i = 1; i < frames; ++i)
    asio::read(to, asio::buffer(frame));
  const auto took = seconds_since(begin);
  sender.join();
  return (frames - 1) * static_cast<double>(frame_bytes) / took / 1e6;
}

/// Lets go of frames as they come, and answers small messages at once.
class sink final : public heard {
public:
  sink() : heard(4, frame_bytes) {}
  void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override {
    if (on == lane::data) {
      if (arrived.fetch_add(1) == 0)
        first = clock::now();
      last = clock::now();
      bulk.clear();
    } else if (answers) {
      answers->send(answers->incarnation(), lane::control, {head.begin(), head.end()});
    } else {
      heard::received(on, head, {});
    }
  }
  std::shared_ptr<hyperframes::link> answers;
  std::atomic<unsigned> arrived{0};
  clock::time_point first, last; ///< by the I/O thread, until all have arrived
};

struct measured {
  double mb_per_second = 0;
  unsigned round_trips = 0; ///< of small messages, one after the other, while frames were under way
};

measured over_link(const two_hosts& hosts, const link_settings& settings) {
  const auto user = std::make_shared<sink>(), answered = std::make_shared<sink>();
  std::unique_ptr<link_hub> a, b;
  std::shared_ptr<hyperframes::link> from, to;
  std::uint16_t port = 0;
  hosts.on(2, [&] {
    b = std::make_unique<link_hub>(settings);
    port = b->listen(hosts.address(2), 0);
  });
  to = user->answers = b->accept(id_of(1), user);
  hosts.on(1, [&] {
    a = std::make_unique<link_hub>(settings);
    from = a->connect(hosts.address(2), port, id_of(1), answered);
  });
  REQUIRE(answered->wait_up());
  measured m;
  buffer_pool pool{3, frame_bytes};
  for (unsigned sent = 0, waits = 0; user->arrived < frames;) {
    if (auto slot = sent < frames ? pool.acquire() : buffer_ref{}) {
      from->send(answered->incarnation(), lane::data, {}, {{std::move(slot), frame_bytes}});
      ++sent;
      continue;
    }
    if (waits == m.round_trips) {
      from->send(answered->incarnation(), lane::control, bytes_of("?"));
      ++waits;
    }
    REQUIRE(answered->wait_messages(waits));
    ++m.round_trips;
  }
  m.mb_per_second = (frames - 1) * static_cast<double>(frame_bytes)
                    / std::chrono::duration<double>(user->last - user->first).count() / 1e6;
  CHECK(answered->downs().empty());
  user->answers = nullptr;
  return m;
}

} // namespace

TEST_CASE("over a slow network a link reaches what one TCP connection does, and stays responsive") {
  const two_hosts hosts{200};
  if (!hosts.missing().empty()) {
    MESSAGE("skipped: no network namespaces here: " << hosts.missing());
    return;
  }
  const deployment d;
  const link_settings settings{.tls = d.issue("n")};
  const auto tcp = plain_tcp(hosts);
  const auto link = over_link(hosts, settings);
  MESSAGE(
    "one TCP connection: " << tcp << " MB/s; link with TLS: " << link.mb_per_second << " MB/s, "
                           << link.round_trips << " round trips of control meanwhile");
  CHECK(link.mb_per_second >= 0.8 * tcp);
  // Were it behind the frames, each would wait for about three of them.
  CHECK(link.round_trips >= frames);
}
