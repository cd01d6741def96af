#include "runtime/error.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/bounded_queue.hpp"
#include "tools/bench/films.hpp"
#include "tools/bench/ladder_rungs.hpp"
#include "tools/bench/part.hpp"
#include "tools/bench/squeezenet.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace hyperframes;
using namespace hyperframes::bench;

namespace {

/// A rung that ran 100 frames at `fps`, a frame for `cpu_ms`.
ladder_cost ran(double fps, double cpu_ms) {
  return {100, 100 / fps, 100 * cpu_ms / 1e3, 50.0 * (1 << 20)};
}

std::vector<std::vector<ladder_cost>> five(const std::vector<ladder_cost>& round) {
  return {5, round};
}

double value_of(const report& r, const std::string& metric) {
  for (const auto& line : r.results)
    if (line.metric == metric)
      return line.value;
  FAIL("no reading is called ", metric);
  return 0;
}

} // namespace

TEST_CASE("every rung brings every frame through, the last part of a batch too") {
  const scratch folder;
  const auto film = folder / "film.mp4", model = shipped("models/parts.onnx");
  make_film(film, {64, 48}, 21, 2);
  auto names = rungs();
  CHECK(names.size() == 5);
  names.push_back(single_frames);
  for (const auto& name : names) {
    CAPTURE(name);
    const auto cost = climb_once({name, film, model, "2"});
    REQUIRE(cost.size() == 4);
    CHECK(cost[0] == 21);
    CHECK(cost[1] > 0);
    CHECK(cost[1] < 60); // it counts from its start
    CHECK(cost[2] > 0);
    CHECK(cost[3] > 1'000'000);
  }
  CHECK_THROWS_AS(climb_once({"ladder", film, model, "2"}), std::invalid_argument);
  const auto steps = steps_once({film, model});
  REQUIRE(steps.size() == 3);
  for (const auto s : steps)
    CHECK(s > 0);
}

TEST_CASE("what cannot be opened is told") {
  const scratch folder;
  const auto model = shipped("models/parts.onnx");
  CHECK_THROWS_WITH_AS(
    climb_once({"one by one", "no.mp4", model, "1"}), "no.mp4: OpenCV cannot open this film",
    failure);
  CHECK_THROWS_AS(climb_once({"prefetch", "no.mp4", "no.onnx", "1"}), failure);
  CHECK_THROWS_AS(steps_once({"no.mp4", model}), failure);
  CHECK_THROWS_AS(make_film("/no/such/folder/film.mp4", {64, 48}, 1, 1), failure);
  CHECK_THROWS_AS(write_squeezenet("/no/such/folder/x.onnx"), failure);
}

TEST_CASE("the network that is written has SqueezeNet's shapes and weights, and runs") {
  const scratch folder;
  const auto path = folder / "squeezenet.onnx";
  write_squeezenet(path);
  CHECK(std::filesystem::file_size(path) > 1'235'496 * 4); // parameters of SqueezeNet 1.1
  CHECK(std::filesystem::file_size(path) < 1'235'496 * 4 + 20'000);
  classifier c{path, 1, 2};
  CHECK(c.size() == cv::Size{224, 224});
  const std::vector<std::byte> slots(c.input().slot_bytes() * 2);
  CHECK(c.run(slots, 2) == 2);
}

TEST_CASE("a scratch folder goes with what is in it") {
  std::string file;
  {
    const scratch folder;
    file = folder / "model.onnx";
    write_squeezenet(file);
    CHECK(std::filesystem::exists(file));
  }
  CHECK_FALSE(std::filesystem::exists(std::filesystem::path{file}.parent_path()));
}

TEST_CASE("hyperframes that stay below the bound are told") {
  // 2 cores and 10 ms of CPU for a frame: 200 frames per second at most.
  const std::vector<ladder_steps> steps(5, {0.004, 0.001, 0.005});
  const auto round = [](double last) {
    return std::vector{ran(100, 12), ran(120, 12), ran(130, 11), ran(140, 11), ran(last, 10.5)};
  };
  const auto good = modes_report(five(round(192)), steps, 2);
  CHECK(good.met());
  CHECK(value_of(good, "hyperframes / bound") == doctest::Approx(0.96));
  CHECK(value_of(good, "one by one / bound") == doctest::Approx(0.5));
  CHECK(value_of(good, "bound") == doctest::Approx(200));
  CHECK(value_of(good, "pack alone") == doctest::Approx(1));
  CHECK(value_of(good, "prefetch: CPU per frame") == doctest::Approx(12));
  CHECK(value_of(good, "pipeline: throughput") == doctest::Approx(140));
  CHECK(value_of(good, "batch: peak memory") == doctest::Approx(50));
  CHECK_FALSE(modes_report(five(round(188)), steps, 2).met());
  CHECK_FALSE(modes_report(five(round(192)), steps, 3).met());
}

TEST_CASE("hyperframes that are slower or dearer than promised are told") {
  const auto round = [](double fps, double cpu) {
    return five({ran(1000, 1), ran(1500, 0.8), ran(fps, cpu)});
  };
  CHECK(light_report(round(1680, 0.72)).met());
  CHECK_FALSE(light_report(round(1660, 0.72)).met());
  CHECK_FALSE(light_report(round(1680, 0.74)).met());
  const auto r = light_report(round(1800, 0.72));
  CHECK(value_of(r, "throughput: hyperframes / hyperframes of 1") == doctest::Approx(1.2));
  CHECK(value_of(r, "CPU per frame: hyperframes / hyperframes of 1") == doctest::Approx(0.9));
}

TEST_CASE("a queue hands over everything before its end") {
  bounded_queue<int> q{2};
  q.push(1);
  q.push(2);
  q.close();
  q.push(3); // does not wait, and is not taken
  CHECK(q.pop() == 1);
  CHECK(q.pop() == 2);
  CHECK(q.pop() == std::nullopt);
}
