// How graphs end: drained, stopped, failed, dropped by their owner, side by side.
#include "actors/unbundle.hpp"
#include "tests/system/collected.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/gate.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <algorithm>
#include <mutex>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

/// Does not end by itself.
const std::string endless =
  "  - { id: cam, camera: { type: synthetic, scene: counter, size: 32x32, realtime: false } }\n";

/// Gives three frames and then hangs, deaf to `interrupt`.
class hanging_camera final : public camera {
public:
  explicit hanging_camera(std::shared_ptr<gate> hangs) : hangs_(std::move(hangs)) {}
  expected<camera_info> probe() override {
    camera_info info;
    info.media = *make_video_type(video_format::packed(pixel_format::gray8, 16, 16));
    info.fps = 30;
    info.live = info.blocks = true;
    info.frame_bytes = 256;
    return info;
  }
  expected<void> open(const camera_environment& e) override {
    pool_ = buffer_pool{e.frames_ahead, 256};
    return {};
  }
  camera_event read(graph_time now) override {
    if (given_ == 3) {
      hangs_->pass();
      return end_of_stream{};
    }
    captured_frame f;
    f.captured = capture_time{now.time_since_epoch()};
    f.device_id = given_++;
    f.media = make_video_type(video_format::packed(pixel_format::gray8, 16, 16));
    f.buffer = pool_.acquire();
    std::fill_n(f.buffer.data(), f.buffer.size(), std::byte{100});
    return f;
  }

private:
  std::shared_ptr<gate> hangs_;
  buffer_pool pool_;
  std::uint64_t given_ = 0;
};

/// An unbundle whose second result is too much for it.
class failing_unbundle final : public stage {
public:
  explicit failing_unbundle(std::unique_ptr<stage> real) : real_(std::move(real)) {}
  void on_item(item i, stage_context& c) override {
    if (++results_ == 2)
      throw std::runtime_error("one result too many");
    real_->on_item(std::move(i), c);
  }
  bool takes(stream_index s) const override { return real_->takes(s); }
  void on_end(const stream_end& end, stage_context& c) override { real_->on_end(end, c); }
  void on_outcomes(std::span<const outcome_range> r, stage_context& c) override { real_->on_outcomes(r, c); }
  void on_credit(stream_index lane, stage_context& c) override { real_->on_credit(lane, c); }
  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    real_->give_up(what, why, into);
  }
  std::uint64_t held_frames() const noexcept override { return real_->held_frames(); }

private:
  std::unique_ptr<stage> real_;
  int results_ = 0;
};

run_options numbered(std::uint32_t run, collected_results& results) {
  auto options = calling({{"program", results.taker()}});
  options.run_number = run;
  return options;
}

} // namespace

TEST_CASE("a graph that is drained delivers all that it captured") {
  collected_results results;
  running run{graph::from_text(chain(endless)), calling({{"program", results.taker()}})};
  wait_for("results", [&] { return results.count() >= 100; });
  CHECK_FALSE(run.finished());
  run.drain();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  CHECK(results.count() == summary.ledger.captured);
  CHECK(count_of(summary.ledger, outcome::delivered) == summary.ledger.captured);
  check_ledger(summary);
}

TEST_CASE("a graph that is stopped gives every frame an outcome") {
  collected_results results;
  running run{graph::from_text(chain(endless)), calling({{"program", results.taker()}})};
  wait_for("results", [&] { return results.count() >= 100; });
  run.stop();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  const auto dropped = count_of(summary.ledger, outcome::dropped);
  CHECK(count_of(summary.ledger, outcome::delivered) >= 100);
  CHECK(count_of(summary.ledger, outcome::delivered) + dropped == summary.ledger.captured);
  CHECK(count_of(summary.ledger, reason::stopped) == dropped);
  check_ledger(summary);
}

TEST_CASE("draining and stopping again, in any order, do no harm") {
  collected_results results;
  running run{graph::from_text(chain(endless)), calling({{"program", results.taker()}})};
  wait_for("results", [&] { return results.count() >= 10; });
  run.drain();
  run.drain();
  run.stop();
  run.drain();
  run.stop();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  check_ledger(summary);
}

TEST_CASE("a graph may be drained and stopped before its first frame") {
  for (const bool drains : {true, false}) {
    collected_results results;
    running run{graph::from_text(chain(endless)), calling({{"program", results.taker()}})};
    if (drains)
      run.drain();
    else
      run.stop();
    const auto summary = run.finish();
    CHECK(results.fault() == "");
    check_ledger(summary);
  }
}

