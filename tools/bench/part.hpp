#pragma once

#include <functional>
#include <string>
#include <vector>

/// Measurements that need a process of their own: what they find must not be warmed up by others,
/// and their peak memory must be theirs alone.
namespace hyperframes::bench {

struct part {
  std::string name;
  std::function<std::vector<double>(const std::vector<std::string>& arguments)> run;
};
const std::vector<part>& parts();

/// Runs `parts()[name]` in a new process of this program. Throws `failure` with what it wrote to
/// standard error where it fails. Blocks until it has ended.
std::vector<double>
in_new_process(const std::string& name, const std::vector<std::string>& arguments = {});

/// What the new process does: writes a number a line. @returns its exit status.
int run_part(const std::vector<std::string>& name_and_arguments);

/// A file that the project ships: in the build tree beside `graphs/`, or where it was installed.
/// Throws `failure` where it is in neither.
std::string shipped(const std::string& path);

} // namespace hyperframes::bench
