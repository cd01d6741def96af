// Whatever is sent to a trigger's addresses: a trigger, or a refusal that is counted, and never a
// crash. The bytes come as a datagram, as a connection's, as a request line and as an address in a
// graph file.
#include "actors/trigger_http.hpp"
#include "actors/trigger_listener.hpp"
#include "tests/fuzz/claim.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using namespace hyperframes;
using test::claim;

namespace {

namespace asio = boost::asio;

std::shared_ptr<trigger_port> opened() {
  auto port = std::make_shared<trigger_port>();
  port->open(
    {{"", {~stream_index{0}}}, {"cam1", {0}}, {"cam 2", {1, 2}}}, [] { return graph_time{}; },
    [] {});
  return port;
}

/// A listener for the life of the process.
struct listening {
  std::shared_ptr<trigger_port> port = opened();
  listen_limits limits{.patience = std::chrono::milliseconds{2000}};
  trigger_listener listener{"trigger", std::nullopt, listen_address{"127.0.0.1", 0}, port, limits};
};

/// Everything that comes back on a connection where `bytes` were sent, until it ends.
std::string answers_to(std::string_view bytes, std::uint16_t port) {
  asio::io_context io;
  asio::ip::tcp::socket socket{io};
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  boost::system::error_code over;
  asio::write(socket, asio::buffer(bytes), over);
  socket.shutdown(asio::socket_base::shutdown_send, over);
  std::string answers;
  asio::read(socket, asio::dynamic_buffer(answers), over);
  socket.set_option(
    asio::socket_base::linger{true, 0}, over); // leaves nothing that waits in the system
  return answers;
}

std::uint64_t count(std::string_view text, std::string_view part) {
  std::uint64_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++n;
  return n;
}

void connect_with(std::string_view bytes) {
  static auto& at = *new listening;
  const auto fired = at.port->fired();
  const auto answers = answers_to(bytes, at.listener.http_port());
  claim(answers.empty() || answers.starts_with("HTTP/1.1 "), "an answer is HTTP");
  // Of what was closed with bytes unread an answer may have got lost, and nothing else.
  claim(count(answers, "HTTP/1.1 204 ") <= at.port->fired() - fired, "each 204 has fired");
  claim(
    at.port->fired() - fired <= bytes.size() / 18,
    "a request is not answered twice"); // the shortest one
  at.port->take({});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const listen_limits limits;

  const auto port = opened();
  take_datagram(bytes, limits, *port);
  claim(port->fired() + port->refused() == 1, "a datagram fires or is refused");
  claim(size <= limits.datagram || port->refused() == 1, "one that is too large is refused");
  port->take({});

  const auto fired = port->fired(), refused = port->refused();
  const auto blank = bytes.find(' ');
  const auto answer = answer_trigger(
    bytes.substr(0, blank), blank == bytes.npos ? bytes : bytes.substr(blank + 1), *port);
  claim(
    answer.status == 204 || answer.status == 400 || answer.status == 404 || answer.status == 405,
    "an answer is one of those that are described");
  claim((answer.status == 204) == answer.text.empty(), "what is not taken has a sentence");
  claim(port->fired() - fired == (answer.status == 204 ? 1U : 0U), "204 fires once");
  claim(
    port->refused() - refused == (answer.status == 204 ? 0U : 1U), "what is refused is counted");

  if (const auto address = read_address(std::string{bytes}))
    claim(!address->host.empty() && address->host.size() < size, "an address has a host");

  connect_with(bytes);
  return 0;
}
