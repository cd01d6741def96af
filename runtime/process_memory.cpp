#include "runtime/process_memory.hpp"

#include <fstream>
#include <string>

#include <sys/resource.h>

namespace hyperframes {

process_memory memory_of_process() {
  process_memory found;
  std::ifstream status{"/proc/self/status"};
  for (std::string key; status >> key;) {
    if (key == "VmHWM:" || key == "VmRSS:") {
      std::uint64_t kilobytes = 0;
      status >> kilobytes;
      (key == "VmHWM:" ? found.peak : found.now) = kilobytes * 1024;
    }
    status.ignore(1 << 16, '\n');
  }
  if (found.peak == 0) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    found.peak = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  }
  return found;
}

} // namespace hyperframes
