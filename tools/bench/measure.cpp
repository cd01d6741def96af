#include "tools/bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <time.h>

namespace hyperframes::bench {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool measured(const std::vector<double>& values) {
  return !values.empty() && std::ranges::none_of(values, [](double v) { return std::isnan(v); });
}

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

} // namespace

double samples::median() const {
  if (!measured(values))
    return none;
  auto sorted = values;
  std::ranges::sort(sorted);
  const auto half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double samples::least() const {
  return measured(values) ? std::ranges::min(values) : none;
}

double samples::most() const {
  return measured(values) ? std::ranges::max(values) : none;
}

std::vector<samples> take_turns(
  const std::vector<contestant>& contestants, std::size_t rounds,
  const std::function<void(std::size_t, const std::string&)>& progress) {
  if (rounds < least_rounds)
    throw std::invalid_argument(
      "a median of " + std::to_string(rounds) + " rounds, expected " + std::to_string(least_rounds)
      + " at least");
  std::vector<samples> all(contestants.size());
  for (std::size_t round = 0; round <= rounds; ++round) // the first one warms up
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const auto which = (round + i) % contestants.size();
      if (progress)
        progress(round, contestants[which].name);
      const auto value = contestants[which].once();
      if (round > 0)
        all[which].values.push_back(value);
    }
  return all;
}

samples ratios(const samples& over, const samples& under) {
  samples result;
  for (std::size_t i = 0; i < over.values.size(); ++i)
    result.values.push_back(over.values[i] / under.values.at(i));
  return result;
}

double cpu_seconds() {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double thread_cpu_seconds() {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace hyperframes::bench
