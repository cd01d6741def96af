// Workers of `infer` that hang, vanish or throw: what becomes of their batches, and of the others'.
#include "actors/infer.hpp"
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

/// What happens at the n-th batch; shared by all sessions of a run.
struct script {
  enum class act : std::uint8_t { work, hang, vanish };
  std::vector<std::pair<int, act>> at; ///< batches that are none of the warm-up's
  std::shared_ptr<gate> hangs = std::make_shared<gate>();
  bool spares_retries = false; ///< a batch that vanished works the next time, and counts once
  std::mutex mutex;
  int batches = 0, sessions = 0;
  std::vector<const std::byte*> vanished; ///< tensors, in use until their retry is over

  act next(const infer_input& input) {
    const std::lock_guard lock{mutex};
    if (spares_retries && std::erase(vanished, input.data.data()) > 0)
      return act::work;
    const auto n = batches++;
    const auto found = std::ranges::find(at, n, &std::pair<int, act>::first);
    const auto what = found == at.end() ? act::work : found->second;
    if (what == act::vanish)
      vanished.push_back(input.data.data());
    return what;
  }
};

class scripted_session final : public infer_session {
public:
  explicit scripted_session(std::shared_ptr<script> s) : script_(std::move(s)) {}
  expected<recycled_vector<inference_ptr>> run(const infer_input& input) override {
    // Never destroyed: a session that hung may come back when the process ends.
    static const auto& nothing = *new inference_ptr{std::make_shared<const inference>()};
    if (!std::exchange(warm_, true))
      return recycled_vector<inference_ptr>(input.slots, nothing);
    switch (script_->next(input)) {
      case script::act::hang:
        script_->hangs->pass();
        break;
      case script::act::vanish:
        throw worker_lost("its device is gone");
      case script::act::work:
        break;
    }
    return recycled_vector<inference_ptr>(input.slots, nothing);
  }

private:
  std::shared_ptr<script> script_;
  bool warm_ = false;
};

class scripted_model final : public model {
public:
  explicit scripted_model(std::shared_ptr<script> s) : script_(std::move(s)) {
    pack_.width = pack_.height = 8;
  }
  std::string summary() const override { return "a scripted model"; }
  const pack_spec& input() const override { return pack_; }
  std::uint32_t fixed_batch() const override { return 0; }
  std::uint32_t time_axis() const override { return 0; }
  bool result_per_slot() const override { return true; }
  label_names labels() const override { return nullptr; }
  expected<std::unique_ptr<infer_session>> make_session() const override {
    const std::lock_guard lock{script_->mutex};
    ++script_->sessions;
    return std::unique_ptr<infer_session>{std::make_unique<scripted_session>(script_)};
  }

private:
  std::shared_ptr<script> script_;
  pack_spec pack_;
};

catalogues with_script(std::shared_ptr<script> s) {
  auto kinds = built_in();
  auto infer = describe_infer();
  infer.name = "scripted";
  infer.load = [s](const settings& config, const std::string&) -> expected<stage_resource_ptr> {
    auto resource = std::make_shared<model_resource>();
    resource->loaded = std::make_shared<scripted_model>(s);
    resource->summary = resource->loaded->summary();
    resource->tensor = resource->loaded->input();
    resource->result_per_slot = true;
    resource->batch_slots = static_cast<std::uint32_t>(config.group("batch").integer("max"));
    return stage_resource_ptr{std::move(resource)};
  };
  kinds.stages.add(std::move(infer));
  return kinds;
}

struct run_of {
  collected_results results;
  std::vector<std::string> alarms;
  run_summary summary;
};

/// 80 frames in hyperframes and batches of eight.
void run_script(
  const std::shared_ptr<script>& s, int workers, const std::string& hang_after, run_of& into) {
  std::mutex mutex;
  const auto text = with(
    chain(file_camera("cam", 80)), "type: infer, from: schedule, model: " + small_model,
    "type: scripted, from: schedule, workers: " + std::to_string(workers)
      + ", hang_after: " + hang_after);
  auto options = calling({{"program", into.results.taker()}}, [&](const event& e) {
    const std::lock_guard lock{mutex};
    into.alarms.push_back(e.where + ": " + e.sentence);
  });
  running run{graph::from_text(text, "test", {}, with_script(s)), std::move(options)};
  into.summary = run.finish(std::chrono::seconds{2});
  CHECK(into.results.fault() == "");
  CHECK(into.results.count() == 80);
}

} // namespace

