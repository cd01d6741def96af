#include "runtime/net/link_connection.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <utility>

namespace hyperframes {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// Bytes that are read or written at once, so that no lane keeps the thread from the others.
constexpr std::size_t at_once = std::size_t{256} << 10;

/// A view of buffers that costs nothing to copy, as Asio copies what it is given.
template <class Buffer>
struct buffer_view {
  using value_type = Buffer;
  using const_iterator = const Buffer*;
  std::span<const Buffer> all;
  const_iterator begin() const { return all.data(); }
  const_iterator end() const { return all.data() + all.size(); }
};

} // namespace

std::string connection_trouble(error_code e) {
  if (e == asio::error::eof || e == asio::ssl::error::stream_truncated)
    return "the other side closed the connection";
  if (e == asio::error::connection_reset || e == asio::error::broken_pipe)
    return "the connection was cut by the other side";
  return e.message();
}

link_connection::link_connection(socket s, asio::ssl::context* tls) : socket_(std::move(s)) {
  if (tls)
    secure_.emplace(socket_, *tls);
}

void link_connection::handshake(tls_end end, done then) {
  secure_->async_handshake(
    end == tls_end::opens ? asio::ssl::stream_base::client : asio::ssl::stream_base::server,
    [self = shared_from_this(), then = std::move(then)](error_code e) {
      if (!self->closed_)
        then(e);
    });
}

void link_connection::write(std::span<const std::byte> bytes, done then) {
  with_stream([&](auto& stream) {
    asio::async_write(
      stream, asio::buffer(bytes.data(), bytes.size()),
      [self = shared_from_this(), then = std::move(then)](error_code e, std::size_t) {
        if (!self->closed_)
          then(e);
      });
  });
}

void link_connection::read(std::span<std::byte> bytes, done then) {
  with_stream([&](auto& stream) {
    asio::async_read(
      stream, asio::buffer(bytes.data(), bytes.size()),
      [self = shared_from_this(), then = std::move(then)](error_code e, std::size_t) {
        if (!self->closed_)
          then(e);
      });
  });
}

std::string link_connection::handshake_trouble(error_code e) {
  if (!secure_)
    return connection_trouble(e);
  const auto verified = SSL_get_verify_result(secure_->native_handle());
  if (verified != X509_V_OK)
    return std::string{"its certificate is refused: "} + X509_verify_cert_error_string(verified);
  if (e.category() != asio::error::get_ssl_category())
    return connection_trouble(e);
  const auto reason = ERR_GET_REASON(static_cast<unsigned long>(e.value()));
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
    return "it shows no certificate";
  switch (reason - SSL_AD_REASON_OFFSET) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return "the other side refuses this process's certificate: " + e.message();
    default:
      return "it does not speak TLS 1.3 as is expected: " + e.message();
  }
}

void link_connection::run(
  lane on, std::vector<std::byte> first, std::shared_ptr<link_outbox> outbox,
  std::shared_ptr<link_user> user, fault on_fault) {
  lane_ = on;
  outbox_ = std::move(outbox);
  user_ = std::move(user);
  on_fault_ = std::move(on_fault);
  reader_.emplace(lane_, *user_);
  read_frames();
  if (!first.empty())
    write_raw(std::move(first));
  else
    pump();
}

void link_connection::read_frames() {
  into_.clear();
  for (const auto part : reader_->wanted())
    into_.emplace_back(part.data(), part.size());
  with_stream([&](auto& stream) {
    asio::async_read(
      stream, buffer_view<asio::mutable_buffer>{into_},
      [self = shared_from_this()](error_code e, std::size_t bytes) -> std::size_t {
        self->heard_ = self->heard_ || bytes > 0;
        return e ? 0 : at_once;
      },
      [self = shared_from_this()](error_code e, std::size_t) { self->on_read(e); });
  });
}

void link_connection::on_read(error_code e) {
  if (closed_ || outbox_->incarnation() == 0) // where it is 0 the link was closed, and ends soon
    return;
  if (e)
    return fail(connection_trouble(e));
  heard_ = true;
  const auto messages = reader_->messages(), bytes = reader_->bytes();
  std::optional<std::string> wrong;
  try {
    wrong = reader_->filled();
  } catch (const std::exception& thrown) {
    wrong = std::string{"a message could not be taken: "} + thrown.what();
  }
  outbox_->received(reader_->messages() - messages, reader_->bytes() - bytes);
  if (wrong)
    fail(*wrong);
  else if (!closed_)
    read_frames();
}

void link_connection::pump() {
  if (closed_ || writing_)
    return;
  outbox_->take(lane_, batch_);
  if (!batch_.empty())
    write_batch();
}

void link_connection::write_batch() {
  from_.clear();
  const auto add = [&](const std::byte* data, std::size_t bytes) {
    if (bytes > 0)
      from_.emplace_back(data, bytes);
  };
  for (const auto& m : batch_) {
    add(m.header.data(), m.header.size());
    add(m.head.data(), m.head.size());
    for (const auto& part : m.bulk)
      if (part.bytes > 0)
        add(part.buffer.data() + part.offset, part.bytes);
  }
  writing_ = true;
  with_stream([&](auto& stream) {
    asio::async_write(
      stream, buffer_view<asio::const_buffer>{from_},
      [](error_code e, std::size_t) { return e ? 0 : at_once; },
      [self = shared_from_this()](error_code e, std::size_t) { self->on_written(e); });
  });
}

void link_connection::write_raw(std::vector<std::byte> bytes) {
  raw_ = std::move(bytes);
  writing_ = true;
  with_stream([&](auto& stream) {
    asio::async_write(
      stream, asio::buffer(raw_),
      [self = shared_from_this()](error_code e, std::size_t) { self->on_written(e); });
  });
}

void link_connection::on_written(error_code e) {
  writing_ = false;
  if (e || closed_)
    outbox_->discarded(batch_);
  else
    outbox_->written(batch_);
  batch_.clear();
  if (closed_)
    return;
  if (e)
    fail(connection_trouble(e));
  else
    pump();
}

unsigned link_connection::tick() {
  if (closed_)
    return 0;
  if (!writing_) {
    const auto beat = link_wire::heartbeat();
    write_raw({beat.begin(), beat.end()});
  }
  silent_ = heard_ ? 0 : silent_ + 1;
  heard_ = false;
  return silent_;
}

void link_connection::fail(const std::string& why) {
  if (closed_)
    return;
  const auto tell = on_fault_;
  close();
  tell(why);
}

void link_connection::close() {
  if (std::exchange(closed_, true))
    return;
  error_code ignored;
  socket_.close(ignored);
  // What is being read or written holds the connection until it is aborted; the user goes now.
  on_fault_ = nullptr;
}

} // namespace hyperframes
