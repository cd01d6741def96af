#pragma once

#include "runtime/net/link.hpp"
#include "runtime/net/tls.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace hyperframes {

struct link_settings {
  /// None: no encryption and no authentication, on loopback addresses only.
  std::optional<tls_files> tls = std::nullopt;
  /// A lane that has nothing to send says so this often.
  std::chrono::milliseconds heartbeat{500};
  /// A lane on which nothing comes takes the link down between `dead_after - heartbeat` and
  /// `dead_after` after the last byte. At least 3 heartbeats.
  std::chrono::milliseconds dead_after{2000};
  /// From a connection's first byte until both lanes are open.
  std::chrono::milliseconds handshake_patience{5000};
  /// Pause before the first, and the longest pause before a later attempt to open a link again; it
  /// doubles in between.
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds longest_pause{1000};
};

/// All links of a process: one I/O thread, any number of links and of addresses to listen at.
///
///   link_hub hub{{.tls = files}, [](const std::string& sentence) { log(sentence); }};
///   const auto port = hub.listen("0.0.0.0", 0);
///   auto from_peer = hub.accept(id_of_theirs, user);
///   auto to_peer = hub.connect("10.0.0.2", 4100, id_of_ours, other_user);
///
/// Peers prove with a certificate of the same authority that they belong to the deployment, before
/// anything of them is read; its name is not compared with their address. Connections that have not
/// yet opened a link are at most 32: the oldest makes place. The end of the hub ends its links, and
/// must not come from one of their users; it waits for a name that is being looked up.
class link_hub {
public:
  /// @param on_rejected is told of connections that were refused, once for each address and reason,
  /// on the I/O thread. Throws `failure` where the files or the times are wrong.
  explicit link_hub(
    link_settings settings, std::function<void(const std::string&)> on_rejected = {});
  ~link_hub();
  link_hub(const link_hub&) = delete;
  link_hub& operator=(const link_hub&) = delete;

  /// Listens at an IP address, or at "localhost". @param port 0: any free one. @returns the port.
  /// Throws `failure` where it cannot be had, or where it needs certificates and there are none.
  std::uint16_t listen(const std::string& host, std::uint16_t port);
  /// Lets the link be opened by the other end, any number of times, until it is closed. From the
  /// return on. Throws `failure` where this id is expected already.
  std::shared_ptr<link> accept(const link_id& id, std::shared_ptr<link_user> user);
  /// From now on a link that nobody expects is told to `stranger`, on the I/O thread, which may
  /// `accept` it; what it throws refuses the link. Once, before the hub listens.
  void welcome(std::function<void(const link_id&)> stranger);
  /// Opens the link, and opens it again whenever it went down, until it is closed. @param host an
  /// IP address or a name. Throws `failure` where the address needs certificates and there are
  /// none.
  std::shared_ptr<link> connect(
    const std::string& host, std::uint16_t port, const link_id& id,
    std::shared_ptr<link_user> user);

  /// Connections that were refused.
  std::uint64_t rejected() const;

private:
  class state;
  std::unique_ptr<state> state_;
};

} // namespace hyperframes
