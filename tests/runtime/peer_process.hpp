#pragma once

#include "runtime/shared_memory.hpp"

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace hyperframes::test {

/// Another process that borrows and lends (shared_peer.cpp). It never outlives its object.
class peer_process {
public:
  peer_process() {
    std::array<int, 2> in{}, out{};
    REQUIRE(::pipe2(in.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out.data(), O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::string program = HYPERFRAMES_SHARED_PEER;
    std::array<char*, 2> arguments{program.data(), nullptr};
    const int failed =
      ::posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    REQUIRE(failed == 0);
  }
  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;
  ~peer_process() {
    ::close(to_);
    kill();
    ::close(from_);
  }

  std::int32_t id() const { return id_; }

  /// @returns its answer to a line.
  std::string ask(const std::string& line) {
    const auto text = line + '\n';
    REQUIRE(::write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    std::string answer;
    for (char c = 0; ::read(from_, &c, 1) == 1 && c != '\n';)
      answer += c;
    return answer;
  }
  std::size_t number(const std::string& line) {
    const auto answer = ask(line);
    INFO(line, " -> ", answer);
    REQUIRE(answer.find_first_not_of("0123456789") == std::string::npos);
    return std::stoull(answer);
  }

  /// As by `kill -9`, and waits until it is gone.
  void kill() {
    if (id_ <= 0)
      return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = -1;
  }

  /// Lets it open what `h` names. @returns the number that it has there, or "refused ...".
  std::string open(const shared_handle& h) {
    std::ostringstream line;
    line << "open " << h.segment.process << ' ' << h.segment.descriptor << ' ' << h.segment.nonce[0]
         << ' ' << h.segment.nonce[1] << ' ' << h.slot << ' ' << h.generation << ' ' << h.bytes;
    return ask(line.str());
  }
  struct filled {
    std::size_t number = 0; ///< that the slot has there
    shared_handle handle;
  };
  /// Lets it fill a slot of its own with `value`.
  filled fill(int value) {
    std::istringstream answer{ask("fill " + std::to_string(value))};
    filled f;
    auto& h = f.handle;
    answer >> f.number >> h.segment.process >> h.segment.descriptor >> h.segment.nonce[0]
      >> h.segment.nonce[1] >> h.slot >> h.generation >> h.bytes;
    REQUIRE(answer);
    return f;
  }

private:
  pid_t id_ = -1;
  int to_ = -1, from_ = -1;
};

} // namespace hyperframes::test
