#include "actors/batch_sizer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

duration ms(double t) {
  return duration{static_cast<std::int64_t>(t * 1e6)};
}

/// How long a device takes for so many slots, in ms; `done` is what share of the run is over.
using device = std::function<double(double slots, double done)>;

device affine(double fixed, double per_slot) {
  return [=](double slots, double) { return fixed + per_slot * slots; };
}

/// Above 12 slots each one costs more: as where a cache is full.
double with_a_knee(double slots, double) {
  return 4 + slots + std::max(0.0, slots - 12) * 2;
}

struct work {
  device takes;
  std::uint32_t hyperframe = 1; ///< slots
  std::uint32_t most = 32;
  double target = 1e9; ///< ms
  double noise = 0;    ///< times are off by up to this share
  double length = 60;  ///< s
};

struct work_done {
  double slots = 0; ///< in batches that met the target
  double batches = 0, misses = 0;
  std::vector<std::uint32_t> sizes; ///< slots of each batch
  std::uint32_t last() const { return sizes.back(); }
};

/// A device that is never short of work.
work_done run(
  const work& w, const std::function<std::uint32_t()>& size,
  const std::function<void(std::uint32_t, duration)>& took, std::uint64_t seed = 7) {
  std::minstd_rand draw{static_cast<std::uint_fast32_t>(seed)};
  std::uniform_real_distribution<double> off{-w.noise, w.noise};
  work_done done;
  for (double at = 0; at < w.length * 1e3;) {
    const auto slots = std::max(w.hyperframe, size() / w.hyperframe * w.hyperframe);
    const auto time = w.takes(slots, at / (w.length * 1e3)) * (1 + off(draw));
    at += time;
    took(slots, ms(time));
    done.sizes.push_back(slots);
    ++done.batches;
    if (time <= w.target)
      done.slots += slots;
    else
      ++done.misses;
  }
  return done;
}

work_done adaptive(const work& w, std::uint64_t seed = 7) {
  batch_sizer sizer{{.most = w.most, .target = w.target < 1e9 ? ms(w.target) : duration::max()}};
  sizer.saw_hyperframe(w.hyperframe);
  return run(
    w, [&] { return sizer.slots(); },
    [&](std::uint32_t slots, duration time) { sizer.took(slots, true, time); }, seed);
}

double best_fixed(const work& w) {
  double best = 0;
  for (auto slots = w.hyperframe; slots <= w.most; slots += w.hyperframe)
    best = std::max(
      best, run(
              w, [=] { return slots; }, [](std::uint32_t, duration) {})
              .slots);
  return best;
}

} // namespace

TEST_CASE("a batch begins with one hyperframe") {
  batch_sizer sizer{{.most = 32}};
  sizer.saw_hyperframe(8);
  CHECK(sizer.slots() == 8);
  sizer.saw_hyperframe(4);
  CHECK(sizer.slots() == 8); // room for the largest
  batch_sizer small{{.most = 4}};
  small.saw_hyperframe(8);
  CHECK(small.slots() == 4);
}

TEST_CASE("batches grow while throughput gains, and in steady load cost at most 3 % against the "
          "best size") {
  struct row {
    const char* what;
    work of;
    std::uint32_t least, most; ///< where it ends
  };
  const std::vector<row> rows{
    {"each slot more is cheaper", {affine(9. / 7, 5. / 7)}, 28, 32},
    {"hyperframes of eight", {affine(9. / 7, 5. / 7), 8, 64}, 64, 64},
    {"times that vary", {.takes = affine(9. / 7, 5. / 7), .noise = 0.1}, 19, 32},
    {"a device that takes frames one by one", {affine(0, 1)}, 1, 2},
    {"a knee", {with_a_knee}, 9, 13},
    {"a knee, and times that vary", {.takes = with_a_knee, .noise = 0.05}, 9, 13},
    {"a target", {.takes = affine(8, 0.5), .most = 64, .target = 24}, 28, 32},
    {"a target that one hyperframe misses", {.takes = affine(30, 0.5), .target = 24}, 1, 1},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    const auto done = adaptive(r.of);
    const auto best = best_fixed(r.of);
    CHECK(done.slots >= 0.97 * best);
    std::vector<std::uint32_t> late(
      done.sizes.begin() + static_cast<long>(done.sizes.size() / 2), done.sizes.end());
    std::ranges::sort(late);
    const auto usual = late[late.size() / 2];
    CHECK(usual >= r.least);
    CHECK(usual <= r.most);
    CHECK(*std::ranges::max_element(done.sizes) <= std::max(r.of.most, r.of.hyperframe));
    if (best > 0)
      CHECK(done.misses <= 0.01 * done.batches);
  }
}

