#include "tools/bench/allocations.hpp"
#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace hyperframes::bench;

namespace hyperframes {
/// Stands for what a stage allocates; kept out of line, so that it has a name.
[[gnu::noinline]] std::unique_ptr<int> allocate_one(int value) {
  return std::make_unique<int>(value);
}
} // namespace hyperframes

TEST_CASE("what we allocate is counted as ours") {
  int sum = 0;
  counting count;
  for (int i = 0; i < 1000; ++i)
    sum += *hyperframes::allocate_one(i);
  const auto sites = count.stop();
  CHECK(sum == 499'500);
  CHECK(times_by(sites, owner::ours) == 1000);
  CHECK(times_by(sites, owner::caf) == 0);
  REQUIRE(!sites.empty());
  CHECK(sites.front().name.find("allocate_one") != std::string::npos);
}

TEST_CASE("nothing is counted before and after") {
  auto before = hyperframes::allocate_one(1);
  counting count;
  CHECK(times_by(count.stop(), owner::ours) == 0);
  auto behind = hyperframes::allocate_one(2);
  CHECK(times_by(count.stop(), owner::ours) == 0);
}

TEST_CASE("a third write of pixels, a copy and an allocation in ten frames are told") {
  const auto report = [](double ours, double writes, double copied) {
    const std::vector<double> run{ours, 20, 3, writes, copied};
    return copies_report({run, run, run, run, run});
  };
  CHECK(report(0.09, 2, 0).met());
  CHECK_FALSE(report(0.1, 2, 0).met());
  CHECK_FALSE(report(0.09, 2.01, 0).met());
  CHECK_FALSE(report(0.09, 2, 1).met());
}

TEST_CASE(
  "in steady state no frame costs a heap allocation of our own, and pixels are written twice") {
  const auto run = copies_once({});
  CHECK(run.at(0) < 0.1);
  CHECK(run.at(3) == 2);
  CHECK(run.at(4) == 0);
}
