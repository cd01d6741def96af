#include "runtime/clock.hpp"

namespace hyperframes {

system_clock::system_clock() noexcept : start_(std::chrono::steady_clock::now()) {}

graph_time system_clock::now() const noexcept {
  return graph_time{std::chrono::duration_cast<duration>(std::chrono::steady_clock::now() - start_)};
}

} // namespace hyperframes
