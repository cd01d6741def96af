#include "tools/bench/soak_growth.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace hyperframes::bench;

namespace {

constexpr int looks = 100;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A turn in which nothing grows, then changed.
soak_turn turn_with(const std::function<void(int, soak_sample&)>& change = {}) {
  soak_turn t{"demo", {}, 0, false};
  for (int i = 0; i < looks; ++i) {
    const double noise = i % 3 - 1;
    soak_sample s{80 + noise / 4, 20 + 2 * noise, 31, 9, 3 + noise, 70 + 5 * noise};
    if (i < looks / 5) // warms up
      s = {20.0 + 3 * i, 0, 12, 5, 0, 300};
    if (change)
      change(i, s);
    t.samples.push_back(s);
  }
  return t;
}

std::vector<std::string> missed(const std::vector<soak_turn>& turns) {
  std::vector<std::string> names;
  const auto r = soak_report(turns);
  for (const auto& line : r.results)
    if (!line.met())
      names.push_back(line.metric);
  CHECK(r.met() == names.empty());
  return names;
}
using names = std::vector<std::string>;

} // namespace

TEST_CASE("what warms up and then stays does not count as growth") {
  CHECK(missed({turn_with()}) == names{});
  CHECK(growth_of(std::vector<double>(looks, 7.0)) == 0);
}

TEST_CASE("each thing that grows is named") {
  struct row {
    std::function<void(int, soak_sample&)> change;
    const char* name;
  };
  const row table[] = {
    {[](int i, soak_sample& s) { s.memory_mib += 0.1 * i; }, "demo: memory beside the pools grew by"},
    {[](int i, soak_sample& s) { s.pools_mib += 0.1 * i; }, "demo: memory in use in the pools grew by"},
    {[](int i, soak_sample& s) { s.handles += i / 30; }, "demo: handles grew by"},
    {[](int i, soak_sample& s) { s.threads += i / 40; }, "demo: threads grew by"},
    {[](int i, soak_sample& s) { s.queued += 0.1 * i; }, "demo: queues grew by"},
    {[](int i, soak_sample& s) { s.latency_ms *= 1 + 0.01 * i; }, "demo: latency, end / beginning"},
  };
  for (const auto& r : table)
    CHECK(missed({turn_with(), turn_with(r.change), turn_with()}) == names{r.name});
}

TEST_CASE("a single peak is no growth") {
  CHECK(
    missed({turn_with([](int i, soak_sample& s) {
      if (i == looks - 1)
        s = {900, 900, 90, 90, 90, 9000};
    })})
    == names{});
}

TEST_CASE("open accounts and turns that fail are named") {
  auto open = turn_with(), failed = turn_with(), silent = turn_with();
  open.open_frames = 1;
  failed.failed = true;
  silent.open_frames = none; // no summary
  CHECK(missed({open, turn_with()}) == names{"demo: frames without an outcome"});
  CHECK(missed({turn_with(), failed}) == names{"demo: failed"});
  CHECK(missed({silent}) == names{"demo: frames without an outcome"});
}

TEST_CASE("a turn that is too short to tell, or brings no results, fails") {
  auto brief = turn_with();
  brief.samples.resize(14);
  CHECK(missed({brief}).size() == 6);
  CHECK(
    missed({turn_with([](int, soak_sample& s) { s.latency_ms = none; })})
    == names{"demo: latency, end / beginning"});
}

TEST_CASE("looks at which nothing came out do not matter where others tell") {
  const auto half = [](double factor) {
    return turn_with([=](int i, soak_sample& s) {
      s.latency_ms = i % 2 ? none : s.latency_ms * (1 + factor * i);
    });
  };
  CHECK(missed({half(0)}) == names{});
  CHECK(missed({half(0.01)}) == names{"demo: latency, end / beginning"});
}

TEST_CASE("each graph has lines of its own, with the worst of its turns") {
  auto drill = turn_with([](int i, soak_sample& s) { s.handles += i / 20; });
  drill.graph = "drill";
  const auto r = soak_report({turn_with(), drill, turn_with()});
  REQUIRE(r.results.size() == 16);
  CHECK(r.results[10].metric == "drill: handles grew by");
  CHECK(r.results[10].value == 3);
  CHECK(r.results[2].value == 0);
}
