#pragma once

#include <cstddef>
#include <fstream>

#include <unistd.h>

namespace hyperframes::test {

/// Memory of this process that is in use now.
inline std::size_t resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  std::size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace hyperframes::test
