#include "graphs/batch_plan.hpp"
#include "graphs/hyperframes.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

const std::string one_camera =
  "  - { id: cam, camera: { type: synthetic, size: 32x32, fps: 25, frames: 100 } }\n";
const std::string two_groups =
  "  - { id: \"a{1..3}\", group: a, camera: { type: synthetic, size: 32x32, fps: 10 } }\n"
  "  - { id: \"b{1..3}\", group: b, camera: { type: synthetic, size: 32x32, fps: 20 } }\n";

std::string text_of(
  const std::string& streams, const std::string& bundle = "from: capture, size: 4",
  const std::string& more = {}) {
  return "hyperframes: 1\nname: line\nlatency_budget: 5s\nstreams:\n" + streams
         + "stages:\n"
           "  capture:  { type: capture }\n"
         + more + "  bundle:   { type: bundle, " + bundle
         + " }\n"
           "  schedule: { type: schedule, from: { stage: bundle, capacity: 5 } }\n"
           "  infer:    { type: infer, from: schedule, backend: simulated, workers: 2, batch: { "
           "max: 6 } }\n"
           "  unbundle: { type: unbundle, from: infer }\n"
           "  nothing:  { type: \"null\", from: unbundle }\n";
}

batch_task task_of(const std::string& text, const plan_wishes& wishes = {.cores = 4}) {
  const auto g = graph::from_text(text);
  return batch_task_of(g.checked(), g.plan(), wishes);
}

const std::string align = "  align:    { type: align, from: capture, wait: 70ms }\n";

} // namespace

TEST_CASE("what a graph says of its load and its values") {
  const auto t = task_of(text_of(one_camera));
  CHECK(t.graph == "line");
  CHECK(t.load.streams == 1);
  CHECK(t.load.live);
  CHECK(t.load.fps == 25);
  CHECK(t.load.frames == 100);
  CHECK(t.as_is.size == 4);
  CHECK(t.as_is.batch == 6);
  CHECK(t.as_is.hyperframes == 5);
  CHECK(t.as_is.shared.workers == 2);
  CHECK(t.as_is.shared.cores == 4);
  CHECK(t.as_is.expires);
  CHECK(t.target == 5s);
  CHECK(!t.target_asked);
  CHECK(t.simulated);
  CHECK(!t.has_faults);
  CHECK(!t.has_release_count);
}

TEST_CASE("sets: groups, members, and the wait of align") {
  const auto both = task_of(text_of(two_groups, "from: align, over: both, size: 2", align));
  CHECK(both.load.streams == 6);
  CHECK(both.load.group == 3);
  CHECK(both.load.members == 3);
  CHECK(both.load.fps == doctest::Approx(15));
  CHECK(both.align == 70ms);
  const auto time = task_of(text_of(two_groups, "from: align, size: 2", align));
  CHECK(time.load.group == 3);
  CHECK(time.load.members == 1);
  const auto cameras = task_of(text_of(two_groups, "from: align, over: cameras", align));
  CHECK(cameras.as_is.size == 1);
  CHECK(!cameras.has_size);
}

TEST_CASE("wishes come before what the graph says") {
  const auto t =
    task_of(text_of(one_camera), {.target = 300ms, .cameras = 40, .fps = 50.0, .cores = 2});
  CHECK(t.load.streams == 40);
  CHECK(t.load.fps == 50);
  CHECK(t.target == 300ms);
  CHECK(t.target_asked);
  CHECK(t.as_is.shared.readers == 2);
  auto file = one_camera;
  file.replace(file.find("fps: 25"), 7, "realtime: false");
  CHECK(!task_of(text_of(file)).load.live);
  CHECK(!task_of(text_of(file)).target);
  CHECK(task_of(text_of(file), {.fps = 50.0}).load.live);
}

TEST_CASE("a time-out before the last frame makes the hyperframe smaller") {
  CHECK(
    task_of(text_of(one_camera, "from: capture, size: 4, release: { timeout: 100ms }")).as_is.size
    == 3);
  CHECK(
    task_of(text_of(one_camera, "from: capture, size: 4, release: { timeout: 1s }")).timeout_as_is
    == std::chrono::seconds{1});
  CHECK(
    task_of(text_of(one_camera, "from: capture, size: 4, release: { timeout: 1s }")).as_is.size
    == 4);
  const auto t = task_of(text_of(one_camera, "from: capture, size: 4, release: { count: 2 }"));
  CHECK(t.as_is.size == 2);
  CHECK(t.has_release_count);
}

TEST_CASE("what cannot be planned is refused with its reason") {
  struct row {
    const char* bundle;
    const char* reason;
  };
  const row rows[] = {
    {"from: capture, size: 4, release: { window: 100ms }", "`window` releases its hyperframes"},
    {"from: capture, size: 4, stride: 2", "`stride` is not `size`"},
    {"from: capture, size: 4, every: 2", "`every` passes frames over"},
    {"from: capture, size: 4, stream_first: true", "`stream_first` sends frames ahead"}};
  for (const auto& r : rows)
    CHECK_THROWS_WITH_AS(
      task_of(text_of(one_camera, r.bundle)),
      doctest::Contains((std::string{"nothing can be planned for 'bundle': "} + r.reason).c_str()),
      failure);
  CHECK_THROWS_WITH_AS(
    task_of(
      "hyperframes: 1\nstreams:\n" + one_camera
      + "stages:\n  capture: { type: capture }\n  nothing: { type: \"null\", from: capture }\n"),
    doctest::Contains("expected one stage `infer`, found 0"), failure);
}

TEST_CASE("batches that adapt are not planned") {
  auto text = text_of(one_camera);
  text.replace(text.find("max: 6"), 6, "max: 6, adaptive: true");
  CHECK_THROWS_WITH_AS(
    task_of(text), doctest::Contains("`batch.adaptive` chooses its batches while it runs"),
    failure);
}

TEST_CASE("faults that a graph asks for are seen") {
  auto faulty = one_camera;
  faulty.insert(faulty.find("fps: 25"), "faults: [ { kind: duplicate, rate: 0.1 } ], ");
  CHECK(task_of(text_of(faulty)).has_faults);
}
