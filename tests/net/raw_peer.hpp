#pragma once

#include "runtime/net/link_wire.hpp"
#include "runtime/net/tls.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hyperframes::test {

namespace asio = boost::asio;

/// Takes part in TLS with whatever files, good or not.
inline asio::ssl::context careless_tls(const std::optional<tls_files>& shown) {
  asio::ssl::context context{asio::ssl::context::tls_client};
  context.set_verify_mode(asio::ssl::verify_none);
  if (shown) {
    context.use_certificate_file(shown->certificate, asio::ssl::context::pem);
    context.use_private_key_file(shown->key, asio::ssl::context::pem);
  }
  return context;
}

/// A blocking connection that sends whatever it is told to. Errors of writing count as the end.
class raw_peer {
public:
  /// @param from a loopback address of this machine that it comes from.
  explicit raw_peer(std::uint16_t port, const std::string& from = "127.0.0.1") {
    socket_.open(asio::ip::tcp::v4());
    socket_.set_option(asio::socket_base::reuse_address{true});
    socket_.bind({asio::ip::make_address(from), 0});
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
  }

  /// @returns false where the handshake fails on this side.
  bool handshake(asio::ssl::context& tls) {
    boost::system::error_code e;
    secure_.emplace(socket_, tls);
    secure_->handshake(asio::ssl::stream_base::client, e);
    return !e;
  }
  void write(std::span<const std::byte> bytes) {
    boost::system::error_code over;
    if (secure_)
      asio::write(*secure_, asio::buffer(bytes.data(), bytes.size()), over);
    else
      asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), over);
  }
  /// @returns what came, until `most` bytes have or the other side is done.
  std::vector<std::byte> read(std::size_t most) {
    std::vector<std::byte> bytes(most);
    boost::system::error_code over;
    bytes.resize(
      secure_ ? asio::read(*secure_, asio::buffer(bytes), over)
              : asio::read(socket_, asio::buffer(bytes), over));
    return bytes;
  }
  /// Waits until the other side has closed. @returns the bytes that came before.
  std::size_t wait_closed() { return read(1 << 20).size(); }
  void hello(const link_id& id, lane on, std::uint32_t incarnation = 1) {
    write(link_wire::encode(link_wire::hello{id, on, incarnation}));
  }
  /// @returns true where the link welcomes it.
  bool welcome() {
    const auto bytes = read(link_wire::welcome_bytes);
    return bytes.size() == link_wire::welcome_bytes
           && !link_wire::decode_welcome(
             std::span<const std::byte, link_wire::welcome_bytes>{bytes});
  }
  /// Whether what it knows now would let it come again without a certificate.
  bool resumable() {
    const auto* session = SSL_get0_session(secure_->native_handle());
    return session && SSL_SESSION_is_resumable(session) == 1;
  }
  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }
  asio::ip::tcp::socket& tcp() { return socket_; }

private:
  asio::io_context io_;
  asio::ip::tcp::socket socket_{io_};
  std::optional<asio::ssl::stream<asio::ip::tcp::socket&>> secure_;
};

/// Both lanes of a link, opened by hand.
struct raw_link {
  raw_link(std::uint16_t port, const link_id& id, std::uint32_t incarnation = 1)
    : control(port), data(port) {
    control.hello(id, lane::control, incarnation);
    data.hello(id, lane::data, incarnation);
    open = control.welcome() && data.welcome();
  }
  raw_peer control, data;
  bool open = false;
};

} // namespace hyperframes::test
