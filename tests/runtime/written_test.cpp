#include "runtime/written.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace std::chrono_literals;

TEST_CASE("durations") {
  const std::pair<const char*, std::optional<duration>> rows[]{
    {"40ms", 40ms},
    {"1.5s", 1500ms},
    {"2 min", 2min},
    {"1h", 1h},
    {"10us", 10us},
    {"10µs", 10us},
    {"7ns", 7ns},
    {"0", 0ns},
    {"-3ms", -3ms},
    {"40", {}},
    {".5s", 500ms},
    {"+2s", 2s},
    {" 3s ", 3s},
    {"0.0", 0ns},
    {"-0", 0ns},
    {".", {}},
    {"1e3s", {}},
    {"3000000h", {}},
    {"2500000h", 2500000h},
    {"1764687286.123456789s", 1764687286123456789ns},
    {"ms", {}},
    {"40 m", {}},
    {"", {}},
    {"1e30s", {}},
    {"nan s", {}},
    {"1.2.3s", {}},
    {"4 0ms", {}}};
  for (const auto& [text, expected] : rows) {
    CAPTURE(text);
    CHECK(read_duration(text) == expected);
  }
  for (const duration d :
       {duration{0}, duration{1}, duration{1500ms}, duration{250ms}, duration{90s}, duration{2h}})
    CHECK(read_duration(write_duration(d)) == d);
  CHECK(write_duration(1500ms) == "1500ms");
  CHECK(write_duration(0ns) == "0s");
}

TEST_CASE("what a number without a unit is, its reader says") {
  CHECK(read_duration("0.033", duration{1s}) == 33ms);
  CHECK(read_duration("-2", duration{1s}) == -2s);
  CHECK(read_duration("40ms", duration{1s}) == 40ms);
  CHECK(read_duration("40", duration{1ms}) == 40ms);
  CHECK_FALSE(read_duration("s", duration{1s}));
}

TEST_CASE("a time beyond 64 bits is no time, and known as one") {
  CHECK(is_endless_duration("99999999999999999999s"));
  CHECK(is_endless_duration("-3000000h"));
  for (const auto* other : {"1h", "h", "99999999999999999999", "1e30s", ""}) {
    CAPTURE(other);
    CHECK_FALSE(is_endless_duration(other));
  }
}
