#pragma once

#include "tools/bench/measure.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// A benchmark measures one promise against its goal and says which machine it was measured on and
/// how:
///
///   report pack(const context& c) {
///     const auto all = take_turns({{"ours", ...}, {"OpenCV", ...}}, 7, c.progress);
///     return {"One thread packs ...", {reading_of("speed against OpenCV", "x", ratios(all[1],
///     all[0]),
///                                                 at_least(5))}};
///   }
///
/// and stands in `benchmarks` (catalogue.cpp).
namespace hyperframes::bench {

struct goal {
  enum class side : std::uint8_t { at_least, at_most, under };
  side which = side::at_least;
  double bound = 0;
  bool met_by(double value) const; ///< what is not a number meets none
};
goal at_least(double bound);
goal at_most(double bound);
goal under(double bound);
std::string to_string(const goal& g);

/// One line of a report.
struct reading {
  std::string metric;
  double value = 0; ///< the median
  std::string unit;
  double min = 0, max = 0;      ///< over the rounds
  std::optional<goal> wanted{}; ///< none: it is there to be looked at
  bool met() const { return !wanted || wanted->met_by(value); }
};
reading
reading_of(std::string metric, std::string unit, const samples& s, std::optional<goal> wanted = {});

struct report {
  std::string
    method; ///< what is done, with what, and how it is measured; for a reader who doubts it
  std::vector<reading> results;
  bool met() const;
};

struct context {
  std::vector<std::string> arguments; ///< as many as the benchmark's `arguments` names
  std::function<void(std::size_t round, const std::string& what)> progress;
};

struct benchmark {
  std::string name;
  std::string summary; ///< a sentence: what is promised
  /// Names of what it is given, as in {"VIDEO", "MODEL"}: all, or none where it has a default for
  /// them.
  std::vector<std::string> arguments{};
  std::function<report(const context&)> run{};
};

/// Every benchmark, in the order in which they are shown and run.
const std::vector<benchmark>& benchmarks();

struct machine {
  std::string cpu; ///< the model
  unsigned cores = 0;
  std::uint64_t memory_bytes = 0;
};
machine this_machine();

std::string to_text(const std::string& bench, const machine& m, const report& r);
/// An object: `bench`, `machine` {`cpu`, `cores`, `memory_bytes`}, `method`, `results`: a list of
/// `metric`, `value`, `unit`, `min`, `max`, `goal` (as in ">= 5", or null) and `met` (null where
/// there is no goal).
std::string to_json(const std::string& bench, const machine& m, const report& r);

} // namespace hyperframes::bench
