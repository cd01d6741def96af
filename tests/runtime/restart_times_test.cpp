#include "runtime/restart_times.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace hyperframes;
using namespace std::chrono_literals;

TEST_CASE("restart_times: at once, then twice as late each time, within a set time") {
  struct row {
    duration at; ///< of the failure
    std::optional<duration> pause;
  };
  struct run {
    const char* what;
    std::vector<row> rows;
  };
  for (const run& r :
       {run{
          "one after the other",
          {{0ms, 0ms}, {1ms, 100ms}, {102ms, 200ms}, {303ms, 400ms}, {704ms, 800ms}, {1505ms, {}}}},
        {"slowly, and still in a row",
         {{0s, 0ms}, {60s, 100ms}, {120s, 200ms}, {180s, 400ms}, {240s, 800ms}, {300s, {}}}},
        {"a minute without a failure begins a new row",
         {{0s, 0ms}, {1s, 100ms}, {61200ms, 0ms}, {61300ms, 100ms}}},
        {"of which the pause is no part", {{0s, 0ms}, {1s, 100ms}, {61100ms, 200ms}}}}) {
    CAPTURE(r.what);
    restart_times times;
    for (const auto& f : r.rows) {
      CAPTURE(f.at.count());
      CHECK(times.after_failure(graph_time{f.at}) == f.pause);
    }
  }
}
