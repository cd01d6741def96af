// What a camera's clock does, through whole graphs: told, survived, and in the summary.
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

struct clock_run {
  run_summary summary;
  std::vector<std::string> told;
};

/// A recorded camera of 30 frames a second for 60 s; times in seconds. An arrival is not earlier
/// than the one before.
clock_run
play(const std::function<double(double)>& captured, const std::function<double(double)>& arrived) {
  const test_folder folder;
  std::string table = "capture_time,arrival_time\n";
  double last = 0;
  for (int n = 0; n < 1800; ++n) {
    const double t = n / 30.0;
    last = std::max(last, arrived(t));
    char row[64];
    std::snprintf(row, sizeof row, "%.9f,%.9f\n", captured(t), last);
    table += row;
  }
  write_file(folder / "recorded.csv", table);
  clock_run result;
  result.summary = run_virtually(
    graph::from_text(
      "hyperframes: 1\nname: clocks\nstreams:\n  - { id: cam, camera: { type: timeline, path: "
      + (folder / "recorded.csv")
      + ", fps: 30 } }\nstages:\n  capture: { type: capture }\n"
        "  bundle:  { type: bundle, from: capture, size: 4 }\n"
        "  nothing: { type: \"null\", from: bundle }\n"),
    never,
    {.on_event = [&](const event& e) { result.told.push_back(e.where + ": " + e.sentence); }});
  check_ledger(result.summary);
  // A burst may be more than the edge behind capture takes.
  CHECK(result.summary.ledger.captured == 1800);
  CHECK(count_of(result.summary.ledger, outcome::delivered) > 1500);
  return result;
}

} // namespace

TEST_CASE("bursts and late frames are no fault of a camera's clock") {
  // Half of each fifth second comes at its end in one burst; each hundredth frame is 80 ms late.
  const auto run = play(
    [](double t) { return 500 + t * (1 + 100e-6); },
    [](double t) {
      const auto half = std::floor(2 * t) / 2;
      if (std::fmod(half, 5) == 4.5)
        return half + 0.5;
      return std::llround(t * 30) % 100 == 0 ? t + 0.08 : t + 0.002;
    });
  for (const auto& t : run.told)
    FAIL_CHECK(t);
  const auto& cam = run.summary.streams.at(0);
  CHECK(cam.epochs == 1);
  CHECK_FALSE(cam.by_arrival);
  CHECK(cam.confidence > 0.9);
  CHECK(std::abs(cam.drift_ppm - 100) < 10);
  CHECK(std::abs(cam.fps - 30) < 0.5);
}

TEST_CASE("a clock that is not credible is left for the arrivals, comes back, and the summary says "
          "which holds") {
  struct row {
    const char* what;
    double until; ///< s; the camera's clock stands still from 20 s on
    bool back;
  };
  for (const auto& r : {row{"it comes back", 40, true}, row{"it never does", 1000, false}}) {
    CAPTURE(std::string{r.what});
    const auto run = play(
      [&](double t) { return t >= 20 && t < r.until ? 20 : t; }, [](double t) { return t + 0.01; });
    std::vector<std::string> expected{
      "capture: stream cam: its clock is not credible: it stands still since 6 frames, "
      "0.2 s; its frames are placed by their arrival"};
    if (r.back)
      expected.push_back("capture: stream cam: its clock is credible again; its frames are placed "
                         "by their capture time");
    CHECK(run.told == expected);
    const auto& cam = run.summary.streams.at(0);
    CHECK(cam.by_arrival == !r.back);
    CHECK((cam.confidence > 0.9) == r.back);
    CHECK(cam.epochs == 1);
    CHECK((to_text(run.summary).find("not credible") != std::string::npos) == !r.back);
    const auto clock = nlohmann::json::parse(to_json(run.summary))["streams"]["cam"]["clock"];
    CHECK(clock["by_arrival"] == !r.back);
    CHECK((clock["confidence"] > 0.9) == r.back);
  }
}
