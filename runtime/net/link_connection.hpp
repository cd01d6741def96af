#pragma once

#include "runtime/net/link_outbox.hpp"
#include "runtime/net/link_wire.hpp"
#include "runtime/net/tls.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hyperframes {

/// One TCP connection of a link, with TLS or without: a lane once it is open. Everything happens on
/// the I/O thread. After `close` none of its handlers is called.
class link_connection : public std::enable_shared_from_this<link_connection> {
public:
  using socket = boost::asio::ip::tcp::socket;
  using done = std::function<void(boost::system::error_code)>;
  using fault = std::function<void(const std::string&)>;

  /// @param tls null: plain. Must outlive the connection.
  link_connection(socket s, boost::asio::ssl::context* tls);

  socket& tcp() { return socket_; }
  bool secure() const { return secure_.has_value(); }

  /// The first steps, one after the other. The bytes must stay until `then` is called.
  void handshake(tls_end end, done then);
  void write(std::span<const std::byte> bytes, done then);
  void read(std::span<std::byte> bytes, done then);
  /// What a failed handshake means, as the end of a sentence.
  std::string handshake_trouble(boost::system::error_code e);

  /// From now on it is a lane: writes `first`, then what comes into the outbox; reads messages for
  /// the user; calls `on_fault` once where that ends.
  void run(
    lane on, std::vector<std::byte> first, std::shared_ptr<link_outbox> outbox,
    std::shared_ptr<link_user> user, fault on_fault);
  /// Writes what waits in the outbox.
  void pump();
  /// A heartbeat's time is over: sends one where nothing else is under way.
  /// @returns for how many of them nothing has come.
  unsigned tick();

  void close();

private:
  using message = link_outbox::message;

  void read_frames();
  void on_read(boost::system::error_code e);
  void write_batch();
  void write_raw(std::vector<std::byte> bytes);
  void on_written(boost::system::error_code e);
  void fail(const std::string& why);
  template <class F>
  void with_stream(F&& f) {
    if (secure_)
      f(*secure_);
    else
      f(socket_);
  }

  socket socket_;
  std::optional<boost::asio::ssl::stream<socket&>> secure_;
  bool closed_ = false;

  lane lane_ = lane::control;
  std::shared_ptr<link_outbox> outbox_;
  std::shared_ptr<link_user> user_;
  fault on_fault_;
  std::optional<link_wire::frame_reader> reader_;
  std::vector<boost::asio::mutable_buffer> into_;
  bool heard_ = false; ///< since the last tick
  unsigned silent_ = 0;

  bool writing_ = false;
  std::vector<std::byte> raw_; ///< a heartbeat or a welcome that is being written
  std::vector<message> batch_; ///< that is being written
  std::vector<boost::asio::const_buffer> from_;
};

/// What an error of a connection means, as the end of a sentence.
std::string connection_trouble(boost::system::error_code e);

} // namespace hyperframes
