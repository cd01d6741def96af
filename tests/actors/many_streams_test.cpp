// What a message costs must not grow with the streams that it does not concern.
#include "actors/align.hpp"
#include "actors/bundle.hpp"
#include "actors/capture.hpp"
#include "actors/unbundle.hpp"
#include "runtime/clock.hpp"
#include "runtime/mailbox.hpp"
#include "tests/actors/stage_context.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <thread>

using namespace hyperframes;

namespace {

constexpr std::uint32_t few = 2, many = 20'000;

/// CPU time of a message, the least of several rows of them: going through `many` streams takes
/// tens of microseconds, what the messages here do well below one.
template <class Message>
double cpu_of(Message message) {
  const system_clock clock;
  auto least = std::numeric_limits<double>::max();
  for (int row = 0; row < 20; ++row) {
    const auto begin = clock.thread_cpu();
    for (int i = 0; i < 100; ++i)
      message();
    least = std::min(least, static_cast<double>((clock.thread_cpu() - begin).count()) / 100);
  }
  return least;
}

frame next_of(stream_index stream, std::uint64_t& id) {
  frame f;
  f.meta.stream = stream;
  f.meta.frame_id = id++;
  f.meta.timeline = graph_time{std::chrono::milliseconds{33 * id}};
  return f;
}

/// Sends frames of the last stream to a stage and looks what it holds, as the runtime does.
double cost_of_frame(const stage_description& d, std::uint32_t streams) {
  const auto stage = d.make(plan_with(d, {}, cameras(streams, 1, false)));
  fake_context context;
  std::uint64_t id = 0, held = 0;
  return cpu_of([&] {
    auto f = next_of(streams - 1, id);
    if (d.name == "unbundle") {
      const outcome_range ended{streams - 1, 0, id - 1, 1, outcome::dropped, reason::edge_full};
      stage->on_outcomes({&ended, 1}, context);
    } else {
      stage->on_item(std::move(f), context);
    }
    held += stage->held_frames();
    context.sent.clear();
  });
}

} // namespace

TEST_CASE("a frame costs a stage the same whatever other streams there are") {
  for (const auto& d : {describe_bundle(), describe_align(), describe_unbundle()}) {
    CAPTURE(d.name);
    const auto alone = cost_of_frame(d, few), among_many = cost_of_frame(d, many);
    CAPTURE(alone);
    CAPTURE(among_many);
    CHECK(among_many < 5 * alone + 1000); // ns
  }
}

TEST_CASE("credit of a lane costs a mailbox the same whatever other lanes there are") {
  const auto cost = [](std::uint32_t lanes) {
    mailbox box{0, {8, 0, overflow_policy::block, lanes}};
    std::uint64_t id = 0, credit = 0;
    return cpu_of([&] {
      box.put(next_of(lanes - 1, id), {});
      box.take({});
      box.gone(lanes - 1, 0);
      for (const auto& m : box.take_owed())
        credit += m.items;
    });
  };
  const auto alone = cost(few), among_many = cost(many);
  CAPTURE(alone);
  CAPTURE(among_many);
  CHECK(among_many < 5 * alone + 1000);
}

namespace {

/// A file without end.
class endless_camera final : public camera {
public:
  expected<camera_info> probe() override { return camera_info{}; }
  expected<void> open(const camera_environment&) override { return {}; }
  camera_event read(graph_time) override { return captured_frame{}; }
};

} // namespace

TEST_CASE("credit that comes back to capture is asked for in its stream only") {
  constexpr std::uint32_t count = 50;
  auto resource = std::make_shared<capture_resource>();
  for (std::uint32_t i = 0; i < count; ++i) {
    capture_resource::source source{i, {}, [] { return std::make_unique<endless_camera>(); }};
    resource->sources.push_back(std::move(source));
  }
  std::uint64_t captured = 0;
  resource->captured = [&](const frame_meta& m) { captured += m.stream == 7 ? 1 : 1000; };
  auto plan = plan_with(describe_capture(), {}, cameras(1, count, false));
  plan.resource = resource;
  fake_context context;
  context.credit_left = 0;
  const auto stage = describe_capture().make(plan);
  stage->run(context);
  while (captured == 0) { // the camera's thread may not have come to it yet
    std::this_thread::yield();
    context.credit_left = 0;
    stage->on_poke(context);
    context.credit_left = 1;
    context.credits_asked = 0;
    stage->on_credit(7, context);
  }
  CHECK(captured == 1);
  CHECK(context.credits_asked < 10);
  stage->drain(context);
}
