#pragma once

#include <cstdint>

namespace hyperframes {

/// Memory of this process that is resident, in bytes.
struct process_memory {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
};

/// Reads /proc: for scrapes and summaries, not for hot paths. Where there is none, `now` is 0.
/// Thread-safe; never fails.
process_memory memory_of_process();

} // namespace hyperframes
