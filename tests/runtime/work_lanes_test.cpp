#include "runtime/work_lanes.hpp"

#include <doctest/doctest.h>

#include <future>
#include <mutex>
#include <vector>

using namespace hyperframes;

TEST_CASE("a lane keeps its order, lanes work side by side") {
  work_lanes lanes;
  std::promise<void> second_runs;
  std::vector<int> order; // only lane 1 writes it
  std::promise<void> done;
  // Lane 1's first job waits for lane 2: it would hang if they shared a thread.
  lanes.submit(1, [&] {
    second_runs.get_future().wait();
    order.push_back(1);
  });
  lanes.submit(1, [&] { order.push_back(2); });
  lanes.submit(1, [&] { done.set_value(); });
  lanes.submit(2, [&] { second_runs.set_value(); });
  done.get_future().wait();
  CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("a job that hangs is told of when it is late, left behind, and named") {
  auto release = std::make_shared<std::promise<void>>();
  auto started = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  work_lanes lanes;
  lanes.submit(7, [release, started, ended] {
    started->set_value();
    release->get_future().wait();
    ended->set_value();
  });
  started->get_future().wait();
  std::vector<std::uint64_t> late;
  const auto left = lanes.close(
    work_lanes::usual_end + std::chrono::milliseconds{1},
    [&](const work_lanes::busy_lane& busy) { late.push_back(busy.lane); });
  CHECK(late == std::vector<std::uint64_t>{7});
  CHECK(left == std::vector<std::uint64_t>{7});
  release->set_value();
  ended->get_future().wait();
}
