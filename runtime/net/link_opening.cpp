#include "runtime/net/link_opening.hpp"

#include "runtime/net/link_socket.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace hyperframes {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

link_opening::link_opening(
  link_core& core, std::string host, std::uint16_t port, const link_id& id,
  std::uint32_t incarnation, done then)
  : core_(core),
    host_(std::move(host)),
    port_(port),
    id_(id),
    incarnation_(incarnation),
    then_(std::move(then)),
    resolver_(core.io),
    patience_(core.io) {}

void link_opening::start() {
  patience_.expires_after(core_.settings.handshake_patience);
  patience_.async_wait([weak = weak_from_this()](error_code e) {
    if (const auto self = weak.lock(); self && !e)
      self->fail(
        "no answer came within " + std::to_string(self->core_.settings.handshake_patience.count())
        + " ms; check that the address is right and that nothing between refuses the port");
  });
  error_code e;
  if (const auto address = address_of(host_))
    return connect(tcp::resolver::results_type::create(
      tcp::endpoint{*address, port_}, host_, std::to_string(port_)));
  // Weak: a name server that does not answer must not keep it.
  resolver_.async_resolve(
    host_, std::to_string(port_),
    [weak = weak_from_this()](error_code failed, const tcp::resolver::results_type& found) {
      const auto self = weak.lock();
      if (!self || !self->then_)
        return;
      if (failed)
        self->fail("the name cannot be resolved: " + failed.message());
      else
        self->connect(found);
    });
}

void link_opening::after(error_code e, const std::string& what, auto next) {
  if (!then_)
    return;
  if (e)
    fail(what + e.message());
  else
    next();
}

void link_opening::connect(const tcp::resolver::results_type& to) {
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto on = static_cast<lane>(i);
    auto& l = lanes_[i];
    l.connection = std::make_shared<link_connection>(tcp::socket{core_.io}, core_.opening.get());
    asio::async_connect(
      l.connection->tcp(), to,
      [self = shared_from_this(), on, held = l.connection](error_code e, const tcp::endpoint&) {
        self->after(e, "it cannot be connected to: ", [&] { self->handshake(on); });
      });
  }
}

void link_opening::handshake(lane on) {
  auto& connection = *at(on).connection;
  prepare(connection.tcp(), on);
  if (!connection.secure())
    return say_hello(on);
  connection.handshake(tls_end::opens, [self = shared_from_this(), on](error_code e) {
    if (e)
      self->fail(self->at(on).connection->handshake_trouble(e));
    else
      self->say_hello(on);
  });
}

void link_opening::say_hello(lane on) {
  auto& l = at(on);
  l.hello = link_wire::encode(link_wire::hello{id_, on, incarnation_});
  l.connection->write(l.hello, [self = shared_from_this(), on](error_code e) {
    auto& said = self->at(on);
    if (e)
      return self->fail(connection_trouble(e));
    said.connection->read(said.welcome, [self, on](error_code failed) {
      if (failed)
        self->fail(self->at(on).connection->handshake_trouble(failed));
      else
        self->on_welcome(on);
    });
  });
}

void link_opening::on_welcome(lane on) {
  if (const auto why = link_wire::decode_welcome(at(on).welcome))
    return fail(*why);
  at(on).open = true;
  if (!std::ranges::all_of(lanes_, &opening_lane::open))
    return;
  patience_.cancel();
  lane_connections open;
  for (std::size_t i = 0; i < lanes; ++i)
    open[i] = std::move(lanes_[i].connection);
  std::exchange(then_, nullptr)(std::move(open));
}

void link_opening::fail(const std::string& why) {
  if (!then_)
    return;
  const auto then = std::exchange(then_, nullptr);
  cancel();
  then(make_error(errc::io_failed, host_ + ':' + std::to_string(port_), why));
}

void link_opening::cancel() {
  then_ = nullptr;
  resolver_.cancel();
  patience_.cancel();
  for (auto& l : lanes_)
    if (l.connection)
      l.connection->close();
}

opened_link::opened_link(
  std::shared_ptr<link_core> core, const link_id& id, std::shared_ptr<link_user> user,
  std::string host, std::uint16_t port)
  : link_end(std::move(core), id, std::move(user)),
    host_(std::move(host)),
    port_(port),
    pauses_(this->core().settings.first_pause, this->core().settings.longest_pause),
    wait_(this->core().io) {}

void opened_link::start() {
  asio::post(core().io, [weak = weak_from_this(), this] {
    if (const auto self = weak.lock())
      attempt();
  });
}

void opened_link::attempt() {
  if (ended())
    return;
  const auto incarnation = ++attempts_;
  opening_ = std::make_shared<link_opening>(
    core(), host_, port_, id(), incarnation,
    [weak = weak_from_this(), this, incarnation](expected<lane_connections> open) {
      const auto self = weak.lock();
      if (!self)
        return;
      opening_ = nullptr;
      if (open)
        return go_up(std::move(*open), incarnation, {});
      note_trouble(open.error().to_string());
      pause();
    });
  opening_->start();
}

void opened_link::pause() {
  wait_.expires_after(pauses_.next());
  wait_.async_wait([weak = weak_from_this(), this](error_code e) {
    if (const auto self = weak.lock(); self && !e)
      attempt();
  });
}

void opened_link::at_end() {
  wait_.cancel();
  if (const auto opening = std::exchange(opening_, nullptr))
    opening->cancel();
}

} // namespace hyperframes
