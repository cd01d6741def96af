// How much it brings that stages overlap: as many frames under way as the depth says.
#include "graphs/hyperframes.hpp"
#include "tools/bench/benchmarks.hpp"

#include <deque>
#include <semaphore>
#include <thread>

namespace hyperframes::bench {

namespace {

constexpr std::uint64_t frames = 400;

/// Takes a set time off the CPU for each frame, one after the other.
class taking final : public stage {
public:
  explicit taking(duration time) : time_(time) {}
  void on_item(item i, stage_context& c) override {
    held_.push_back(std::get<frame>(std::move(i)));
    c.submit({0, [time = time_] {
                std::this_thread::sleep_for(time);
                return std::shared_ptr<void>{};
              }});
  }
  void on_done(std::uint32_t, std::shared_ptr<void>, stage_context& c) override {
    auto first = std::move(held_.front());
    held_.pop_front();
    c.emit(std::move(first));
    if (held_.empty() && end_)
      c.emit(*end_);
  }
  void on_end(const stream_end& end, stage_context& c) override {
    if (held_.empty())
      c.emit(end);
    else
      end_ = end;
  }
  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    for (const auto& f : std::exchange(held_, {}))
      into.add(f.meta, what, why);
  }
  std::uint64_t held_frames() const noexcept override { return held_.size(); }

private:
  duration time_;
  std::deque<frame> held_;
  std::optional<stream_end> end_;
};

stage_description taking_description(const char* name, duration time) {
  stage_description d;
  d.name = name;
  d.inputs = {{"in", {port_type::frame}}};
  d.outputs = {{"out", {port_type::frame}}};
  d.make = [time](const stage_plan&) { return std::make_unique<taking>(time); };
  return d;
}

} // namespace

double fps_at_depth(unsigned depth) {
  using namespace std::chrono_literals;
  auto kinds = built_in();
  kinds.stages.add(taking_description("takes_pack", 1ms));
  kinds.stages.add(taking_description("takes_schedule", 1ms));
  const auto g = graph::from_text(
    R"(
hyperframes: 1
name: depth
streams: [{ id: line, camera: { type: push, size: 32x32, format: gray8, live: false } }]
stages:
  capture:        { type: capture }
  takes_pack:     { type: takes_pack, from: capture }
  takes_schedule: { type: takes_schedule, from: takes_pack }
  bundle:         { type: bundle, from: takes_schedule, size: 1 }
  schedule:       { type: schedule, from: bundle }
  infer:          { type: infer, from: schedule, backend: simulated, batch: { max: 1 },
                    simulated: { fixed: 1285714ns, per_slot: 714286ns } }
  unbundle:       { type: unbundle, from: infer }
  program:        { type: callback, from: unbundle }
)",
    "depth", {}, kinds);
  std::counting_semaphore<> room{static_cast<std::ptrdiff_t>(depth)};
  running run{g, {.callbacks = {{"program", [&](const item&) { room.release(); }}}}};
  const auto line = run.input("line");
  const std::vector<std::byte> pixels(32 * 32);
  const auto begin = wall_seconds();
  for (std::uint64_t n = 0; n < frames; ++n) {
    room.acquire();
    std::this_thread::sleep_for(500us); // acquires it
    line->push_for(pixels, capture_time{n * 1ms}, 10s);
  }
  for (unsigned n = 0; n < depth; ++n)
    room.acquire();
  const auto took = wall_seconds() - begin;
  line->close();
  if (!run.finish().closed())
    throw failure(make_error(errc::stage_failed, "accelerator", "the ledger is open"));
  return static_cast<double>(frames) / took;
}

} // namespace hyperframes::bench