TEST_CASE("a graph whose owner goes ends with it") {
  collected_results results;
  {
    running run{graph::from_text(chain(endless)), calling({{"program", results.taker()}})};
    wait_for("results", [&] { return results.count() >= 10; });
  }
  const auto then = results.count();
  CHECK(results.fault() == "");
  CHECK(then >= 10);
}

TEST_CASE("two graphs run side by side in one process, and one by one from one graph") {
  const auto g = graph::from_text(chain(file_camera("cam", 400)));
  collected_results first, second, third;
  {
    running a{g, numbered(1, first)};
    running b{g, numbered(2, second)};
    check_ledger(b.finish());
    check_ledger(a.finish());
  }
  running c{g, numbered(3, third)};
  check_ledger(c.finish());
  std::uint32_t run = 0;
  for (const auto* results : {&first, &second, &third}) {
    ++run;
    CHECK(results->fault() == "");
    REQUIRE(results->of(0).size() == 400);
    CHECK(std::ranges::all_of(results->of(0), [&](const frame_result_ptr& r) {
      return r->sequence && r->sequence->run == run;
    }));
  }
}

TEST_CASE("one graph ends while another one goes on") {
  collected_results slow, quick;
  running goes_on{graph::from_text(chain(endless)), calling({{"program", slow.taker()}})};
  {
    running ends{
      graph::from_text(chain(file_camera("cam", 50))), calling({{"program", quick.taker()}})};
    check_ledger(ends.finish());
  }
  CHECK(quick.count() == 50);
  const auto then = slow.count();
  wait_for("the other graph's results", [&] { return slow.count() > then + 100; });
  goes_on.drain();
  check_ledger(goes_on.finish());
  CHECK(slow.fault() == "");
}

TEST_CASE("a callback that throws fails its stage; the ledger closes and the summary says why") {
  std::vector<event> events;
  std::mutex mutex;
  running run{
    graph::from_text(chain(file_camera("cam", 100))),
    {.callbacks =
       {{"program", [](const item&) { throw std::runtime_error("the screen is gone"); }}},
     .on_event = [&](const event& e) {
       const std::lock_guard lock{mutex};
       events.push_back(e);
     }}};
  const auto summary = run.finish();
  REQUIRE(summary.failed);
  CHECK(summary.failed->find("program") != std::string::npos);
  CHECK(summary.failed->find("the screen is gone") != std::string::npos);
  CHECK(std::ranges::any_of(events, [](const event& e) { return e.failed; }));
  check_ledger(summary);
}

TEST_CASE("a callback without a function does not start") {
  const auto g = graph::from_text(chain(file_camera("cam", 5)));
  CHECK_THROWS_WITH_AS(
    running{g}, doctest::Contains("no function of the program is registered under this name"),
    failure);
}

TEST_CASE("frames can be handed in only where a camera is `push`") {
  collected_results results;
  running run{
    graph::from_text(chain(file_camera("cam", 5))), calling({{"program", results.taker()}})};
  CHECK_THROWS_WITH_AS(
    run.input("cam"), doctest::Contains("is no stream with camera `push`"), failure);
  CHECK_THROWS_WITH_AS(
    run.input("none"), doctest::Contains("is no stream with camera `push`"), failure);
  check_ledger(run.finish());
}

TEST_CASE("progress and metrics may be asked at any time") {
  collected_results results;
  running run{
    graph::from_text(chain(file_camera("cam", 200))), calling({{"program", results.taker()}})};
  wait_for("the end", [&] {
    const auto p = run.progress();
    CHECK(p.ledger.ended() <= p.ledger.captured);
    CHECK(p.expected == 200);
    const auto metrics = run.metrics();
    for (const auto* name : {"hyperframes_captured_frames", "hyperframes_stream_clock_drift",
                             "hyperframes_edge_average_depth", "hyperframes_stage_busy_nanoseconds"})
      CHECK_MESSAGE(metrics.find(name) != std::string::npos, name);
    return run.finished();
  });
  const auto summary = run.finish();
  CHECK(results.count() == 200);
  check_ledger(summary);
}

