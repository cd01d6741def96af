#pragma once

#include "actors/trigger_listener.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <string>
#include <string_view>

/// The part of `trigger_listener` that speaks HTTP.
namespace hyperframes {

struct http_answer {
  unsigned status = 204;
  std::string text; ///< a sentence and a line break; empty with 204
};
/// What a request is answered; fires its trigger, or counts it as refused.
/// @param target as it stands in the request line.
http_answer answer_trigger(std::string_view method, std::string_view target, trigger_port& port);

/// Accepts connections on `acceptor`, which is open, until the executor stops.
void serve_triggers(boost::asio::ip::tcp::acceptor& acceptor, std::shared_ptr<trigger_port> port,
                    const listen_limits& limits);

} // namespace hyperframes
