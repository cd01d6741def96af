#include "tools/commands.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace hyperframes::command {

int bench(std::vector<std::string> arguments) {
  const auto program =
    std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hyperframes-bench";
  arguments.insert(arguments.begin(), program.string());
  std::vector<char*> words;
  for (auto& a : arguments)
    words.push_back(a.data());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  throw failure(make_error(
    errc::io_failed, program.string(),
    std::generic_category().message(errno)
      + "; the benchmarks are a program of their own that stands beside this one, "
        "and is built with it"));
}

} // namespace hyperframes::command
