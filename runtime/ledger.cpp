#include "runtime/ledger.hpp"

#include <stdexcept>

namespace hyperframes {

namespace {
constexpr auto relaxed = std::memory_order_relaxed;
}

std::uint64_t account_sums::ended() const {
  std::uint64_t n = 0;
  for (auto o : outcomes)
    n += o;
  return n;
}

account_sums& account_sums::operator+=(const account_sums& other) {
  captured += other.captured;
  discarded += other.discarded;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    outcomes[i] += other.outcomes[i];
  for (std::size_t i = 0; i < reasons.size(); ++i)
    reasons[i] += other.reasons[i];
  return *this;
}

ledger::ledger(std::size_t stages, std::vector<std::vector<std::uint32_t>> settlers)
  : stages_(stages), settlers_(std::move(settlers)), captured_(settlers_.size()),
    accounts_(stages) {
  for (const auto& of_stream : settlers_)
    for (auto stage : of_stream)
      if (!accounts_.at(stage))
        accounts_[stage] = std::make_unique<account[]>(settlers_.size());
}

ledger::account& ledger::at(std::uint32_t settler, stream_index stream) const {
  if (settler >= stages_ || !accounts_[settler] || stream >= settlers_.size())
    throw std::logic_error("an outcome for an account that does not exist");
  return accounts_[settler][stream];
}

void ledger::captured(stream_index stream, std::uint64_t frames) noexcept {
  captured_[stream].fetch_add(frames, relaxed);
}

void ledger::settled(std::uint32_t settler, const outcome_range& range) noexcept {
  auto& a = at(settler, range.stream);
  a.outcomes[static_cast<std::size_t>(range.what)].fetch_add(range.count, relaxed);
  a.reasons[static_cast<std::size_t>(range.why)].fetch_add(range.count, relaxed);
}

void ledger::discarded(std::uint32_t settler, stream_index stream, std::uint64_t frames) noexcept {
  at(settler, stream).discarded.fetch_add(frames, relaxed);
}

void ledger::add(std::uint32_t settler, stream_index stream, account_sums& into) const {
  const auto& a = at(settler, stream);
  into.captured += captured_[stream].load(relaxed);
  into.discarded += a.discarded.load(relaxed);
  for (std::size_t i = 0; i < outcome_count; ++i)
    into.outcomes[i] += a.outcomes[i].load(relaxed);
  for (std::size_t i = 0; i < reason_count; ++i)
    into.reasons[i] += a.reasons[i].load(relaxed);
}

account_sums ledger::stream(stream_index stream) const {
  account_sums sums;
  for (auto settler : settlers_.at(stream))
    add(settler, stream, sums);
  return sums;
}

account_sums ledger::total() const {
  account_sums sums;
  for (stream_index s = 0; s < settlers_.size(); ++s)
    sums += stream(s);
  return sums;
}

account_sums ledger::settler(std::uint32_t stage) const {
  account_sums sums;
  for (stream_index s = 0; s < settlers_.size(); ++s)
    for (auto settler : settlers_[s])
      if (settler == stage)
        add(settler, s, sums);
  return sums;
}

} // namespace hyperframes