TEST_CASE("a worker that hangs is replaced, and nothing is lost") {
  for (const int workers : {1, 3}) {
    CAPTURE(workers);
    const auto s = std::make_shared<script>();
    s->at = {{3, script::act::hang}};
    run_of run;
    run_script(s, workers, "100ms", run);
    CHECK(count_of(run.summary.ledger, outcome::delivered) == 80);
    CHECK(run.summary.in_flight == 0);
    REQUIRE(run.summary.left_behind.size() == 1);
    CHECK(run.summary.left_behind[0].starts_with("infer, worker "));
    if (workers == 1) // others may have done all the work before the new one is warm
      CHECK(s->sessions == 2);
    REQUIRE(!run.alarms.empty()); // a second one, where the end waits for it
    CHECK(run.alarms[0].find(" hangs: it has been at one batch for 1") != std::string::npos);
    CHECK(run.alarms[0].ends_with("; a new one takes its place"));
    s->hangs->release();
  }
}

TEST_CASE("a batch that brings two workers down is quarantined, the others are delivered") {
  const auto s = std::make_shared<script>();
  s->at = {
    {2, script::act::vanish}, {3, script::act::vanish}}; // one worker: the second one is the retry
  run_of run;
  run_script(s, 1, "10s", run);
  CHECK(count_of(run.summary.ledger, outcome::delivered) == 72);
  CHECK(count_of(run.summary.ledger, reason::quarantined) == 8);
  for (std::uint64_t id = 16; id < 24; ++id)
    CHECK(run.results.of(0)[id]->why == reason::quarantined);
  CHECK(
    run.alarms
    == std::vector<std::string>{
      "infer: worker 0 is lost: its device is gone; a new one takes its place",
      "infer: worker 0 is lost: its device is gone; a new one takes its place, and the batch is "
      "not tried "
      "again"});
  check_ledger(run.summary);
}

TEST_CASE("a model that fails is told with the frames that it failed on") {
  std::vector<std::string> told;
  const auto text = with(
    chain(file_camera("cam", 80)), "type: infer, from: schedule, model: " + small_model,
    "type: infer, from: schedule, backend: simulated, faults: [ { kind: throw, at: [3] } ]");
  const auto summary = run_virtually(
    graph::from_text(text), never, calling({{"program", [](const item&) {}}}, [&](const event& e) {
      told.push_back(e.where + ": " + e.sentence);
    }));
  CHECK(count_of(summary.ledger, outcome::failed) == 1);
  REQUIRE(told.size() == 1);
  CHECK(
    told[0].starts_with("infer: 1 frame of a batch failed, the first is frame 24 of 'cam': "));
  CHECK(told[0].ends_with("a fault that was asked for: the model throws"));
}

TEST_CASE("a worker that vanishes costs nobody a frame") {
  const auto s = std::make_shared<script>();
  s->at = {{0, script::act::vanish}, {9, script::act::vanish}};
  s->spares_retries = true; // which may come at any time, so also as the tenth
  run_of run;
  run_script(s, 3, "10s", run);
  CHECK(s->batches == 10); // both retries were spared
  CHECK(count_of(run.summary.ledger, outcome::delivered) == 80);
  CHECK(run.alarms.size() == 2);
  check_ledger(run.summary);
}

TEST_CASE("a drain or a stop with a worker that hangs is bounded: what is held is stopped, the "
          "ledger closes") {
  for (const bool stops : {false, true}) {
    CAPTURE(stops);
    const auto s = std::make_shared<script>();
    s->at = {{2, script::act::hang}};
    collected_results results;
    const auto text = with(
      chain(file_camera("cam", 80)), "type: infer, from: schedule, model: " + small_model,
      "type: scripted, from: schedule, workers: 1, hang_after: 1h");
    {
      running run{
        graph::from_text(text, "test", {}, with_script(s)),
        calling({{"program", results.taker()}})};
      s->hangs->wait_until_entered();
      if (stops)
        run.stop();
      else
        run.drain();
      const auto begin = std::chrono::steady_clock::now();
      const auto summary = run.finish(std::chrono::milliseconds{200});
      CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{30});
      CHECK(summary.in_flight == 0);
      CHECK(summary.ledger.captured == summary.ledger.ended());
      CHECK(count_of(summary.ledger, outcome::delivered) == 16);
      CHECK(count_of(summary.ledger, reason::stopped) == summary.ledger.captured - 16);
      CHECK(summary.left_behind.size() == 1);
    }
    CHECK(results.fault() == "");
    s->hangs->release();
  }
}

