#include "tools/bench/benchmark.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace hyperframes::bench;
using nlohmann::json;

namespace {

const machine here{"a processor", 2, std::uint64_t{8} << 30};

json as_json(const reading& r) {
  return json::parse(to_json("it", here, {"by hand", {r}})).at("results").at(0);
}

} // namespace

TEST_CASE("a goal is met from its side of the bound only") {
  struct row {
    goal wanted;
    double value;
    bool met;
  };
  for (const auto& [wanted, value, met] :
       {row{at_least(5), 4.99, false}, row{at_least(5), 5, true}, row{at_least(5), 5.01, true},
        row{at_most(1.5), 1.49, true}, row{at_most(1.5), 1.5, true}, row{at_most(1.5), 1.51, false},
        row{under(2), 1.99, true}, row{under(2), 2, false}, row{under(2), 2.01, false},
        row{at_least(5), NAN, false}, row{at_most(5), NAN, false}, row{under(5), NAN, false}}) {
    CAPTURE(to_string(wanted));
    CAPTURE(value);
    CHECK(wanted.met_by(value) == met);
  }
}

TEST_CASE("the JSON has its shape, and is all that it has") {
  const auto j = json::parse(to_json(
    "pack", here,
    {"a frame after the other", {reading_of("speed", "x", {{6, 5, 7, 6, 6}}, at_least(5))}}));
  CHECK(j == json::parse(R"({"bench": "pack", "machine": {"cpu": "a processor", "cores": 2,
             "memory_bytes": 8589934592}, "method": "a frame after the other", "results": [
             {"metric": "speed", "value": 6.0, "unit": "x", "min": 5.0, "max": 7.0, "goal": ">= 5",
              "met": true}]})"));
}

TEST_CASE("a bad result is not met, judged by its median, and neither is none at all") {
  CHECK(as_json(reading_of("speed", "x", {{4, 4, 9, 9, 4}}, at_least(5))).at("met") == false);
  CHECK(as_json(reading_of("speed", "x", {{4, 9, 9, 9, 4}}, at_least(5))).at("met") == true);
  CHECK(as_json(reading_of("share", "%", {{2}}, under(1))).at("goal") == "< 1");
  CHECK(as_json(reading_of("share", "%", {{2}}, under(1))).at("met") == false);
  const auto nothing = as_json(reading_of("share", "%", {}, under(1)));
  CHECK(nothing.at("met") == false);
  CHECK(nothing.at("value") == nullptr);
  const auto looked_at = as_json(reading_of("time", "ms", {{3}}));
  CHECK(looked_at.at("goal") == nullptr);
  CHECK(looked_at.at("met") == nullptr);
}

TEST_CASE("a report is met when all its goals are") {
  const auto good = reading_of("a", "x", {{6}}, at_least(5)),
             bad = reading_of("b", "x", {{4}}, at_least(5)), none = reading_of("c", "x", {{1}});
  CHECK(report{"", {good, none}}.met());
  CHECK_FALSE(report{"", {good, bad, none}}.met());
}

TEST_CASE("the table says what was missed") {
  const auto text = to_text(
    "pack", here,
    {"a frame after the other",
     {reading_of("speed", "x", {{4}}, at_least(5)), reading_of("time", "ms", {{1.25}}),
      reading_of("share", "%", {{0.5}}, under(1))}});
  CHECK(text == R"(pack on a processor, 2 cores, 8.0 GiB
  a frame after the other
  metric  median  min   max   unit  goal
  speed   4       4     4     x     >= 5  MISSED
  time    1.25    1.25  1.25  ms
  share   0.5     0.5   0.5   %     < 1   met
)");
}

TEST_CASE("the machine is described by what it is, not by its name") {
  const auto m = this_machine();
  CHECK(m.cpu != "");
  CHECK(m.cores >= 1);
  CHECK(m.memory_bytes > 1'000'000);
}
