#pragma once

#include "runtime/error.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace hyperframes {

/// A certificate and the key that belongs to it, both as PEM text.
struct certified_key {
  std::string certificate;
  std::string key; ///< secret
};

struct validity {
  std::chrono::system_clock::time_point from; ///< a day before `now`, for clocks that differ
  std::chrono::system_clock::time_point until;

  static validity days(std::chrono::system_clock::time_point now, unsigned days) {
    return {now - std::chrono::hours{24}, now + std::chrono::hours{24} * days};
  }
};

/// An authority: an EC P-256 key and a certificate that it has signed itself, which may sign
/// certificates of processes and nothing else. Throws `failure` where OpenSSL fails.
certified_key make_authority(const validity& valid);

/// A certificate that `authority` signs, for both ends of a connection.
/// @param name stands in it as the subject's, 1 to 64 bytes.
/// @param hosts names and IP addresses that it is good for.
/// @returns an error where the authority cannot be read, is over before the certificate would be,
/// or a host is neither a name nor an address.
expected<certified_key> issue_certificate(
  const certified_key& authority, const std::string& name, const std::vector<std::string>& hosts,
  const validity& valid);

} // namespace hyperframes
