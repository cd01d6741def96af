#include "runtime/time_histogram.hpp"

#include <boost/histogram.hpp>

#include <algorithm>

namespace hyperframes {

namespace {

namespace bh = boost::histogram;
using axis_type = bh::axis::regular<double, bh::axis::transform::log>;
using bins = bh::histogram<std::tuple<axis_type>,
                           bh::dense_storage<bh::accumulators::count<std::uint64_t, true>>>;

} // namespace

struct time_histogram::counts {
  bins values{std::make_tuple(axis_type{1000, 1e3, 3.6e12})}; // ns; a bin is 2.2 % wide
};

time_histogram::time_histogram() : counts_(std::make_unique<counts>()) {}
time_histogram::~time_histogram() = default;

void time_histogram::record(duration d) noexcept {
  counts_->values(static_cast<double>(std::max<std::int64_t>(1, d.count())));
  auto longest = longest_ns_.load(std::memory_order_relaxed);
  while (d.count() > longest
         && !longest_ns_.compare_exchange_weak(longest, d.count(), std::memory_order_relaxed))
    ;
}

std::uint64_t time_histogram::count() const noexcept {
  std::uint64_t n = 0;
  for (auto&& bin : bh::indexed(counts_->values, bh::coverage::all))
    n += (*bin).value();
  return n;
}

duration time_histogram::percentile(double percent) const noexcept {
  const auto rank = percent / 100.0 * static_cast<double>(count());
  std::uint64_t below = 0;
  for (auto&& bin : bh::indexed(counts_->values, bh::coverage::all)) {
    below += (*bin).value();
    if (below > 0 && static_cast<double>(below) >= rank)
      return std::min(longest(), duration{static_cast<std::int64_t>(
                                   std::min(bin.bin().upper(), 3.6e12))});
  }
  return longest();
}

duration time_histogram::longest() const noexcept {
  return duration{longest_ns_.load(std::memory_order_relaxed)};
}

} // namespace hyperframes
