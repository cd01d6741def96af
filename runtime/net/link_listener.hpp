#pragma once

#include "runtime/net/link_connection.hpp"
#include "runtime/net/link_core.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <string>

namespace hyperframes {

class link_arrival;

/// Connections of all addresses of a hub that have not yet opened a link; the oldest makes place.
class link_arrivals {
public:
  static constexpr std::size_t at_most = 32;

  void add(std::shared_ptr<link_arrival> arrival);
  void remove(const link_arrival& arrival);
  void end();

private:
  std::list<std::shared_ptr<link_arrival>> all_; ///< oldest first
};

/// A connection that has come in: must authenticate itself and name a link in time. On the I/O
/// thread.
class link_arrival : public std::enable_shared_from_this<link_arrival> {
public:
  link_arrival(
    link_core& core, std::weak_ptr<link_arrivals> among, boost::asio::ip::tcp::socket socket);
  void start();
  void reject(const std::string& why);
  void end();

private:
  void read_hello();
  void on_hello();
  void refuse(link_wire::answer a, const std::string& why);
  void leave();

  link_core& core_;
  std::weak_ptr<link_arrivals> among_;
  std::string from_;
  std::shared_ptr<link_connection> connection_;
  std::array<std::byte, link_wire::hello_bytes> hello_{};
  std::array<std::byte, link_wire::welcome_bytes> answer_{};
  boost::asio::steady_timer patience_;
  bool over_ = false;
};

/// Listens at one address. On the I/O thread, but for the constructor.
class link_listener : public std::enable_shared_from_this<link_listener> {
public:
  /// Takes the address. Throws `failure`.
  link_listener(
    link_core& core, std::shared_ptr<link_arrivals> arrivals, const std::string& host,
    std::uint16_t port);
  std::uint16_t port() const { return port_; }
  void start();
  void end();

private:
  void on_accept(boost::system::error_code e, boost::asio::ip::tcp::socket socket);

  link_core& core_;
  std::shared_ptr<link_arrivals> arrivals_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::uint16_t port_ = 0;
};

} // namespace hyperframes
