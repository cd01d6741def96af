#include "actors/trigger_http.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <optional>

namespace hyperframes {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

/// How long no connection is accepted when the machine has no room for one.
constexpr std::chrono::milliseconds no_room_pause{100};

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9')
    return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f')
    return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F')
    return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

/// "cam%201" is "cam 1". @returns none where an escape is none.
std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? digit(text[i + 2]) : std::nullopt;
    if (!high || !low)
      return std::nullopt;
    result += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return result;
}

/// What is wrong with a request that could not be read; none: the connection is over.
std::optional<http_answer> answer_unreadable(error_code e) {
  if (e == http::error::body_limit)
    return http_answer{413, "the body is too large: a trigger needs none\n"};
  if (e == http::error::header_limit || e == http::error::buffer_overflow)
    return http_answer{431, "the header is too large\n"};
  if (e == http::error::end_of_stream || e == http::error::partial_message)
    return std::nullopt;
  if (e.category() == http::make_error_code(http::error::bad_version).category())
    return http_answer{400, "this is no HTTP request that can be read\n"};
  return std::nullopt;
}

/// One connection. Keeps itself alive by what it waits for.
class session : public std::enable_shared_from_this<session> {
public:
  session(
    asio::ip::tcp::socket socket, std::shared_ptr<trigger_port> port, const listen_limits& limits,
    std::shared_ptr<void> place)
    : stream_(std::move(socket)),
      buffer_(limits.header + limits.body),
      port_(std::move(port)),
      limits_(limits),
      place_(std::move(place)) {}

  void read() {
    parser_.emplace();
    parser_->header_limit(limits_.header);
    parser_->body_limit(limits_.body);
    stream_.expires_after(limits_.patience);
    http::async_read(
      stream_, buffer_, *parser_, [self = shared_from_this()](error_code e, std::size_t) {
        self->on_read(e);
      });
  }

private:
  void on_read(error_code e) {
    if (!e) {
      const auto& request = parser_->get();
      const auto view = [](auto text) { return std::string_view{text.data(), text.size()}; };
      return answer(
        answer_trigger(view(request.method_string()), view(request.target()), *port_),
        request.keep_alive());
    }
    if (const auto unreadable = answer_unreadable(e)) {
      port_->refuse("a request was malformed or too large");
      answer(*unreadable, false);
    }
  }

  void answer(const http_answer& a, bool keep_alive) {
    answer_ = {};
    answer_.result(a.status);
    answer_.version(11);
    answer_.keep_alive(keep_alive);
    if (a.status == 405)
      answer_.set(http::field::allow, "POST");
    if (!a.text.empty()) {
      answer_.set(http::field::content_type, "text/plain; charset=utf-8");
      answer_.body() = a.text;
    }
    if (a.status != 204)
      answer_.prepare_payload();
    stream_.expires_after(limits_.patience);
    http::async_write(
      stream_, answer_, [self = shared_from_this(), keep_alive](error_code e, std::size_t) {
        if (!e && keep_alive)
          self->read();
        else if (!e)
          self->stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, e);
      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> answer_;
  std::shared_ptr<trigger_port> port_;
  listen_limits limits_;
  std::shared_ptr<void> place_; ///< among the connections that may be open
};

class server : public std::enable_shared_from_this<server> {
public:
  server(
    asio::ip::tcp::acceptor& acceptor, std::shared_ptr<trigger_port> port,
    const listen_limits& limits)
    : acceptor_(acceptor),
      pause_(acceptor.get_executor()),
      port_(std::move(port)),
      limits_(limits) {}

  void accept() {
    acceptor_.async_accept(
      [self = shared_from_this()](error_code e, asio::ip::tcp::socket socket) {
        self->on_accept(e, std::move(socket));
      });
  }

private:
  void on_accept(error_code e, asio::ip::tcp::socket socket) {
    if (e == asio::error::operation_aborted)
      return;
    if (e) { // the machine has no room for another connection
      pause_.expires_after(no_room_pause);
      pause_.async_wait([self = shared_from_this()](error_code cancelled) {
        if (!cancelled)
          self->accept();
      });
      return;
    }
    try {
      if (static_cast<std::size_t>(places_.use_count()) > limits_.connections)
        port_->refuse("too many connections were open"); // and this one is closed
      else
        std::make_shared<session>(std::move(socket), port_, limits_, places_)->read();
    } catch (const std::bad_alloc&) {
      port_->refuse("there was no memory for a connection");
    }
    accept();
  }

  asio::ip::tcp::acceptor& acceptor_;
  asio::steady_timer pause_;
  std::shared_ptr<trigger_port> port_;
  listen_limits limits_;
  std::shared_ptr<int> places_ = std::make_shared<int>(); ///< each connection holds it
};

} // namespace

http_answer
answer_trigger(std::string_view method, std::string_view target, trigger_port& port) {
  constexpr std::string_view path = "/trigger";
  const auto refuse = [&port](unsigned status, std::string_view why) {
    port.refuse(why);
    return http_answer{status, std::string{why} + '\n'};
  };
  const auto query = target.find('?');
  if (query != target.npos)
    target = target.substr(0, query);
  const auto rest = target.starts_with(path) ? target.substr(path.size()) : std::string_view{"x"};
  if (!rest.empty() && rest.front() != '/')
    return refuse(404, "triggers are fired at /trigger and /trigger/NAME");
  if (method != "POST")
    return refuse(405, "triggers are fired by POST");
  const auto name = decoded(rest.empty() ? rest : rest.substr(1));
  if (!name)
    return refuse(400, "the name has an escape that is none");
  switch (port.fire(*name)) {
    case trigger_result::taken:
      return {};
    case trigger_result::unknown:
      return refuse(404, "no stream, group or stage has that name");
    case trigger_result::full:
      return {503, "too many triggers wait\n"};
    case trigger_result::closed:
      break;
  }
  return {503, "the graph is not running\n"};
}

void serve_triggers(
  asio::ip::tcp::acceptor& acceptor, std::shared_ptr<trigger_port> port,
  const listen_limits& limits) {
  std::make_shared<server>(acceptor, std::move(port), limits)->accept();
}

} // namespace hyperframes
