#include "runtime/clock.hpp"

#include <time.h>

namespace hyperframes {

system_clock::system_clock() noexcept : start_(std::chrono::steady_clock::now()) {}

graph_time system_clock::now() const noexcept {
  return graph_time{std::chrono::duration_cast<duration>(std::chrono::steady_clock::now() - start_)};
}

duration system_clock::thread_cpu() const noexcept {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

} // namespace hyperframes
