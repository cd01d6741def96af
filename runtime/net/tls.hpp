#pragma once

#include "runtime/error.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace boost::asio::ssl {
class context;
}

namespace hyperframes {

/// What a process shows and asks of its peers: paths of PEM files.
struct tls_files {
  std::string certificate; ///< of this process
  std::string key;         ///< that belongs to it
  std::string authority;   ///< the certificate that every peer's is signed with
};

/// Checks that the files can be read, that the key belongs to the certificate, that the authority
/// has signed it and that both are valid at `now`. @returns the first fault, with its file and what
/// to do.
expected<void> check_tls(const tls_files& files, std::chrono::system_clock::time_point now);

enum class tls_end { opens, accepts };

/// Makes what TLS connections are made from: TLS 1.3 only; the peer must show a valid certificate
/// of the authority, in both directions; no session is resumed, so that each connection is checked.
/// @returns the faults of `check_tls`.
expected<std::shared_ptr<boost::asio::ssl::context>>
make_tls(const tls_files& files, tls_end end, std::chrono::system_clock::time_point now);

} // namespace hyperframes
