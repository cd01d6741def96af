#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/types.h>

namespace hyperframes::test {

/// What the system keeps for a process now.
struct held_by {
  explicit held_by(pid_t id) {
    const auto of_process = "/proc/" + std::to_string(id);
    std::error_code gone; // a descriptor, between its name and its target
    for (const auto& f : std::filesystem::directory_iterator{of_process + "/fd", gone}) {
      ++files;
      segments += is_segment(std::filesystem::read_symlink(f, gone).string());
    }
    std::ifstream maps{of_process + "/maps"};
    for (std::string line; std::getline(maps, line);)
      mappings += is_segment(line);
  }
  std::size_t files = 0;    ///< open, connections too
  std::size_t segments = 0; ///< of these, shared memory of its own
  std::size_t mappings = 0; ///< of shared memory, of its own and of others

private:
  static bool is_segment(const std::string& name) {
    return name.find("/memfd:hyperframes") != std::string::npos;
  }
};

} // namespace hyperframes::test
