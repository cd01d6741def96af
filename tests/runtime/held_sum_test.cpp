#include "runtime/held_sum.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using namespace hyperframes;

namespace {

struct part {
  std::uint64_t held = 0;
  mutable int asked = 0;
  std::uint64_t held_frames() const {
    ++asked;
    return held;
  }
};

} // namespace

TEST_CASE("the sum follows every part, also one that lets go or throws, and asks no other") {
  std::vector<part> parts(3);
  held_sum sum;
  const auto change = [&](std::size_t which, std::uint64_t to) {
    const held_sum::change counts{sum, parts[which]};
    parts[which].held = to;
  };
  change(0, 5);
  change(1, 2);
  CHECK(sum.frames() == 7);
  change(0, 1);
  CHECK(sum.frames() == 3);
  try {
    const held_sum::change counts{sum, parts[1]};
    parts[1].held = 4;
    throw std::runtime_error("in the middle of it");
  } catch (const std::runtime_error&) {
    CHECK(sum.frames() == 5);
  }
  CHECK(parts[2].asked == 0);
}
