#pragma once

#include "graphs/hyperframes.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes::command {

/// What a line asks of a running graph, and the answer to it: "ok", or "error: " and a sentence.
///
///   streams          a line for each: id, `camera` or `no camera`, frames captured; then "ok"
///   add STREAM       lets its camera come
///   remove STREAM    lets its camera go
///   metrics          Prometheus' text; then "ok"
///   drain, stop      as the first and the second interrupt
struct control_target {
  running& run;
  std::vector<std::string> streams;
  std::function<void(bool at_once)> end; ///< drains, or stops
};
std::string answer(const std::string& line, const control_target& target);

/// Takes control lines from a socket file that only its user can open. Lives on the thread of its
/// io_context. The file goes with the object.
class control_socket {
public:
  /// Throws `failure` where the socket cannot be made: the path is taken, or its folder is missing.
  control_socket(boost::asio::io_context& io, std::string path, control_target target);
  ~control_socket();
  control_socket(const control_socket&) = delete;
  control_socket& operator=(const control_socket&) = delete;

private:
  struct session;
  void accept();

  std::string path_;
  control_target target_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  std::shared_ptr<std::size_t> sessions_ = std::make_shared<std::size_t>(0);
};

} // namespace hyperframes::command
