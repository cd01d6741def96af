#include "graphs/cost_model.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

/// The example of docs/planning.md.
stage_costs example() {
  return {.acquire = 500us, .pack = 1ms, .schedule = 1ms, .k = 0.8, .infer = {{1, 2ms}, {8, 7ms}}};
}

} // namespace

TEST_CASE("the worked example: 4.5 ms for a frame alone, 2.3 ms in a hyperframe of 8") {
  const cost_model m{example()};
  CHECK(m.alone() == 4500us);
  CHECK(m.in_hyperframe(8) == 2300us);
  CHECK(m.in_hyperframe(1) == m.alone());
}

TEST_CASE("k counts where a frame shares its hyperframe") {
  auto costs = example();
  costs.k = 0.7;
  CHECK(cost_model{costs}.pack(1) == 1ms);
  CHECK(cost_model{costs}.pack(2) == 700us);
  CHECK(cost_model{costs}.in_hyperframe(8) == 2200us);
}

TEST_CASE("inference between, below and beyond the batches whose time is known") {
  struct row {
    std::vector<infer_cost> known;
    std::uint32_t slots;
    duration time;
  };
  const row rows[] = {
    {{{1, 2ms}, {8, 9ms}}, 1, 2ms},
    {{{1, 2ms}, {8, 9ms}}, 8, 9ms},
    {{{1, 2ms}, {8, 9ms}}, 4, 5ms},
    {{{1, 2ms}, {8, 9ms}}, 16, 17ms},
    {{{1, 2ms}, {8, 9ms}, {16, 25ms}}, 4, 5ms},
    {{{1, 2ms}, {8, 9ms}, {16, 25ms}}, 12, 17ms},
    {{{1, 2ms}, {8, 9ms}, {16, 25ms}}, 32, 57ms},
    {{{4, 6ms}, {8, 10ms}}, 1, 3ms},
    {{{4, 2ms}, {8, 10ms}}, 1, 0ms}, // not below 0
    {{{1, 3ms}}, 8, 24ms},
    {{{8, 24ms}}, 1, 3ms}};
  for (const auto& r : rows) {
    CAPTURE(r.slots);
    CHECK(cost_model{{.infer = r.known}}.infer(r.slots) == r.time);
  }
}

TEST_CASE(
  "throughput is that of the slowest stage by its workers, and no more than the cores carry") {
  struct row {
    stage_costs costs;
    std::uint32_t slots, batch;
    flow_resources r;
    double fps;
    flow_limit by;
  };
  const std::vector<infer_cost> flat = {{1, 8ms}, {8, 8ms}};
  const row rows[] = {
    {{.infer = flat}, 1, 1, {1, 1, 4}, 125, flow_limit::infer},
    {{.infer = flat}, 8, 8, {1, 1, 4}, 1000, flow_limit::infer},
    {{.infer = flat}, 4, 8, {1, 1, 4}, 1000, flow_limit::infer}, // two hyperframes a batch
    {{.infer = flat}, 8, 8, {1, 2, 4}, 2000, flow_limit::infer},
    {{.acquire = 4ms, .infer = flat}, 8, 8, {1, 1, 4}, 250, flow_limit::acquire},
    {{.acquire = 4ms, .infer = flat}, 8, 8, {2, 1, 4}, 500, flow_limit::acquire},
    {{.pack = 5ms, .k = 0.8, .infer = flat}, 8, 8, {1, 1, 4}, 250, flow_limit::pack},
    {{.schedule = 16ms, .infer = flat}, 8, 8, {1, 1, 4}, 500, flow_limit::schedule},
    {{.deliver = 2ms, .infer = flat}, 8, 8, {1, 1, 4}, 500, flow_limit::deliver},
    // 1 + 1 + 1 + 1 ms of CPU time for a frame
    {{.acquire = 1ms, .pack = 1ms, .other = 1ms, .k = 1, .infer = flat},
     8,
     8,
     {1, 1, 2},
     500,
     flow_limit::cores},
    // a device works beside the cores
    {{.acquire = 1ms, .pack = 1ms, .k = 1, .infer = {{1, 1ms}}, .infer_on_cpu = false},
     8,
     8,
     {1, 1, 1},
     500,
     flow_limit::cores}};
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    const auto& r = rows[i];
    const auto found = cost_model{r.costs}.throughput(r.slots, r.batch, r.r);
    CHECK(found.fps == doctest::Approx(r.fps));
    CHECK(found.by == r.by);
  }
  CHECK(std::isinf(cost_model{{.infer = {{1, 0ms}}}}.throughput(1, 1, {}).fps));
}

TEST_CASE("a frame waits for those behind it, an event for the frame that shows it too") {
  CHECK(frame_wait(1, 25) == 0ms);
  CHECK(frame_wait(8, 25) == 280ms);
  CHECK(event_wait(1, 25) == 40ms);
  CHECK(event_wait(8, 25) == 320ms);
}

TEST_CASE("the largest hyperframe that a budget allows") {
  const cost_model m{{.infer = {{1, 10ms}, {2, 20ms}}}}; // 10 ms a slot
  const auto size = [&](duration budget, cost_model::fixed_waits w, std::uint32_t members = 1) {
    return m.largest_size(budget, w, 25, members, 64);
  };
  // B <= (budget - 10 ms B) x 25 / s, so B <= 20 budget / s
  CHECK(size(500ms, {}) == 10);
  CHECK(size(499ms, {}) == 9);
  CHECK(size(500ms, {.align = 50ms}) == 9);
  CHECK(size(500ms, {.queue = 100ms}) == 8);
  CHECK(size(500ms, {.transport = 150ms}) == 7);
  CHECK(size(500ms, {}, 2) == 8); // B <= (0.5 - 0.02 B) x 25
  CHECK(size(50ms, {}) == 1);
  CHECK(size(49ms, {}) == 0); // not even one frame
  CHECK(size(10ms, {.align = 20ms}) == 0);
  CHECK(size(10s, {}) == 64);
}

TEST_CASE("a queue holds what comes while one may wait, a ring what is under way") {
  CHECK(queue_depth(10, 100ms) == 1);
  CHECK(queue_depth(10, 101ms) == 2);
  CHECK(queue_depth(10, 0ms) == 1);
  CHECK(queue_depth(45, 200ms) == 9);
  CHECK(ring_size(400ms, 30) == 24);
  CHECK(ring_size(400ms, 30, 1.5) == 18);
  CHECK(ring_size(1ms, 30) == 1);
}
