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
  reach(d.count());
}

void time_histogram::reach(std::int64_t ns) noexcept {
  auto longest = longest_ns_.load(std::memory_order_relaxed);
  while (ns > longest
         && !longest_ns_.compare_exchange_weak(longest, ns, std::memory_order_relaxed))
    ;
}

time_counts time_histogram::since(std::vector<std::uint64_t>& before) const {
  const auto& storage = bh::unsafe_access::storage(counts_->values);
  before.resize(storage.size());
  time_counts counts;
  counts.longest = longest();
  for (std::uint32_t i = 0; i < storage.size(); ++i)
    if (const auto now = storage[i].value(); now > before[i])
      counts.bins.emplace_back(i, now - std::exchange(before[i], now));
  return counts;
}

void time_histogram::add(const time_counts& counts) noexcept {
  auto& storage = bh::unsafe_access::storage(counts_->values);
  for (const auto& [bin, count] : counts.bins)
    if (bin < storage.size())
      storage[bin] += count;
  reach(counts.longest.count());
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
