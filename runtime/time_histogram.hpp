#pragma once

#include "runtime/time.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace hyperframes {

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

private:
  struct counts;
  std::unique_ptr<counts> counts_;
  std::atomic<std::int64_t> longest_ns_{0};
};

} // namespace hyperframes
