#include "tools/control_socket.hpp"

#include "graphs/values.hpp"
#include "tools/commands.hpp"

#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include <sys/stat.h>

namespace hyperframes::command {

namespace {

namespace asio = boost::asio;
using local = asio::local::stream_protocol;

constexpr std::size_t longest_line = 4096;
constexpr std::size_t most_sessions = 8;

const std::vector<std::string> words{"streams", "add", "remove", "metrics", "drain", "stop"};

std::string all_streams(const control_target& target) {
  const auto now = target.run.progress();
  std::string text;
  for (std::size_t i = 0; i < target.streams.size(); ++i)
    text += target.streams[i] + (target.run.has_camera(target.streams[i]) ? "  camera  " : "  no camera  ")
            + std::to_string(now.streams.at(i).captured) + " frames\n";
  return text;
}

} // namespace

std::string answer(const std::string& line, const control_target& target) try {
  const auto space = line.find(' ');
  const auto word = line.substr(0, space);
  const auto rest = space == std::string::npos ? "" : line.substr(line.find_first_not_of(' ', space));
  if (std::ranges::find(words, word) == words.end())
    return "error: '" + word + "' is no request: " + suggestion(word, words) + '\n';
  const bool of_stream = word == "add" || word == "remove";
  if (of_stream == rest.empty())
    return "error: " + word + (of_stream ? " needs the id of a stream" : " takes nothing behind it") + '\n';
  if (of_stream && std::ranges::find(target.streams, rest) == target.streams.end())
    return "error: '" + rest + "' is no stream of this graph: " + suggestion(rest, target.streams) + '\n';
  if (of_stream && target.run.has_camera(rest) == (word == "add"))
    return rest + (word == "add" ? " has its camera already\n" : " has no camera\n") + "ok\n";
  if (word == "add")
    target.run.add_camera(rest);
  else if (word == "remove")
    target.run.remove_camera(rest);
  else if (word == "streams")
    return all_streams(target) + "ok\n";
  else if (word == "metrics")
    return target.run.metrics() + "ok\n";
  else
    target.end(word == "stop");
  return "ok\n";
} catch (const failure& e) {
  return std::string{"error: "} + e.what() + '\n';
}

/// One client: a line at a time, each answered before the next one is read.
struct control_socket::session : std::enable_shared_from_this<session> {
  session(control_socket& o, local::socket s)
    : owner(o), open(o.sessions_), socket(std::move(s)), input(longest_line) {
    ++*open;
  }
  ~session() { --*open; } // its last handler may go after the owner

  void read() {
    asio::async_read_until(socket, input, '\n', [self = shared_from_this()](auto error, std::size_t length) {
      if (error) // gone, or a line that does not end
        return;
      std::string line(asio::buffers_begin(self->input.data()),
                       asio::buffers_begin(self->input.data()) + static_cast<std::ptrdiff_t>(length - 1));
      self->input.consume(length);
      self->output = answer(line, self->owner.target_);
      asio::async_write(self->socket, asio::buffer(self->output), [self](auto failed, std::size_t) {
        if (!failed)
          self->read();
      });
    });
  }

  control_socket& owner;
  std::shared_ptr<std::size_t> open;
  local::socket socket;
  asio::streambuf input;
  std::string output;
};

control_socket::control_socket(asio::io_context& io, std::string path, control_target target)
  : path_(std::move(path)), target_(std::move(target)), acceptor_(io) {
  const auto fail = [&](const std::string& why) {
    throw failure(make_error(errc::graph_invalid, "--control " + path_, why));
  };
  if (std::filesystem::is_socket(path_)) { // of a run that has ended?
    local::socket other{io};
    boost::system::error_code code;
    other.connect(local::endpoint{path_}, code);
    if (!code)
      fail("another run listens there");
    std::filesystem::remove(path_);
  }
  const auto before = ::umask(0077); // only its user may open it
  boost::system::error_code code;
  acceptor_.open(local{}, code);
  if (!code)
    acceptor_.bind(local::endpoint{path_}, code);
  if (!code)
    acceptor_.listen(asio::socket_base::max_listen_connections, code);
  ::umask(before);
  if (code)
    fail("no socket can be made there: " + code.message());
  accept();
}

control_socket::~control_socket() {
  std::error_code ignored; // somebody else may have removed it
  std::filesystem::remove(path_, ignored);
}

void control_socket::accept() {
  acceptor_.async_accept([this](auto error, local::socket client) {
    if (error)
      return;
    if (*sessions_ < most_sessions)
      std::make_shared<session>(*this, std::move(client))->read();
    accept();
  });
}

int control(const std::string& path, const std::string& line) {
  const auto fail = [&](const std::string& why) {
    throw failure(make_error(errc::graph_invalid, path, why));
  };
  asio::io_context io;
  local::socket socket{io};
  boost::system::error_code code;
  socket.connect(local::endpoint{path}, code);
  if (code)
    fail("no run can be reached there: " + code.message() + "; start one with `run --control " + path + "`");
  asio::write(socket, asio::buffer(line + '\n'), code);
  asio::streambuf input;
  for (std::string text; !code;) {
    const auto length = asio::read_until(socket, input, '\n', code);
    if (code)
      break;
    text.assign(asio::buffers_begin(input.data()),
                asio::buffers_begin(input.data()) + static_cast<std::ptrdiff_t>(length));
    input.consume(length);
    if (text == "ok\n")
      return done;
    if (text.starts_with("error: ")) {
      std::cerr << text;
      return wrong_graph;
    }
    std::cout << text;
  }
  fail("the run went away before it answered: " + code.message());
  return stage_failed;
}

} // namespace hyperframes::command