TEST_CASE("a wrong graph throws all of its faults") {
  auto text = chain(file_camera("cam", 5));
  text = with(with(text, "size: 8", "size: 0"), "type: unbundle", "type: unbundel");
  try {
    graph::from_text(text, "test.yaml");
    FAIL("it started");
  } catch (const graph_error& e) {
    REQUIRE(e.faults().size() == 2);
    CHECK(e.faults()[0].where.to_string() == "test.yaml:7:50");
    CHECK(std::string{e.what()}.find("did you mean 'unbundle'?") != std::string::npos);
  }
}

TEST_CASE("a camera that hangs does not hang the end: its stream ends and the ledger closes") {
  const auto hangs = std::make_shared<gate>();
  auto kinds = built_in();
  camera_description d;
  d.name = "hanging";
  d.summary = "Hangs.";
  d.make = [hangs](const settings&, const std::string&) {
    return std::make_unique<hanging_camera>(hangs);
  };
  kinds.cameras.add(std::move(d));
  collected_results results;
  {
    running run{graph::from_text(chain("  - { id: cam, camera: { type: hanging } }\n"), "test", {}, kinds),
                calling({{"program", results.taker()}})};
    hangs->wait_until_entered();
    run.stop();
    const auto summary = run.finish();
    check_ledger(summary);
    CHECK(summary.ledger.captured == 3);
  }
  CHECK(results.fault() == "");
  CHECK(results.count() == 3);
  hangs->release();
}

TEST_CASE("a sink that hangs does not hang the end: it is left behind and counted") {
  const auto hangs = std::make_shared<gate>();
  {
    running run{graph::from_text(chain(file_camera("cam", 200))),
                calling({{"program", [hangs](const item&) { hangs->pass(); }}})};
    hangs->wait_until_entered();
    run.stop();
    const auto summary = run.finish(std::chrono::milliseconds{100});
    CHECK(summary.left_behind.size() == 1);
    CHECK(summary.ledger.captured == summary.ledger.ended() + summary.in_flight);
  }
  hangs->release();
}

TEST_CASE("an unbundle that fails closes the accounts, and the sinks below it end") {
  auto kinds = built_in();
  auto failing = describe_unbundle();
  failing.name = "failing";
  failing.make = [real = failing.make](const stage_plan& plan) {
    return std::make_unique<failing_unbundle>(real(plan));
  };
  kinds.stages.add(std::move(failing));
  collected_results results;
  running run{graph::from_text(with(chain(file_camera("cam", 500)), "type: unbundle", "type: failing"), "test", {}, kinds),
              calling({{"program", results.taker()}})};
  const auto summary = run.finish();
  CHECK(summary.failed == "unbundle: one result too many");
  CHECK(results.fault() == "");
  CHECK(results.count() > 0);
  CHECK(count_of(summary.ledger, outcome::delivered) == results.count());
  CHECK(summary.ledger.captured == summary.ledger.ended() + summary.in_flight);
}

TEST_CASE("a program that pushes learns that the graph has ended") {
  collected_results results;
  running run{
    graph::from_text(chain("  - { id: cam, camera: { type: push, size: 16x16, live: false } }\n")),
    calling({{"program", results.taker()}})};
  const auto port = run.input("cam");
  std::uint64_t taken = 0;
  std::atomic<bool> one_is_in{false};
  auto last = push_result::taken;
  std::thread program{[&] {
    const std::vector<std::byte> pixels(16 * 16 * 3, std::byte{100});
    while (last == push_result::taken) {
      last = port->push_for(
        pixels, capture_time{std::chrono::milliseconds{taken}}, std::chrono::minutes{1});
      taken += last == push_result::taken ? 1 : 0;
      one_is_in = true;
    }
  }};
  wait_for("a frame", [&] { return one_is_in.load(); });
  run.drain();
  program.join();
  CHECK(last == push_result::closed);
  const auto summary = run.finish();
  CHECK(port->push({}, {}) == push_result::closed);
  CHECK(results.fault() == "");
  CHECK(summary.ledger.captured <= taken);
  CHECK(results.count() == summary.ledger.captured);
  check_ledger(summary);
}

TEST_CASE("a graph may end on another thread than it began on, which lives on") {
  collected_results results;
  auto run = std::make_unique<running>(
    graph::from_text(chain(file_camera("cam", 16))), calling({{"program", results.taker()}}));
  run_summary summary;
  std::thread{[&] {
    summary = run->finish();
    run = nullptr;
  }}.join();
  CHECK(results.count() == 16);
  check_ledger(summary);
}
