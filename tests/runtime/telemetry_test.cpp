#include "runtime/telemetry.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using std::chrono::milliseconds;

TEST_CASE("percentiles are right to 3 %") {
  time_histogram h;
  CHECK(h.percentile(50) == duration{0});
  for (int i = 1; i <= 1000; ++i)
    h.record(milliseconds{i});
  CHECK(h.count() == 1000);
  CHECK(h.longest() == milliseconds{1000});
  for (int p : {1, 50, 95, 99}) {
    CAPTURE(p);
    CHECK(in_ms(h.percentile(p)) == doctest::Approx(p * 10.0).epsilon(0.03));
  }
  CHECK(h.percentile(100) == milliseconds{1000});
}

TEST_CASE("times outside of the range are counted at its ends") {
  time_histogram h;
  h.record(duration{-5});
  h.record(std::chrono::hours{5});
  CHECK(h.count() == 2);
  CHECK(h.percentile(1) <= std::chrono::microseconds{2});
  CHECK(h.longest() == std::chrono::hours{5});
}
