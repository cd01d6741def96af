#pragma once

#include "actors/trigger_port.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hyperframes {

/// An address to listen at.
struct listen_address {
  std::string host; ///< an IP address
  std::uint16_t port = 0; ///< 0: any free one
};
/// Reads "127.0.0.1:5005", "[::1]:5005" or "localhost:5005". @returns none where it is neither.
std::optional<listen_address> read_address(const std::string& text);

/// Bounds of what a sender may ask of us.
struct listen_limits {
  std::size_t datagram = 256; ///< bytes
  std::uint32_t header = 4096; ///< bytes of a request's header
  std::size_t body = 1024;     ///< bytes, which are read and not looked at
  std::size_t connections = 16;
  std::chrono::milliseconds patience{5000}; ///< for a whole request, and between two of a connection
};

/// Fires the trigger that a datagram asks for, or counts it as refused.
void take_datagram(std::string_view bytes, const listen_limits& limits, trigger_port& port);

/// Fires a trigger for each UDP datagram and each HTTP POST.
///
/// A datagram is the name of a stream or group, or empty; white space at its end does not count. A
/// POST goes to /trigger or /trigger/NAME and is answered by 204; by 400 where it is malformed, 404
/// where nothing has that name, 405 for other methods, 413 and 431 where it is too large, 503 where
/// too many triggers wait. Whatever is not taken is counted at the port.
///
/// Works on one thread of its own, which ends with the object. Holds no more memory than the limits
/// say, whatever is sent.
class trigger_listener {
public:
  /// Takes the addresses. Throws `failure` naming `stage` where one cannot be had.
  trigger_listener(const std::string& stage, const std::optional<listen_address>& udp,
                   const std::optional<listen_address>& http, std::shared_ptr<trigger_port> port,
                   const listen_limits& limits = {});
  ~trigger_listener();
  trigger_listener(const trigger_listener&) = delete;
  trigger_listener& operator=(const trigger_listener&) = delete;

  std::uint16_t udp_port() const;  ///< that was taken; 0: none
  std::uint16_t http_port() const; ///< that was taken; 0: none

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace hyperframes
