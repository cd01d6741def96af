#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

/// Measures several ways of doing the same work side by side.
namespace hyperframes::bench {

/// What one contestant measured, a value a round.
struct samples {
  std::vector<double> values;
  double median() const; ///< not a number where there are no values, or one of them is none
  double least() const;
  double most() const;
};

/// Does the work once. @returns what it cost or reached, in the unit of the reading it becomes.
struct contestant {
  std::string name;
  std::function<double()> once;
};

/// Enough that one disturbed round does not move the median.
inline constexpr std::size_t least_rounds = 5;

/// Runs each contestant once uncounted, then every one in each round, and begins each round with
/// another, so that what disturbs the machine disturbs all alike. Below `least_rounds` it throws
/// std::invalid_argument.
/// @returns the samples, in the order of the contestants.
std::vector<samples> take_turns(
  const std::vector<contestant>& contestants, std::size_t rounds = least_rounds,
  const std::function<void(std::size_t round, const std::string& name)>& progress = {});

/// Round by round, so that what slowed down both cancels out. Both have as many values.
samples ratios(const samples& over, const samples& under);

double cpu_seconds(); ///< that all threads of this process have used, in user and system mode
double thread_cpu_seconds(); ///< the same for the calling thread
double wall_seconds();       ///< on the steady clock

} // namespace hyperframes::bench
