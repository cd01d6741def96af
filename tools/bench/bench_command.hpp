#pragma once

#include "tools/bench/benchmark.hpp"

#include <iosfwd>

namespace hyperframes::bench {

/// What can be asked of the program: no name lists the benchmarks, `all` runs every one.
struct bench_arguments {
  std::string name;
  std::vector<std::string> arguments; ///< of the benchmark
  std::string json_file;              ///< empty: none
};

/// Runs what was asked for of `known` and writes tables to `out`, how far it is to `progress`.
/// The file gets an object, or for `all` a list of objects; what was measured is written also when
/// a later benchmark throws.
/// @returns 0; 1 where a goal was missed. Throws `failure` for a wrong name or number of arguments,
/// and where the file cannot be written.
int bench(
  const bench_arguments& asked, const std::vector<benchmark>& known, std::ostream& out,
  std::ostream& progress);

} // namespace hyperframes::bench
