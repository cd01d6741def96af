#include "runtime/settled_frames.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace hyperframes;

namespace {

outcome_range range(std::uint64_t first, std::uint64_t count, std::uint32_t epoch = 0) {
  return {3, epoch, first, count, outcome::dropped, reason::edge_full};
}

/// "0:2+3" for three frames of epoch 0 from id 2 on.
std::string in_words(const std::vector<outcome_range>& ranges) {
  std::string text;
  for (const auto& r : ranges)
    text += (text.empty() ? "" : " ") + std::to_string(r.epoch) + ':' + std::to_string(r.first) + '+'
            + std::to_string(r.count);
  return text;
}

} // namespace

TEST_CASE("the first outcome of a frame counts, whatever the pieces it comes in") {
  settled_frames frames;
  CHECK(in_words(frames.add(range(2, 3))) == "0:2+3");
  CHECK(in_words(frames.add(range(0, 10))) == "0:0+2 0:5+5");
  CHECK(in_words(frames.add(range(4, 2))) == "");
  CHECK(in_words(frames.add(range(4, 2, 1))) == "1:4+2");
  CHECK(frames.has(range(0, 10)));
  CHECK_FALSE(frames.has(range(0, 11)));
  CHECK_FALSE(frames.has({4, 0, 0, 1, outcome::dropped, reason::none}));
}

TEST_CASE("an epoch is complete when all its frames have an outcome, and those before it are complete") {
  settled_frames frames;
  frames.add(stream_end{3, 1, 1, true});
  frames.add(range(0, 1, 1));
  CHECK(frames.take_complete().empty());
  frames.add(stream_end{3, 0, 4, false});
  frames.add(range(1, 3));
  CHECK(frames.take_complete().empty());
  frames.add(range(0, 1));
  const auto ends = frames.take_complete();
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].epoch == 0);
  CHECK(ends[1].last_epoch);
  CHECK(frames.take_complete().empty());
  CHECK(frames.add(range(0, 4)).empty()); // of an epoch that is over
  CHECK(frames.has(range(0, 4)));
}

TEST_CASE("whatever comes twice, every frame counts once") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    settled_frames frames;
    std::uint64_t given = 0, fresh = 0;
    std::vector<bool> seen(64, false);
    for (int i = 0; i < 60; ++i) {
      const auto r = range(random() % 60, 1 + random() % 5);
      given += r.count;
      for (const auto& piece : frames.add(r))
        for (auto id = piece.first; id < piece.first + piece.count; ++id) {
          CHECK_FALSE(seen[id]);
          seen[id] = true;
          ++fresh;
        }
    }
    CHECK(fresh == static_cast<std::uint64_t>(std::ranges::count(seen, true)));
    CHECK(given >= fresh);
  }
}
