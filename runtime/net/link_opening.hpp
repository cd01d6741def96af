#pragma once

#include "runtime/net/link_end.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace hyperframes {

/// One attempt to open both lanes of a link, on the I/O thread. Keeps itself alive until it is
/// over.
class link_opening : public std::enable_shared_from_this<link_opening> {
public:
  /// Is told the lanes, or why there are none.
  using done = std::function<void(expected<lane_connections>)>;

  link_opening(
    link_core& core, std::string host, std::uint16_t port, const link_id& id,
    std::uint32_t incarnation, done then);
  void start();
  /// Gives it up; `then` is not called.
  void cancel();

private:
  struct opening_lane {
    std::shared_ptr<link_connection> connection;
    std::array<std::byte, link_wire::hello_bytes> hello{};
    std::array<std::byte, link_wire::welcome_bytes> welcome{};
    bool open = false;
  };

  void connect(const boost::asio::ip::tcp::resolver::results_type& to);
  void handshake(lane on);
  void say_hello(lane on);
  void on_welcome(lane on);
  void fail(const std::string& why);
  opening_lane& at(lane on) { return lanes_[static_cast<std::size_t>(on)]; }
  void after(boost::system::error_code e, const std::string& what, auto next);

  link_core& core_;
  std::string host_;
  std::uint16_t port_;
  link_id id_;
  std::uint32_t incarnation_;
  done then_; ///< null: it is over
  std::array<opening_lane, lanes> lanes_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::steady_timer patience_;
};

/// Pauses between attempts: each is twice the one before, up to the longest.
class growing_pause {
public:
  growing_pause(std::chrono::milliseconds first, std::chrono::milliseconds longest)
    : first_(first), longest_(longest), next_(first) {}
  std::chrono::milliseconds next() { return std::exchange(next_, std::min(next_ * 2, longest_)); }
  void begin_anew() { next_ = first_; }

private:
  std::chrono::milliseconds first_, longest_, next_;
};

/// Opens the link, and opens it again.
class opened_link final : public link_end {
public:
  opened_link(
    std::shared_ptr<link_core> core, const link_id& id, std::shared_ptr<link_user> user,
    std::string host, std::uint16_t port);
  void start(); ///< any thread
  link_wire::answer arrived(std::shared_ptr<link_connection>, const link_wire::hello&) override {
    return link_wire::answer::unknown_link;
  }

protected:
  void after_down() override { pause(); }
  void at_end() override;
  void has_held() override { pauses_.begin_anew(); }

private:
  void attempt();
  void pause();

  std::string host_;
  std::uint16_t port_;
  std::uint32_t attempts_ = 0;
  std::shared_ptr<link_opening> opening_;
  growing_pause pauses_;
  boost::asio::steady_timer wait_;
};

} // namespace hyperframes
