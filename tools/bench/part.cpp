#include "tools/bench/part.hpp"

#include "runtime/error.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>
#include <system_error>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace hyperframes::bench {

namespace {

constexpr int broken = 1;

[[noreturn]] void fail(const std::string& where, const std::string& sentence) {
  throw failure(make_error(errc::stage_failed, where, sentence));
}

/// Starts this program again; its standard output comes back through `reading_end`.
pid_t start_again(std::vector<std::string> arguments, int& reading_end) {
  int ends[2];
  if (::pipe(ends) != 0)
    fail("pipe", std::generic_category().message(errno));
  arguments.insert(arguments.begin(), {"hyperframes-bench", "--part"});
  std::vector<char*> words;
  for (auto& a : arguments)
    words.push_back(a.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t id = -1;
  const int failed = ::posix_spawn(&id, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    fail("/proc/self/exe", std::generic_category().message(failed));
  }
  reading_end = ends[0];
  return id;
}

std::string read_all(int from) {
  std::string text;
  char chunk[4096];
  for (;;) {
    const auto got = ::read(from, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    text.append(chunk, static_cast<std::size_t>(got));
  }
  ::close(from);
  return text;
}

} // namespace

std::vector<double>
in_new_process(const std::string& name, const std::vector<std::string>& arguments) {
  auto words = arguments;
  words.insert(words.begin(), name);
  int reading_end = -1;
  const auto id = start_again(std::move(words), reading_end);
  std::istringstream numbers{read_all(reading_end)};
  int status = 0;
  while (::waitpid(id, &status, 0) < 0 && errno == EINTR)
    ;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail(name, "the process that measures it failed; its own words stand above");
  return {std::istream_iterator<double>{numbers}, {}};
}

int run_part(const std::vector<std::string>& name_and_arguments) {
  if (name_and_arguments.empty())
    return broken;
  const auto found = std::ranges::find(parts(), name_and_arguments.front(), &part::name);
  if (found == parts().end())
    return broken;
  std::cout.precision(17);
  for (const auto value : found->run({name_and_arguments.begin() + 1, name_and_arguments.end()}))
    std::cout << value << '\n';
  return std::cout.flush() ? 0 : broken;
}

std::string shipped(const std::string& path) {
  namespace fs = std::filesystem;
  const auto here = fs::read_symlink("/proc/self/exe").parent_path();
  std::string looked;
  for (const auto* folder : {"../share/hyperframes/graphs", "../../graphs", "../../../../graphs"}) {
    const auto found = (here / folder / path).lexically_normal();
    if (fs::exists(found))
      return found.string();
    looked += (looked.empty() ? "" : ", ") + found.string();
  }
  fail(path, "is not there; looked for " + looked);
}

} // namespace hyperframes::bench
