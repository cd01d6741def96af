#include "tests/system/process.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace hyperframes::test {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& t : texts)
    result.push_back(const_cast<char*>(t.c_str()));
  result.push_back(nullptr);
  return result;
}

} // namespace

process::process(
  const std::vector<std::string>& arguments, const std::string& folder,
  const std::map<std::string, std::string>& environment) {
  std::array<int, 2> out{}, err{};
  REQUIRE(::pipe2(out.data(), O_CLOEXEC) == 0);
  REQUIRE(::pipe2(err.data(), O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment)
    variables.push_back(name + '=' + value);
  for (auto** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!environment.contains(text.substr(0, text.find('='))))
      variables.push_back(text);
  }
  const int failed = ::posix_spawn(
    &id_, arguments.front().c_str(), &actions, nullptr, pointers(arguments).data(),
    pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  out_.descriptor = out[0];
  err_.descriptor = err[0];
  REQUIRE_MESSAGE(failed == 0, arguments.front(), " could not be started");
}

process::~process() {
  if (id_ > 0 && !over_) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  for (auto* end : {&out_, &err_})
    if (end->descriptor >= 0)
      ::close(end->descriptor);
}

void process::signal(int number) {
  REQUIRE(::kill(id_, number) == 0);
}

void process::read(pipe_end& from) {
  std::array<char, 65536> block;
  const auto n = ::read(from.descriptor, block.data(), block.size());
  if (n > 0)
    from.text.append(block.data(), static_cast<std::size_t>(n));
  else if (n == 0 || errno != EINTR)
    ::close(std::exchange(from.descriptor, -1));
}

bool process::read_some() {
  // poll leaves out what is closed: its descriptor is negative.
  std::array<pollfd, 2> ends{{{out_.descriptor, POLLIN, 0}, {err_.descriptor, POLLIN, 0}}};
  if (out_.descriptor < 0 && err_.descriptor < 0)
    return false;
  if (::poll(ends.data(), ends.size(), 10) > 0) {
    if (ends[0].revents != 0)
      read(out_);
    if (ends[1].revents != 0)
      read(err_);
  }
  return true;
}

bool process::wait_until(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes{2};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit)
      FAIL("a process takes longer than two minutes; it wrote:\n", out_.text, err_.text);
    if (!read_some())
      return condition();
  }
  return true;
}

int process::wait() {
  if (over_)
    return status_;
  wait_until([] { return false; });
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR)
    ;
  over_ = true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return status_;
}

finished_process finish(
  const std::vector<std::string>& arguments, const std::string& folder,
  const std::map<std::string, std::string>& environment) {
  process p{arguments, folder, environment};
  const int status = p.wait();
  return {status, p.out(), p.err()};
}

} // namespace hyperframes::test