TEST_CASE("on the virtual clock, too, a drain with a worker that hangs is bounded") {
  const auto text = with(
    chain(file_camera("cam", 80)), "type: infer, from: schedule, model: " + small_model,
    "type: infer, from: schedule, backend: simulated, hang_after: 1h, faults: [ { kind: hang, at: "
    "[2] } ]");
  const auto summary = run_virtually(
    graph::from_text(text), graph_time{std::chrono::seconds{2}},
    calling({{"program", [](const item&) {}}}));
  CHECK(summary.closed());
  CHECK(summary.wall <= std::chrono::seconds{13});
  CHECK(count_of(summary.ledger, outcome::delivered) == 16);
  CHECK(count_of(summary.ledger, reason::stopped) == summary.ledger.captured - 16);
}

TEST_CASE("what is queued expires while the only worker is busy, shows as gaps in order, and makes "
          "room for more") {
  constexpr std::uint64_t frames = 400; // far more than all queues and tensors hold
  const auto s = std::make_shared<script>();
  s->at = {{0, script::act::hang}};
  std::atomic<std::uint64_t> seen[2] = {0, 0};
  std::atomic<std::uint64_t> odd{0};
  collected_results results{[&](const frame_result& r) {
    ++seen[r.meta.stream];
    if (r.what == outcome::expired && (r.why != reason::ttl || r.inferred))
      ++odd;
  }};
  const auto infer = with(
    chain(file_camera("a", frames) + file_camera("b", frames)),
    "type: infer, from: schedule, model: " + small_model,
    "type: scripted, from: schedule, workers: 1, hang_after: 1h, batch: { max: 8 }");
  const auto text =
    with(infer, "type: schedule, from: bundle", "type: schedule, from: bundle, ttl: 50ms");
  running run{
    graph::from_text(text, "test", {}, with_script(s)), calling({{"program", results.taker()}})};
  s->hangs->wait_until_entered();
  // The worker holds a hyperframe of one stream: the other one comes to its end all the same.
  wait_for("the other stream's gaps", [&] { return seen[0] == frames || seen[1] == frames; });
  const auto other = seen[0] == frames ? 0U : 1U;
  CHECK(seen[1 - other] == 0); // behind the hyperframe that is in work
  CHECK_FALSE(run.finished());
  s->hangs->release();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  CHECK(odd == 0);
  CHECK(count_of(summary.streams[other].sums, reason::ttl) == frames);
  CHECK(results.of(1 - other)[0]->what == outcome::delivered);
  CHECK(
    count_of(summary.streams[1 - other].sums, outcome::expired)
      + count_of(summary.streams[1 - other].sums, outcome::delivered)
    == frames);
  check_ledger(summary);
}

TEST_CASE("what others finish while a worker hangs fits the reorder space: nothing is lost") {
  const auto g = graph::from_text(
    "hyperframes: 1\n"
    "streams:\n"
    + file_camera("cam", 2'000)
    + "stages:\n"
      "  capture:  { type: capture }\n"
      "  bundle:   { type: bundle, from: capture, size: 1 }\n"
      "  schedule: { type: schedule, from: bundle }\n"
      "  infer:    { type: infer, from: schedule, backend: simulated, simulated: { fixed: 1ms, "
      "per_slot: 0ms },\n"
      "              workers: 3, batch: { max: 1 }, hang_after: 2s, faults: [ { kind: hang, at: "
      "[2] } ] }\n"
      "  unbundle: { type: unbundle, from: infer }\n"
      "  program:  { type: callback, from: unbundle }\n");
  collected_results results;
  const auto summary = run_virtually(g, never, calling({{"program", results.taker()}}));
  CHECK(results.fault() == "");
  CHECK(count_of(summary.ledger, outcome::delivered) == 2'000);
  check_ledger(summary);
}
