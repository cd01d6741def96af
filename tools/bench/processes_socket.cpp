#include "runtime/shared_import.hpp"
#include "runtime/shared_loans.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/processes.hpp"

#include <boost/asio.hpp>

#include <array>
#include <cstring>
#include <future>

#include <poll.h>

namespace hyperframes::bench {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

[[noreturn]] void fail(const std::string& sentence) {
  throw failure(make_error(errc::io_failed, "processes", sentence));
}

const auto loopback = asio::ip::address_v4::loopback();

/// The receiver, and the connection to it.
class other_end {
public:
  other_end(const std::string& way, const passing_load& load, const receiver& start)
    : acceptor_(context_, tcp::endpoint{loopback, 0}), socket_(context_) {
    const receiver_arguments a{way, acceptor_.local_endpoint().port(), load};
    cpu_ = std::async(std::launch::async, [=] { return start(a.to_words()).at(0); });
    pollfd ready{acceptor_.native_handle(), POLLIN, 0};
    if (::poll(&ready, 1, 30'000) != 1)
      fail("the receiver does not connect within 30 s");
    acceptor_.accept(socket_);
    socket_.set_option(tcp::no_delay{true});
  }
  tcp::socket& socket() { return socket_; }
  double cpu_seconds() { return cpu_.get(); }

private:
  asio::io_context context_;
  tcp::acceptor acceptor_;
  tcp::socket socket_;
  std::future<double> cpu_;
};

/// A connection of the receiver's.
struct connected {
  explicit connected(std::uint16_t port) {
    socket.connect({loopback, port});
    socket.set_option(tcp::no_delay{true});
  }
  asio::io_context context;
  tcp::socket socket{context};
};

template <class T>
asio::const_buffer bytes_of(const T& value) {
  return {&value, sizeof value};
}
template <class T>
T read_value(tcp::socket& from) {
  T value;
  asio::read(from, asio::buffer(&value, sizeof value));
  return value;
}

/// @param send a buffer with its number; @param acknowledged what came back.
passing pass(
  const passing_load& load, buffer_pool& pool, other_end& other,
  const std::function<void(buffer_ref, std::uint64_t)>& send,
  const std::function<void(std::uint64_t)>& acknowledged) {
  const auto wait_for_one = [&] { acknowledged(read_value<std::uint64_t>(other.socket())); };
  double began = 0, cpu_began = 0;
  for (std::uint64_t i = 0; i < load.warm + load.messages; ++i) {
    if (i == load.warm) {
      began = wall_seconds();
      cpu_began = cpu_seconds();
    }
    if (i >= passing_window)
      wait_for_one();
    auto b = pool.acquire(); // there is one: fewer are under way
    stamp(b.data(), b.size(), i);
    send(std::move(b), i);
  }
  for (std::uint64_t i = 0; i < passing_window; ++i)
    wait_for_one();
  const auto took = wall_seconds() - began, cpu = cpu_seconds() - cpu_began;
  const auto messages = static_cast<double>(load.messages);
  return {took / messages, (cpu + other.cpu_seconds()) / messages};
}

struct handle_message {
  shared_handle handle;
  loan_number loan = 0;
};
static_assert(std::is_trivially_copyable_v<handle_message>);

/// Counts the CPU time from the first message that counts on.
class receiver_cpu {
public:
  explicit receiver_cpu(const passing_load& load) : warm_(load.warm) {}
  void message(std::uint64_t number) {
    if (number == warm_)
      began_ = cpu_seconds();
  }
  double used() const { return cpu_seconds() - began_; }

private:
  std::uint64_t warm_;
  double began_ = 0;
};

} // namespace

passing pass_shared(const passing_load& load, const receiver& start) {
  auto pool = touched_pool(passing_window + 1, load.bytes, shared_backing());
  other_end other{"shared", load, start};
  loan_book loans;
  const auto borrower = loans.join();
  return pass(
    load, pool, other,
    [&](buffer_ref b, std::uint64_t) {
      handle_message m{*handle_of(b)};
      m.loan = *loans.lend(borrower, std::move(b));
      asio::write(other.socket(), bytes_of(m));
    },
    [&](std::uint64_t loan) {
      if (!loans.returned(borrower, loan))
        fail("a loan comes back that was not given");
    });
}

passing pass_by_tcp(const passing_load& load, const receiver& start) {
  auto pool = touched_pool(passing_window + 1, load.bytes, heap_backing());
  other_end other{"tcp", load, start};
  return pass(
    load, pool, other,
    [&](const buffer_ref& b, std::uint64_t number) {
      asio::write(
        other.socket(), std::array{bytes_of(number), asio::const_buffer{b.data(), b.size()}});
    },
    [](std::uint64_t) {});
}

double receive_shared(const receiver_arguments& a) {
  connected to{a.port};
  shared_importer importer;
  receiver_cpu cpu{a.load};
  for (std::uint64_t i = 0; i < a.load.warm + a.load.messages; ++i) {
    cpu.message(i);
    const auto m = read_value<handle_message>(to.socket);
    const auto b =
      importer.open(m.handle, [&to, loan = m.loan] { asio::write(to.socket, bytes_of(loan)); });
    if (!b)
      throw failure(b.error());
    look_at(b->data(), i, a.load);
  }
  return cpu.used();
}

double receive_by_tcp(const receiver_arguments& a) {
  connected to{a.port};
  auto pool = touched_pool(1, a.load.bytes, heap_backing());
  receiver_cpu cpu{a.load};
  for (std::uint64_t i = 0; i < a.load.warm + a.load.messages; ++i) {
    cpu.message(i);
    const auto number = read_value<std::uint64_t>(to.socket);
    {
      const auto b = pool.acquire();
      asio::read(to.socket, asio::buffer(b.data(), b.size()));
      look_at(b.data(), i, a.load);
    }
    asio::write(to.socket, bytes_of(number));
  }
  return cpu.used();
}

} // namespace hyperframes::bench
