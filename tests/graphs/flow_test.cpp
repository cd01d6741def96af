#include "graphs/flow.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

/// Nothing costs anything but a device: 2 ms alone, 7 ms for 8.
stage_costs device() {
  return {.k = 1, .infer = {{1, 2ms}, {8, 7ms}}, .infer_on_cpu = false};
}

} // namespace

TEST_CASE("flow: a device that is never without work takes its time for each batch") {
  const cost_model m{device()};
  const auto o = play_flow(m, {.live = false, .frames = 80}, {.size = 8, .batch = 8});
  CHECK(o.delivered == 80);
  CHECK(o.fps == doctest::Approx(80 / 0.070));
  CHECK(o.infer_busy == doctest::Approx(1));
  CHECK(o.dropped == 0);
  const auto two = play_flow(
    m, {.live = false, .frames = 80},
    {.size = 8, .batch = 8, .shared = {.workers = 2}, .batches = 6});
  CHECK(two.fps == doctest::Approx(80 / 0.035));
}

TEST_CASE("flow: a frame of a live stream waits for those behind it and for the device") {
  const auto o =
    play_flow(cost_model{device()}, {.fps = 25, .frames = 80}, {.size = 8, .batch = 8});
  CHECK(o.delivered == 80);
  CHECK(o.p50 == 127ms);     // half of them have at most three behind them: 3 x 40 ms and the batch
  CHECK(o.longest == 287ms); // the first
}

TEST_CASE("flow: cameras in step share a batch as far as it has room") {
  const flow_load load{.streams = 4, .fps = 10, .frames = 20};
  const auto longest = [&](std::uint32_t batch) {
    return play_flow(cost_model{device()}, load, {.size = 2, .batch = batch, .batches = 2}).longest;
  };
  // The first hyperframe leaves alone, while nothing else is queued.
  CHECK(longest(2) == 100ms + 4 * cost_model{device()}.infer(2));
  CHECK(longest(8) == 100ms + 2 * cost_model{device()}.infer(2) + cost_model{device()}.infer(4));
}

TEST_CASE("flow: a moment's frames go on together, and may share a hyperframe") {
  auto costs = device();
  costs.acquire = 10ms;
  const flow_load apart{.streams = 2, .fps = 10, .frames = 10};
  auto aligned = apart;
  aligned.group = 2;
  auto shared = aligned;
  shared.members = 2;
  const flow_settings alone{.size = 1, .batch = 1};
  CHECK(play_flow(cost_model{costs}, apart, alone).longest == 2ms);
  CHECK(play_flow(cost_model{costs}, aligned, alone).longest == 10ms + 2 * 2ms - 2ms);
  CHECK(play_flow(cost_model{costs}, shared, alone).longest == 10ms + cost_model{costs}.infer(2));
}

TEST_CASE("flow: what needs a core shares the cores") {
  const stage_costs costs{.acquire = 2ms, .pack = 3ms, .k = 1, .infer = {{1, 4ms}}};
  const auto fps = [&](double cores) {
    return play_flow(
             cost_model{costs}, {.live = false, .frames = 500},
             {.size = 1, .batch = 1, .shared = {.cores = cores}})
      .fps;
  };
  CHECK(fps(1) == doctest::Approx(1 / 0.009).epsilon(0.001));
  CHECK(fps(0.5) == doctest::Approx(0.5 / 0.009).epsilon(0.001)); // others take the rest
  CHECK(fps(1.5) > 0.9 * 1.5 / 0.009);
  CHECK(fps(1.5) <= 1.5 / 0.009);
  // The last stage is always at work, and the others lack work while its queues are full.
  CHECK(fps(2) < 2 / 0.009);
  CHECK(fps(2) > 0.85 * 2 / 0.009);
  CHECK(fps(4) == doctest::Approx(1 / 0.004).epsilon(0.01));
}

TEST_CASE("flow: a file is held back by full queues, and what is under way tells the latency") {
  const auto o = play_flow(
    cost_model{device()}, {.live = false, .frames = 2000},
    {.size = 1, .batch = 1, .prefetch = 30, .frames = 8, .hyperframes = 16, .batches = 3});
  CHECK(o.dropped == 0);
  CHECK(o.delivered == 2000);
  // 30 read, 8 on the edge, 1 that waits for room, 16 queued, 3 dispatched: 58 x 2 ms (Little)
  CHECK(o.p99 == 2ms * (30 + 8 + 1 + 16 + 3));
}

TEST_CASE("flow: live cameras that are too fast lose the oldest, and latency stays bounded") {
  const auto o = play_flow(
    cost_model{device()}, {.fps = 1000, .frames = 1000},
    {.size = 1, .batch = 1, .hyperframes = 4, .batches = 2});
  CHECK(o.delivered + o.dropped == 1000);
  CHECK(o.dropped > 450);
  CHECK(o.fps == doctest::Approx(500).epsilon(0.02));
  CHECK(o.longest <= 2ms * 7);
}

TEST_CASE("flow: a reader that is too slow loses frames in the device") {
  auto costs = device();
  costs.acquire = 2900us;
  const auto o =
    play_flow(cost_model{costs}, {.fps = 1000, .frames = 900}, {.size = 1, .batch = 1});
  CHECK(o.delivered == 300);
  CHECK(o.dropped == 600);
}

TEST_CASE("flow: results of several workers come in order") {
  // The second batch is done first; its one frame is delivered behind the four of the first.
  const stage_costs costs{
    .deliver = 10ms, .k = 1, .infer = {{1, 1ms}, {4, 40ms}}, .infer_on_cpu = false};
  const auto o = play_flow(
    cost_model{costs}, {.live = false, .frames = 5},
    {.size = 4, .batch = 4, .shared = {.workers = 2}, .batches = 4});
  CHECK(o.delivered == 5);
  CHECK(o.longest == 40ms + 5 * 10ms);
}

TEST_CASE("flow: what can expire waits for a free worker while batches are not quick") {
  const stage_costs costs{.k = 1, .infer = {{1, 20ms}, {8, 21ms}}, .infer_on_cpu = false};
  const flow_load load{.streams = 3, .fps = 10, .frames = 10};
  flow_settings with{.size = 1, .batch = 8, .batches = 2};
  CHECK(play_flow(cost_model{costs}, load, with).longest == 60ms);
  with.expires = true; // the second and the third share a batch
  CHECK(play_flow(cost_model{costs}, load, with).longest < 41ms);
}
