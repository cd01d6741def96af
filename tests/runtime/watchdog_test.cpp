#include "runtime/watchdog.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using std::chrono::milliseconds;

namespace {

constexpr graph_time at(int ms) { return graph_time{milliseconds{ms}}; }

} // namespace

TEST_CASE("a call that does not return is named once, and once more when it is back") {
  watchdog dog{milliseconds{100}};
  CHECK(dog.look({{"infer", at(0)}, {"sink", never}}, at(99)).empty());
  const auto hangs = dog.look({{"infer", at(0)}, {"sink", never}}, at(100));
  REQUIRE(hangs.size() == 1);
  CHECK(hangs[0].name == "infer");
  CHECK(hangs[0].taken == milliseconds{100});
  CHECK_FALSE(hangs[0].back);
  CHECK(dog.look({{"infer", at(0)}, {"sink", at(90)}}, at(150)).empty());
  CHECK(dog.hanging() == 1);
  // Back, and in the next call already.
  const auto back = dog.look({{"infer", at(160)}, {"sink", never}}, at(170));
  REQUIRE(back.size() == 1);
  CHECK(back[0].back);
  CHECK(dog.hanging() == 0);
}

TEST_CASE("short calls, however many, are no hang") {
  watchdog dog{milliseconds{100}};
  for (int ms = 0; ms < 10'000; ms += 50)
    CHECK(dog.look({{"bundle", at(ms - ms % 90)}}, at(ms)).empty());
}
