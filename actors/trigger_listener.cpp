#include "actors/trigger_listener.hpp"

#include "actors/trigger_http.hpp"
#include "runtime/error.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <charconv>
#include <thread>

namespace hyperframes {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr const char* no_memory = "there was no memory for a request";

[[noreturn]] void cannot_listen(
  const std::string& stage, const char* kind, const listen_address& at, const error_code& e) {
  const bool taken = e == asio::error::address_in_use;
  throw failure(make_error(
    errc::io_failed, stage,
    std::string{"cannot listen for "} + kind + " at " + at.host + ", port " + std::to_string(at.port)
      + ": " + e.message()
      + (taken ? "; another program, or another stage, listens there: use another port"
               : "; use an address of this machine and a port that may be used")));
}

/// Opens and binds; `socket` is a UDP socket or a TCP acceptor.
template <class Protocol, class Socket>
error_code bind(Socket& socket, const listen_address& at) {
  error_code e;
  const auto address = asio::ip::make_address(at.host, e);
  if (e)
    return e;
  const typename Protocol::endpoint endpoint{address, at.port};
  if (socket.open(endpoint.protocol(), e))
    return e;
  if constexpr (std::is_same_v<Protocol, asio::ip::tcp>)
    if (socket.set_option(asio::socket_base::reuse_address{true}, e))
      return e;
  if (socket.bind(endpoint, e))
    return e;
  if constexpr (std::is_same_v<Protocol, asio::ip::tcp>)
    socket.listen(asio::socket_base::max_listen_connections, e);
  return e;
}

} // namespace

std::optional<listen_address> read_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos)
    return std::nullopt;
  listen_address result;
  const auto* last = text.data() + text.size();
  const auto number = std::from_chars(text.data() + colon + 1, last, result.port);
  if (number.ec != std::errc{} || number.ptr != last)
    return std::nullopt;
  result.host = text.substr(0, colon);
  const bool bracketed = result.host.size() > 2 && result.host.front() == '[' && result.host.back() == ']';
  if (bracketed)
    result.host = result.host.substr(1, result.host.size() - 2);
  if (result.host == "localhost")
    result.host = "127.0.0.1";
  error_code e;
  const auto address = asio::ip::make_address(result.host, e);
  if (e || address.is_v6() != bracketed)
    return std::nullopt;
  return result;
}

void take_datagram(std::string_view bytes, const listen_limits& limits, trigger_port& port) {
  if (bytes.size() > limits.datagram)
    return port.refuse("a datagram was too large");
  while (!bytes.empty() && std::string_view{"\r\n\t \0", 5}.find(bytes.back()) != bytes.npos)
    bytes.remove_suffix(1);
  if (port.fire(bytes) == trigger_result::unknown)
    port.refuse("a datagram named no stream, group or stage");
}

struct trigger_listener::state {
  asio::io_context io{1};
  asio::ip::udp::socket datagrams{io};
  asio::ip::tcp::acceptor connections{io};
  asio::ip::udp::endpoint sender;
  std::string datagram;
  std::shared_ptr<trigger_port> port;
  listen_limits limits;
  std::thread thread;

  void receive() {
    datagram.resize(limits.datagram + 1); // what fills it is too large
    datagrams.async_receive_from(
      asio::buffer(datagram), sender, [this](error_code e, std::size_t size) {
        if (e == asio::error::operation_aborted)
          return;
        try {
          if (!e)
            take_datagram(std::string_view{datagram.data(), size}, limits, *port);
        } catch (const std::bad_alloc&) {
          port->refuse(no_memory);
        }
        receive();
      });
  }
};

trigger_listener::trigger_listener(
  const std::string& stage, const std::optional<listen_address>& udp,
  const std::optional<listen_address>& http, std::shared_ptr<trigger_port> port,
  const listen_limits& limits)
  : state_(std::make_unique<state>()) {
  auto& s = *state_;
  s.port = std::move(port);
  s.limits = limits;
  if (udp) {
    if (const auto e = bind<asio::ip::udp>(s.datagrams, *udp))
      cannot_listen(stage, "datagrams", *udp, e);
    s.receive();
  }
  if (http) {
    if (const auto e = bind<asio::ip::tcp>(s.connections, *http))
      cannot_listen(stage, "HTTP requests", *http, e);
    serve_triggers(s.connections, s.port, limits);
  }
  s.thread = std::thread{[&s] {
    for (;;)
      try {
        s.io.run();
        return;
      } catch (const std::bad_alloc&) { // of one request: no reason to hear no other
        s.port->refuse(no_memory);
      }
  }};
}

trigger_listener::~trigger_listener() {
  state_->io.stop();
  if (state_->thread.joinable())
    state_->thread.join();
}

std::uint16_t trigger_listener::udp_port() const {
  error_code e;
  return state_->datagrams.is_open() ? state_->datagrams.local_endpoint(e).port() : 0;
}

std::uint16_t trigger_listener::http_port() const {
  error_code e;
  return state_->connections.is_open() ? state_->connections.local_endpoint(e).port() : 0;
}

} // namespace hyperframes
