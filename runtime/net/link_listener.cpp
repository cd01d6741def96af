#include "runtime/net/link_listener.hpp"

#include "runtime/net/link_end.hpp"
#include "runtime/net/link_socket.hpp"

#include <utility>

namespace hyperframes {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// How long no connection is accepted when the machine has no room for one.
constexpr std::chrono::milliseconds no_room_pause{100};

} // namespace

void link_arrivals::add(std::shared_ptr<link_arrival> arrival) {
  if (all_.size() >= at_most) {
    const auto oldest = all_.front();
    oldest->reject("more than " + std::to_string(at_most) + " connections waited to open a link");
  }
  all_.push_back(std::move(arrival));
}

void link_arrivals::remove(const link_arrival& arrival) {
  all_.remove_if([&](const auto& a) { return a.get() == &arrival; });
}

void link_arrivals::end() {
  for (const auto& arrival : std::exchange(all_, {}))
    arrival->end();
}

link_arrival::link_arrival(link_core& core, std::weak_ptr<link_arrivals> among, tcp::socket socket)
  : core_(core), among_(std::move(among)), patience_(core.io) {
  error_code e;
  const auto peer = socket.remote_endpoint(e);
  from_ = e ? "an unknown address" : peer.address().to_string();
  connection_ = std::make_shared<link_connection>(std::move(socket), core.accepting.get());
}

void link_arrival::start() {
  patience_.expires_after(core_.settings.handshake_patience);
  patience_.async_wait([self = shared_from_this()](error_code e) {
    if (!e)
      self->reject(
        "it opened no link within "
        + std::to_string(self->core_.settings.handshake_patience.count()) + " ms");
  });
  if (!connection_->secure())
    return read_hello();
  connection_->handshake(tls_end::accepts, [self = shared_from_this()](error_code e) {
    if (e)
      self->reject(self->connection_->handshake_trouble(e));
    else
      self->read_hello();
  });
}

void link_arrival::read_hello() {
  connection_->read(hello_, [self = shared_from_this()](error_code e) {
    if (self->over_)
      return;
    if (e)
      self->reject(connection_trouble(e) + " before it named a link");
    else
      self->on_hello();
  });
}

void link_arrival::on_hello() {
  using link_wire::answer;
  link_wire::hello hello;
  if (const auto wrong = link_wire::decode(hello_, hello)) {
    if (*wrong == link_wire::hello_fault::not_ours)
      return reject("what it sent is not the link protocol");
    if (*wrong == link_wire::hello_fault::malformed)
      return reject("its hello is malformed");
    return refuse(
      answer::other_version, "it speaks another version of the link protocol than "
                               + std::to_string(link_wire::version)
                               + "; run the same release at both ends");
  }
  auto link = core_.expected_link(hello.id);
  if (!link && core_.on_stranger) {
    try {
      core_.on_stranger(hello.id);
    } catch (const std::exception& e) {
      return refuse(answer::unknown_link, std::string{"it is not welcome: "} + e.what());
    }
    link = core_.expected_link(hello.id);
  }
  if (!link)
    return refuse(answer::unknown_link, "it named a link that is not expected");
  prepare(connection_->tcp(), hello.on);
  const auto a = link->arrived(connection_, hello);
  if (a != answer::welcome)
    return refuse(a, "it named a link that is open already");
  leave();
}

void link_arrival::refuse(link_wire::answer a, const std::string& why) {
  answer_ = link_wire::encode(a);
  connection_->write(answer_, [self = shared_from_this(), why](error_code) { self->reject(why); });
}

void link_arrival::reject(const std::string& why) {
  if (over_)
    return;
  end();
  core_.reject(from_, why);
}

void link_arrival::leave() {
  over_ = true;
  patience_.cancel();
  if (const auto among = among_.lock())
    among->remove(*this);
}

void link_arrival::end() {
  const auto self = shared_from_this(); // of which `leave` may hold the last reference
  leave();
  connection_->close();
}

link_listener::link_listener(
  link_core& core, std::shared_ptr<link_arrivals> arrivals, const std::string& host,
  std::uint16_t port)
  : core_(core), arrivals_(std::move(arrivals)), acceptor_(core.io), pause_(core.io) {
  const auto fail = [&](const std::string& why) {
    throw failure(make_error(
      errc::io_failed, host + ':' + std::to_string(port), "cannot listen for links: " + why));
  };
  const auto address = address_of(host);
  if (!address)
    fail("expected an IP address of this machine, or localhost");
  if (!core.accepting && !address->is_loopback())
    fail(
      "without certificates only loopback addresses are listened at; make some with `hyperframes "
      "certs init`");
  const tcp::endpoint at{*address, port};
  error_code e;
  if (
    acceptor_.open(at.protocol(), e) || acceptor_.set_option(tcp::acceptor::reuse_address{true}, e)
    || acceptor_.bind(at, e) || acceptor_.listen(asio::socket_base::max_listen_connections, e))
    fail(
      e.message()
      + (e == asio::error::address_in_use ? "; another program listens there: use another port" : "; use an address of this machine and a port that may be used"));
  port_ = acceptor_.local_endpoint().port();
}

void link_listener::start() {
  acceptor_.async_accept([weak = weak_from_this()](error_code e, tcp::socket socket) {
    if (const auto self = weak.lock())
      self->on_accept(e, std::move(socket));
  });
}

void link_listener::on_accept(error_code e, tcp::socket socket) {
  if (!acceptor_.is_open())
    return;
  if (e) { // the machine has no room for another connection
    pause_.expires_after(no_room_pause);
    pause_.async_wait([weak = weak_from_this()](error_code cancelled) {
      if (const auto self = weak.lock(); self && !cancelled)
        self->start();
    });
    return;
  }
  start();
  const auto arrival = std::make_shared<link_arrival>(core_, arrivals_, std::move(socket));
  arrivals_->add(arrival);
  arrival->start();
}

void link_listener::end() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

} // namespace hyperframes
