#pragma once

#include "runtime/time.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hyperframes {

/// What a histogram has counted in a while, to be added to another one, also in another process.
struct time_counts {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> bins; ///< index and count, of those that are not 0
  duration longest{};                                        ///< of all that it ever counted
};

/// Times from a microsecond to an hour, to 2 %. Thread-safe.
class time_histogram {
public:
  time_histogram();
  time_histogram(const time_histogram&) = delete;
  time_histogram& operator=(const time_histogram&) = delete;
  ~time_histogram();
  void record(duration d) noexcept;
  std::uint64_t count() const noexcept;
  /// @returns the upper border of the bin that holds the percentile, at most `longest`; 0 where
  /// nothing was recorded.
  duration percentile(double percent) const noexcept;
  duration longest() const noexcept;
  /// What it has counted beyond `before`, by bin, which becomes what it has counted so far.
  time_counts since(std::vector<std::uint64_t>& before) const;
  void add(const time_counts& counts) noexcept; ///< bins that do not exist are left out

private:
  void reach(std::int64_t ns) noexcept;
  struct counts;
  std::unique_ptr<counts> counts_;
  std::atomic<std::int64_t> longest_ns_{0};
};

} // namespace hyperframes