TEST_CASE("batches do not grow while nothing more is waiting") {
  batch_sizer sizer{{.most = 32}};
  sizer.saw_hyperframe(1);
  for (int i = 0; i < 1000; ++i)
    sizer.took(1, false, 2ms);
  CHECK(sizer.slots() == 1);
}

TEST_CASE("what left before the size changed does not count for the new one") {
  batch_sizer sizer{{.most = 8, .target = 10ms}};
  sizer.saw_hyperframe(4);
  for (int i = 0; i < 8; ++i)
    sizer.took(4, true, 5ms);
  REQUIRE(sizer.slots() == 8);
  sizer.took(8, true, 20ms); // the trial is over
  REQUIRE(sizer.slots() == 4);
  for (int i = 0; i < 5; ++i)
    sizer.took(8, true, 20ms); // under way since then
  for (int i = 0; i < 15; ++i)
    sizer.took(4, true, 5ms);
  CHECK(sizer.slots() == 4);
  sizer.took(4, true, 5ms);
  CHECK(sizer.slots() == 4); // by the line, eight would miss the target again
}

TEST_CASE(
  "batches shrink within two when the target is missed, and grow again when it can be met") {
  const work busy{
    .takes =
      [](double slots, double done) {
        return (done < 1. / 3 || done > 2. / 3 ? 8 : 16) + 0.5 * slots;
      },
    .most = 32,
    .target = 24};
  const auto done = adaptive(busy);
  const auto third = [&](double from, double to) {
    const auto n = static_cast<double>(done.sizes.size());
    auto part = std::vector(
      done.sizes.begin() + static_cast<long>(from * n),
      done.sizes.begin() + static_cast<long>(to * n));
    std::ranges::sort(part);
    return part[part.size() / 2];
  };
  CHECK(third(0.1, 0.3) >= 28);
  CHECK(third(0.4, 0.6) <= 16);
  CHECK(third(0.4, 0.6) >= 12);
  CHECK(third(0.8, 1) >= 28);
  CHECK(done.misses <= 0.01 * done.batches);
}

TEST_CASE("where the load changes halfway, adapting gains 10 % over the best fixed size") {
  // Another user of the device comes and doubles what a run costs.
  const work changed{
    .takes = [](double slots, double done) { return (done < 0.5 ? 8 : 16) + 0.5 * slots; },
    .most = 64,
    .target = 24};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(adaptive(changed, seed).slots >= 1.1 * best_fixed(changed));
  }
}

TEST_CASE("batches that begin to take another time end a long rest") {
  batch_sizer sizer{{.most = 32}};
  sizer.saw_hyperframe(1);
  for (int i = 0; i < 20000; ++i) // a device that takes frames one by one: nothing gains
    sizer.took(sizer.slots(), true, ms(sizer.slots()));
  int batches = 0;
  for (; sizer.slots() < 16; ++batches) // and another one, whose runs cost more than frames do
    sizer.took(sizer.slots(), true, ms(20 + 0.1 * sizer.slots()));
  CHECK(batches <= 100);
}

TEST_CASE("random devices: never worse than the best fixed size by more than 3 %") {
  std::mt19937_64 draw{20};
  std::uniform_real_distribution<double> unit{0, 1};
  for (int i = 0; i < 200; ++i) {
    const auto fixed = 20 * unit(draw), per_slot = 0.05 + 2 * unit(draw);
    work w{
      .takes = affine(fixed, per_slot),
      .hyperframe = 1 + static_cast<std::uint32_t>(8 * unit(draw)),
      .most = 64,
      .noise = 0.03 * unit(draw)};
    if (unit(draw) < 0.5)
      w.target = (fixed + per_slot * w.hyperframe) * (1.1 + 3 * unit(draw));
    w.length = 3 * (fixed + 64 * per_slot); // 3,000 of the largest batches, or more
    CAPTURE(fixed);
    CAPTURE(per_slot);
    CAPTURE(w.hyperframe);
    CAPTURE(w.target);
    CAPTURE(w.noise);
    CHECK(adaptive(w, static_cast<std::uint64_t>(i) + 1).slots >= 0.97 * best_fixed(w));
  }
}
