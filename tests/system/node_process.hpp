#pragma once

#include "runtime/net/certificate_folder.hpp"
#include "runtime/net/node_network.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/process.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes::test {

/// A deployment's certificates, in `certs` of a folder, as the command looks for them.
inline certificate_folder make_certificates(const test_folder& folder) {
  certificate_folder certs{folder / "certs"};
  const auto now = std::chrono::system_clock::now();
  certs.init(now, 3650).value();
  certs.issue("coordinator", {}, now, 2).value();
  return certs;
}

/// `hyperframes node`, found at a port of its own.
class node_process {
public:
  /// @param port "0": any that is free. @param more arguments. @param under a command that starts it.
  node_process(
    const test_folder& folder, const std::string& name, const std::string& port = "0",
    const std::vector<std::string>& more = {}, const std::vector<std::string>& under = {})
    : name_(name), run_(arguments(name, port, more, under), folder.path()) {
    const std::string before = " at 127.0.0.1:";
    REQUIRE_MESSAGE(
      run_.wait_until([&] { return run_.err().find(before) != std::string::npos; }), run_.err());
    const auto at = run_.err().find(before) + before.size();
    port_ = run_.err().substr(at, run_.err().find('\n', at) - at);
  }
  const std::string& port() const { return port_; }
  node_address address() const {
    return {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(port_))};
  }
  pid_t id() const { return run_.id(); }
  /// For a graph's `nodes`.
  std::string entry() const { return name_ + ": 127.0.0.1:" + port_; }
  void kill() {
    run_.signal(SIGKILL);
    run_.wait();
  }
  /// @returns its exit status.
  int leave() {
    run_.signal(SIGTERM);
    return run_.wait();
  }
  const std::string& err() const { return run_.err(); }

private:
  static std::vector<std::string> arguments(
    const std::string& name, const std::string& port, const std::vector<std::string>& more,
    const std::vector<std::string>& under) {
    auto words = under;
    const std::vector<std::string> command{
      HYPERFRAMES_COMMAND, "node", "--listen", "127.0.0.1:" + port, "--name", name};
    words.insert(words.end(), command.begin(), command.end());
    words.insert(words.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--folder") == more.end())
      words.insert(words.end(), {"--folder", HYPERFRAMES_TEST_DATA});
    return words;
  }
  std::string name_, port_;
  process run_;
};

} // namespace hyperframes::test
