#pragma once

#include "runtime/net/certificate_folder.hpp"
#include "tests/scratch_folder.hpp"

#include <chrono>
#include <string>

namespace hyperframes::test {

/// The certificates of a deployment, in a folder that goes with the test.
struct deployment {
  deployment() { files.init(now, 30).value(); }

  /// A new certificate, valid from a day before `issued` on.
  tls_files issue(
    const std::string& name, std::chrono::system_clock::time_point issued, unsigned days) const {
    files.issue(name, {}, issued, days).value();
    return files.files_of(name);
  }
  tls_files issue(const std::string& name) const { return issue(name, now, 10); }

  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();
  scratch_folder folder;
  certificate_folder files{folder / "certs"};
};

} // namespace hyperframes::test
