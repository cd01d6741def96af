#include "actors/capture.hpp"
#include "graphs/hyperframes.hpp"
#include "tools/bench/hop.hpp"
#include "tools/bench/measure.hpp"

#include <atomic>
#include <thread>

namespace hyperframes::bench {

namespace {

/// Sends frames that are there already: all that it has credit for, or one at each moment of the
/// pace.
class feeder final : public stage {
public:
  feeder(const chain_load& load, const stage_plan& plan)
    : load_(load),
      captured_(dynamic_cast<const capture_resource&>(*plan.resource).captured),
      pool_(1, 64) {
    content_.meta.stream = plan.streams.front();
    content_.media = plan.graph->streams[content_.meta.stream].media;
    content_.buffer = pool_.acquire();
  }

  void run(stage_context& c) override {
    if (load_.every == duration{0})
      due_ = load_.frames;
    if (due_ > 0)
      return send(c);
    clock_ = std::jthread{[this, poke = c.poke()](const std::stop_token& stop) {
      pace due{load_.every};
      for (std::uint64_t i = 0; i < load_.frames && !stop.stop_requested(); ++i) {
        due.wait();
        ++due_;
        poke();
      }
    }};
  }
  void on_poke(stage_context& c) override { send(c); }
  void on_credit(stream_index, stage_context& c) override { send(c); }
  void on_item(item, stage_context&) override {}
  void give_up(outcome, reason, outcome_batch&) noexcept override {}
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  void send(stage_context& c) {
    while (sent_ < due_ && c.credit(0, content_.meta.stream) > 0) {
      content_.meta.frame_id = sent_++;
      captured_(content_.meta);
      c.emit(content_);
    }
    if (sent_ == load_.frames && !std::exchange(ended_, true))
      c.emit(stream_end{content_.meta.stream, 0, sent_, true});
  }

  chain_load load_;
  std::function<void(const frame_meta&)> captured_;
  buffer_pool pool_;
  frame content_;
  std::atomic<std::uint64_t> due_{0};
  std::uint64_t sent_ = 0;
  bool ended_ = false;
  std::jthread clock_;
};

class idle final : public stage {
public:
  void on_item(item i, stage_context& c) override { c.emit(std::move(i)); }
  void give_up(outcome, reason, outcome_batch&) noexcept override {}
  std::uint64_t held_frames() const noexcept override { return 0; }
};

} // namespace

double hyperframes_chain(const chain_load& load) {
  auto kinds = built_in();
  stage_description feed;
  feed.name = "feed";
  feed.outputs = {{"out", {port_type::frame}}};
  feed.make = [load](const stage_plan& plan) { return std::make_unique<feeder>(load, plan); };
  kinds.stages.add(std::move(feed));
  stage_description pass;
  pass.name = "pass";
  pass.inputs = {{"in", {port_type::frame}}};
  pass.outputs = {{"out", {port_type::frame}}};
  pass.make = [](const stage_plan&) { return std::make_unique<idle>(); };
  kinds.stages.add(std::move(pass));

  std::string text =
    "hyperframes: 1\n"
    "name: hop\n"
    "streams: [{ id: s, camera: { type: push, size: 16x16, format: gray8, live: false } }]\n"
    "stages:\n"
    "  s0: { type: feed }\n";
  for (unsigned i = 1; i <= load.stages; ++i)
    text += "  s" + std::to_string(i) + ": { type: pass, from: s" + std::to_string(i - 1) + " }\n";
  text += "  sink: { type: \"null\", from: s" + std::to_string(load.stages) + " }\n";
  const auto g = graph::from_text(text, "hop", {}, kinds);

  const auto before = cpu_seconds();
  running run{g};
  run.wait(std::chrono::minutes{5});
  const auto summary = run.finish();
  const auto used = cpu_seconds() - before;
  if (!summary.closed() || summary.ledger.ended() != load.frames)
    throw failure(make_error(errc::stage_failed, "hop", "the ledger is open"));
  return used;
}

} // namespace hyperframes::bench
