#pragma once

#include "graphs/hyperframes.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <string>

namespace hyperframes::test {

inline std::uint64_t count_of(const account_sums& sums, outcome o) {
  return sums.outcomes[static_cast<std::size_t>(o)];
}
inline std::uint64_t count_of(const account_sums& sums, reason r) {
  return sums.reasons[static_cast<std::size_t>(r)];
}

/// Captured = sum of the outcomes, of all frames and of each stream's; nothing is in flight.
/// @param hanging threads of ours that are in a call that never returns.
inline void check_ledger(const run_summary& s, std::size_t hanging = 0) {
  const auto sum_of = [](const account_sums& sums) {
    return std::accumulate(sums.outcomes.begin(), sums.outcomes.end(), std::uint64_t{0});
  };
  CHECK(s.closed());
  CHECK(s.in_flight == 0);
  CHECK(s.ledger.captured == sum_of(s.ledger));
  CHECK(s.left_behind.size() == hanging);
  std::uint64_t captured = 0;
  for (const auto& line : s.streams) {
    INFO("stream ", line.id);
    CHECK(line.sums.captured == sum_of(line.sums));
    captured += line.sums.captured;
  }
  CHECK(captured == s.ledger.captured);
}

/// No edge ever held more than its capacity.
inline void check_depths(const run_summary& s) {
  for (const auto& e : s.edges) {
    INFO("edge ", e.from, " -> ", e.to);
    CHECK(e.capacity > 0);
    CHECK(e.peak_depth <= e.capacity);
  }
}

inline const run_summary::edge_line&
edge_of(const run_summary& s, const std::string& from, const std::string& to) {
  for (const auto& e : s.edges)
    if (e.from == from && e.to == to)
      return e;
  FAIL("there is no edge ", from, " -> ", to);
  return s.edges.front();
}

} // namespace hyperframes::test
