#pragma once

#include "runtime/outcome.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes {

/// Sums of one account, or of several.
struct account_sums {
  std::uint64_t captured = 0;
  std::array<std::uint64_t, outcome_count> outcomes{}; ///< by `outcome`
  std::array<std::uint64_t, reason_count> reasons{};   ///< by `reason`
  std::uint64_t discarded = 0; ///< second outcomes of a frame; the first one holds

  std::uint64_t ended() const;
  account_sums& operator+=(const account_sums& other);
};

/// The accounts that prove `captured = sum of outcomes + in flight`.
///
/// An account is one (stream, settling stage) pair. Writers are capture, which counts what it
/// numbers, and the settling stages, which count outcomes; what is in flight is counted by the stages
/// that hold it (`stage_stats::held`), never by subtraction. Thread-safe; counts never go back.
class ledger {
public:
  /// @param settlers for each stream the settling stages that it reaches.
  ledger(std::size_t stages, std::vector<std::vector<std::uint32_t>> settlers);

  void captured(stream_index stream, std::uint64_t frames = 1) noexcept;
  void settled(std::uint32_t settler, const outcome_range& range) noexcept;
  void discarded(std::uint32_t settler, stream_index stream, std::uint64_t frames) noexcept;

  account_sums stream(stream_index stream) const; ///< over its accounts
  account_sums total() const;                     ///< over all accounts
  account_sums settler(std::uint32_t stage) const; ///< over the accounts of one settling stage
  std::size_t streams() const { return settlers_.size(); }

private:
  struct account {
    std::array<std::atomic<std::uint64_t>, outcome_count> outcomes{};
    std::array<std::atomic<std::uint64_t>, reason_count> reasons{};
    std::atomic<std::uint64_t> discarded{0};
  };
  account& at(std::uint32_t settler, stream_index stream) const;
  void add(std::uint32_t settler, stream_index stream, account_sums& into) const;

  std::size_t stages_;
  std::vector<std::vector<std::uint32_t>> settlers_;
  std::vector<std::atomic<std::uint64_t>> captured_;       ///< per stream
  std::vector<std::unique_ptr<account[]>> accounts_;       ///< per stage, null where it settles nothing
};

} // namespace hyperframes
