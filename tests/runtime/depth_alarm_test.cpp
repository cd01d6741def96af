#include "runtime/depth_alarm.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using std::chrono::milliseconds;
using change = depth_alarm::change;

namespace {

constexpr graph_time at(int ms) { return graph_time{milliseconds{ms}}; }

} // namespace

TEST_CASE("a burst raises no alarm, a queue that stays full does") {
  depth_alarm judge{10};
  CHECK(judge.at(10, at(0)) == change::none);
  CHECK(judge.at(0, at(500)) == change::none); // a burst of half a second
  CHECK(judge.average() == doctest::Approx(10 * (1 - 0.7788)).epsilon(0.001)); // 1 - e^(-1/4)
  CHECK(judge.at(10, at(10'000)) == change::none); // empty since
  // 80 % of the way takes ln 5 = 1.61 time constants: 3.22 s.
  CHECK(judge.at(10, at(13'200)) == change::none);
  CHECK(judge.at(10, at(13'250)) == change::raised);
  CHECK(judge.at(10, at(20'000)) == change::none); // said once
}

TEST_CASE("the alarm is over when there is room again, not at the first item that leaves") {
  depth_alarm judge{10};
  judge.at(10, at(0));
  CHECK(judge.at(10, at(20'000)) == change::raised);
  CHECK(judge.at(7, at(20'001)) == change::none);
  CHECK(judge.at(7, at(60'000)) == change::none); // 70 % is not below 60 %
  CHECK(judge.at(5, at(60'001)) == change::none);
  CHECK(judge.at(5, at(80'000)) == change::over);
  CHECK_FALSE(judge.raised());
}

TEST_CASE("many small steps lead where a long one leads") {
  depth_alarm judge{10};
  judge.at(10, graph_time{});
  for (int step = 1; step <= 20'000; ++step)
    judge.at(10, graph_time{step * std::chrono::microseconds{100}});
  CHECK(judge.average() == doctest::Approx(10 * (1 - 0.3678794)).epsilon(1e-6)); // 1 - e^-1
}
