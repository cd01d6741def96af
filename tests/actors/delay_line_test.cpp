#include "actors/delay_line.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace hyperframes;

namespace {

using ns = delay_line::ns;
constexpr ns ms = 1'000'000;
constexpr ns s = 1'000 * ms;

/// Windows of a second, number `from` to `to`, whose least delays are given by their number.
void close_windows(delay_line& line, int from, int to, const std::function<ns(int)>& delay) {
  for (int n = from; n < to; ++n)
    line.close_window(n * s, delay(n));
}

bool near(double a, double b, double within) {
  return std::abs(a - b) <= within;
}

} // namespace

TEST_CASE("a delay line is level at its first frame until eight windows give it a slope") {
  delay_line line;
  line.restart(5 * s, 30 * ms, false);
  CHECK(line.windows() == 0);
  CHECK_FALSE(line.slope_known());
  CHECK(line.at(5 * s) == 30.0 * ms);
  CHECK(line.at(100 * s) == 30.0 * ms);
  const auto rising = [](int n) { return 30 * ms + n * 100'000; }; // 100 us each second
  close_windows(line, 0, 7, rising);
  CHECK(line.windows() == 7);
  CHECK_FALSE(line.slope_known());
  CHECK(line.slope() == 0);
  CHECK(line.at(6 * s) == 30.0 * ms); // below all of them
  line.close_window(7 * s, rising(7));
  CHECK(line.slope_known());
  CHECK(near(line.slope(), 100e-6, 1e-12));
  CHECK(near(line.at(20 * s), 32.0 * ms, 1));
  CHECK(near(line.spread(), 0, 1e-3));
}

TEST_CASE("the slope is the median of all pairs, the value the largest below every window") {
  delay_line line;
  // Two of ten windows saw a queue: they are above, and move neither.
  close_windows(
    line, 0, 10, [](int n) { return 10 * ms + n * 50'000 + (n == 3 || n == 6 ? 15 * ms : 0); });
  CHECK(near(line.slope(), 50e-6, 1e-9));
  CHECK(near(line.at(0), 10.0 * ms, 10));
  CHECK(near(line.spread(), 0, 10)); // the median of the distances, not their mean
  // One that lies below takes the line with it.
  line.close_window(10 * s, 10 * ms);
  CHECK(near(line.at(10 * s), 10.0 * ms, 10'000));
  CHECK(near(line.spread(), 500'000, 100'000));
}

TEST_CASE("a frame below the line lowers it at once, and the next window takes it in") {
  delay_line line;
  line.restart(0, 20 * ms, false);
  line.lower(s, 18 * ms);
  CHECK(line.at(s) == 18.0 * ms);
  line.lower(s, 19 * ms); // is above the lowered one
  CHECK(line.at(s) == 18.0 * ms);
  line.close_window(s, 18 * ms);
  CHECK(line.at(s) == 18.0 * ms);
  line.close_window(2 * s, 25 * ms);
  CHECK(line.at(2 * s) == 18.0 * ms);
}

TEST_CASE(
  "five windows in a row off the line in one direction are a shift: what was before is forgotten") {
  struct row {
    const char* what;
    ns off;       ///< ms, of windows 20 and later
    bool zigzag;  ///< every second one in the other direction
    int windows;  ///< that are off
    bool shifted; ///< the line is at the new place then
  };
  const row rows[]{
    {"above for four windows", 100, false, 4, false},
    {"above for five", 100, false, 5, true},
    {"below for five", -100, false, 5, true},
    {"not by more than 20 ms", 20, false, 5, false},
    {"by a little more", 21, false, 5, true},
    {"up and down", 100, true, 9, false},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    delay_line line;
    close_windows(line, 0, 20, [](int) { return 200 * ms; });
    close_windows(line, 20, 20 + r.windows, [&](int n) {
      return 200 * ms + (r.zigzag && n % 2 ? -1 : 1) * r.off * ms;
    });
    CHECK((line.windows() == 5) == r.shifted);
    const auto at = line.at((19 + r.windows) * s) / ms;
    if (r.shifted)
      CHECK(near(at, 200.0 + static_cast<double>(r.off), 0.01));
    else // what is above moves nothing, what is below counts at once
      CHECK(near(at, r.zigzag ? 100 : 200, 0.01));
  }
}

TEST_CASE("where the least delays stray, a shift is what leaves by four spreads") {
  for (const auto& [off, shifted] : {std::pair<ns, bool>{30, false}, {60, true}}) {
    CAPTURE(off);
    delay_line line;
    // Evenly from 0 to 20 ms above the line: the median lies 10 ms above.
    close_windows(line, 0, 42, [](int n) { return 100 * ms + n * 13 % 21 * ms; });
    CHECK(near(line.spread(), 10.0 * ms, 1.5 * ms));
    close_windows(line, 42, 47, [&](int) { return (100 + off) * ms; });
    CHECK((line.windows() == 5) == shifted);
  }
}

TEST_CASE("a line keeps 64 windows, or the newest that it is told to") {
  delay_line line;
  close_windows(line, 0, 200, [](int n) { return n * 10'000; });
  CHECK(line.windows() == 64);
  CHECK(near(line.slope(), 10e-6, 1e-12));
  line.keep(3);
  CHECK(line.windows() == 3);
  CHECK(line.slope() == 0);
  CHECK(line.at(199 * s) == 197.0 * 10'000);
}

TEST_CASE("a restart forgets the windows; the slope stays where it was known and is wanted") {
  for (const bool keep : {true, false})
    for (const int windows : {7, 20}) {
      CAPTURE(keep);
      CAPTURE(windows);
      delay_line line;
      close_windows(line, 0, windows, [](int n) { return n * 100'000; });
      line.restart(50 * s, 40 * ms, keep);
      CHECK(line.windows() == 0);
      CHECK(line.at(50 * s) == 40.0 * ms);
      CHECK(near(line.slope(), keep && windows == 20 ? 100e-6 : 0, 1e-12));
    }
}

TEST_CASE("growth is the change of the delay for each time between two arrivals") {
  delay_line line;
  line.close_window(0, 0);
  line.close_window(1 * s, 0);
  line.close_window(2 * s, 1 * s); // arrives at 3 s
  CHECK(line.growth(1, 0) == 0.5);
  CHECK(line.growth(2, 1) == 0);
  CHECK(near(line.growth(2, 0), 1.0 / 3, 1e-12));
  line.close_window(1 * s, 2 * s); // captured before, arrives at the same time
  CHECK(line.growth(1, 0) == 0);
}

TEST_CASE("windows of one capture time have no slope, and times at the ends of their range "
          "overflow nothing") {
  delay_line line;
  for (int n = 0; n < 10; ++n)
    line.close_window(s, n * ms);
  CHECK(line.slope() == 0);
  constexpr auto most = std::numeric_limits<ns>::max(), least = std::numeric_limits<ns>::min();
  CHECK(distance_ns(most, least) == most);
  CHECK(distance_ns(least, most) == least);
  CHECK(distance_ns(5, 7) == -2);
  for (const auto at : {least, most, ns{0}})
    for (const auto delay : {least, most, ns{0}})
      for (int n = 0; n < 12; ++n) {
        line.lower(at, delay);
        line.close_window(at, delay);
        CHECK(std::isfinite(line.at(0)));
        CHECK(std::isfinite(line.growth(line.windows() - 1, 0)));
      }
}
