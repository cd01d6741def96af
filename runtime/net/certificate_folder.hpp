#pragma once

#include "runtime/net/certificates.hpp"
#include "runtime/net/tls.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace hyperframes {

/// A deployment's certificates in a folder: `ca.pem` and `ca.key` of the authority, NAME.pem and
/// NAME.key of each process. Keys can be read by their owner alone. Each file appears whole, and
/// none that is there is ever replaced.
///
/// Not thread-safe; the functions read and write files. They return an error that names the file.
class certificate_folder {
public:
  explicit certificate_folder(std::string path) : path_(std::move(path)) {}

  /// Makes the folder where there is none, and the authority.
  expected<void> init(std::chrono::system_clock::time_point now, unsigned days) const;
  /// Makes the certificate of a process. @param name letters, digits, `.`, `_` and `-`, not `ca`.
  /// @param hosts where it can be reached, beside `name` and this machine's loopback names.
  expected<void> issue(
    const std::string& name, const std::vector<std::string>& hosts,
    std::chrono::system_clock::time_point now, unsigned days) const;

  /// The files of a process, whether they exist or not.
  tls_files files_of(const std::string& name) const;

private:
  std::string file(const std::string& name) const { return path_ + '/' + name; }
  std::string path_;
};

} // namespace hyperframes
