#pragma once

#include "tests/net/ends.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <thread>

namespace hyperframes::test {

/// Stands between two ends as a network does: passes bytes on, stands still, or cuts. Listens at a
/// loopback port; whoever connects is joined to the port that `to` names.
class relay {
public:
  relay() {
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  }
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;
  ~relay() {
    io_.stop();
    if (thread_.joinable())
      thread_.join();
  }

  void to(std::uint16_t port) {
    to_ = port;
    accept();
    thread_ = std::thread{[this] { io_.run(); }};
  }
  std::uint16_t port() const { return port_; }

  /// From now on so many bytes pass, all directions of all connections together, then none.
  void pass(std::int64_t bytes) {
    on_thread([this, bytes] { left_ = bytes; });
  }
  /// The same for each direction of each connection alone.
  void pass_each(std::int64_t bytes) {
    on_thread([this, bytes] {
      each_ = bytes;
      for (const auto& j : joined_)
        for (auto& d : j->directions)
          d.left = bytes;
    });
  }
  /// Each direction of each connection passes so many bytes, and so many again each time.
  void drip(std::int64_t bytes, std::chrono::milliseconds every) {
    pass_each(0);
    on_thread([=, this] { drop(bytes, every); });
  }
  void pass_all() {
    on_thread([this] {
      left_ = each_ = unlimited;
      for (const auto& j : joined_)
        for (auto& d : j->directions)
          d.left = unlimited;
      for (const auto& j : joined_)
        for (auto& d : j->directions)
          if (d.stalled)
            forward(j, d);
    });
  }
  /// Waits until nothing more passes. @returns false: it never did.
  bool wait_passed() {
    return eventually([this] { return used_up_.load(); });
  }
  /// What comes from now on passes so much later.
  void delay(std::chrono::milliseconds by) {
    on_thread([this, by] { delay_ = by; });
  }
  /// Ends all connections; new ones are taken.
  void cut() {
    on_thread([this] {
      for (const auto& j : joined_)
        j->close();
      joined_.clear();
    });
  }
  std::uint64_t passed() const { return passed_; }

private:
  using tcp = boost::asio::ip::tcp;
  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

  struct direction {
    explicit direction(const tcp::socket::executor_type& on) : later(on) {}
    tcp::socket *from = nullptr, *to = nullptr;
    boost::asio::steady_timer later;
    std::array<char, 1 << 16> bytes;
    std::size_t held = 0; ///< read and not passed on
    std::int64_t left = unlimited;
    bool stalled = false; ///< holds bytes that may not pass
  };
  struct joint {
    explicit joint(tcp::socket s)
      : one(std::move(s)), other(one.get_executor()),
        directions{direction{one.get_executor()}, direction{one.get_executor()}} {
      directions[0].from = directions[1].to = &one;
      directions[0].to = directions[1].from = &other;
    }
    void close() {
      boost::system::error_code ignored;
      one.close(ignored);
      other.close(ignored);
      for (auto& d : directions)
        d.later.cancel();
    }
    tcp::socket one, other;
    std::array<direction, 2> directions;
  };
  using joint_ptr = std::shared_ptr<joint>;

  template <class F>
  void on_thread(F f) {
    std::atomic<bool> ready{false};
    boost::asio::post(io_, [&] {
      f();
      ready = true;
      ready.notify_all();
    });
    ready.wait(false);
  }
  void drop(std::int64_t bytes, std::chrono::milliseconds every) {
    for (const auto& j : joined_)
      for (auto& d : j->directions) {
        d.left += bytes;
        if (d.stalled)
          forward(j, d);
      }
    drips_.expires_after(every);
    drips_.async_wait([=, this](boost::system::error_code e) {
      if (!e)
        drop(bytes, every);
    });
  }
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code e, tcp::socket s) {
      if (e)
        return;
      accept();
      const auto j = std::make_shared<joint>(std::move(s));
      j->other.connect({boost::asio::ip::make_address("127.0.0.1"), to_}, e);
      if (e)
        return;
      joined_.push_back(j);
      for (auto& d : j->directions) {
        d.left = each_;
        read(j, d);
      }
    });
  }
  void read(const joint_ptr& j, direction& d) {
    d.from->async_read_some(
      boost::asio::buffer(d.bytes), [this, j, &d](boost::system::error_code e, std::size_t n) {
        if (e)
          return j->close();
        d.held = n;
        if (delay_.count() == 0)
          return forward(j, d);
        d.later.expires_after(delay_);
        d.later.async_wait([this, j, &d](boost::system::error_code cut) {
          if (!cut)
            forward(j, d);
        });
      });
  }
  /// Passes on what may pass of what is held.
  void forward(const joint_ptr& j, direction& d) {
    const auto may = std::min({left_, d.left, static_cast<std::int64_t>(d.held)});
    const auto now = static_cast<std::size_t>(may);
    d.stalled = now == 0;
    if (left_ != unlimited)
      left_ -= may;
    if (d.left != unlimited)
      d.left -= may;
    used_up_ = left_ == 0;
    if (now == 0)
      return;
    boost::asio::async_write(
      *d.to, boost::asio::buffer(d.bytes.data(), now),
      [this, j, &d, now](boost::system::error_code e, std::size_t) {
        if (e)
          return j->close();
        passed_ += now;
        d.held -= now;
        std::copy_n(d.bytes.begin() + now, d.held, d.bytes.begin());
        if (d.held == 0)
          read(j, d);
        else
          forward(j, d);
      });
  }

  boost::asio::io_context io_;
  tcp::acceptor acceptor_{io_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  boost::asio::steady_timer drips_{io_};
  std::uint16_t port_ = 0, to_ = 0;
  std::int64_t left_ = unlimited, each_ = unlimited; ///< by the thread alone, as is `joined_`
  std::list<joint_ptr> joined_;
  std::chrono::milliseconds delay_{0}; ///< by the thread alone
  std::atomic<bool> used_up_{false};
  std::atomic<std::uint64_t> passed_{0};
  std::thread thread_;
};

/// Two hubs, and a link between them through a relay.
struct relayed {
  /// @param slots of the acceptor's pool, of `slot_bytes` each.
  explicit relayed(
    const link_settings& settings = {}, std::size_t slots = 8, std::size_t slot_bytes = 1 << 16)
    : b(std::make_shared<heard>(slots, slot_bytes)), opening(settings), accepting(settings) {
    relay.to(accepting.listen("127.0.0.1", 0));
    at_b = accepting.accept(id_of(1), b);
    at_a = opening.connect("127.0.0.1", relay.port(), id_of(1), a);
  }

  test::relay relay;
  std::shared_ptr<heard> a = std::make_shared<heard>(), b;
  link_hub opening, accepting;
  std::shared_ptr<hyperframes::link> at_a, at_b; // unistd.h has a link too
};

} // namespace hyperframes::test
