#pragma once

#include "actors/sinks/sinks.hpp"
#include "tests/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// What the tests of sinks share: a host that records, plans, files.
namespace hyperframes {

/// Drives one sink on a time line of its own; work that may block runs when the test says so.
class sink_context final : public stage_context {
public:
  graph_time now() const override { return now_; }
  void emit(item, std::size_t) override { FAIL("a sink emits nothing"); }
  void emit(const stream_end&) override { FAIL("a sink emits nothing"); }
  void settle(const outcome_range&) override { FAIL("a sink settles nothing itself"); }
  stream_stats& numbers(stream_index) override { throw std::logic_error("a sink knows no streams"); }
  void injected(const std::string&, const std::string&) override { FAIL("a sink injects no faults"); }
  void discarded(stream_index, std::uint64_t) override { FAIL("only what settles discards"); }
  void wake_at(graph_time t) override { wake_ = std::min(wake_, t); }
  std::uint32_t credit(std::size_t, stream_index) const override { return 0; }
  void release(std::uint32_t count) override { released += count; }
  void submit(blocking_work w) override { work.push_back(std::move(w)); }
  std::function<void()> poke() override { return [] {}; }
  void ready() override {}
  void done() override { is_done = true; }
  void copied(std::size_t bytes) override { bytes_copied += bytes; }
  void worked(duration cpu) override { cpu_time += cpu; }
  void alarm(std::string sentence) override { alarms.push_back(std::move(sentence)); }

  /// Moves time on and wakes the stage as often as it asked for it.
  void advance_to(graph_time t, stage& s) {
    while (wake_ <= t) {
      now_ = std::max(now_, wake_);
      wake_ = never;
      s.on_wake(*this);
    }
    now_ = t;
  }
  /// Does the oldest piece of work and hands over what it gave.
  void work_once(stage& s) {
    auto w = std::move(work.front());
    work.pop_front();
    s.on_done(w.lane, w.run(), *this);
  }

  bool is_done = false;
  std::uint32_t released = 0;
  std::size_t bytes_copied = 0;
  duration cpu_time{};
  std::deque<blocking_work> work;
  std::vector<std::string> alarms;

private:
  graph_time now_{};
  graph_time wake_ = never;
};

inline graph_time at_ms(std::int64_t ms) {
  return graph_time{std::chrono::milliseconds{ms}};
}

using test::scratch_folder;

inline std::string text_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Two streams, cam1 and cam2, of one group.
inline std::shared_ptr<graph_facts> two_cameras() {
  auto facts = std::make_shared<graph_facts>();
  facts->streams.resize(2);
  facts->streams[0].id = "cam1";
  facts->streams[0].truth_labels = {"good", "scratched"};
  facts->streams[1].id = "cam2";
  facts->streams[1].member = 1;
  facts->groups = {{"station", {0, 1}}};
  return facts;
}

/// A plan with the description's defaults and `own` on top, below an unbundle.
inline stage_plan plan_for(const stage_description& d, const settings& own,
                           std::vector<stream_index> streams = {0}) {
  auto all = std::make_shared<settings>();
  for (const auto& p : d.parameters)
    if (p.initial)
      all->set(p.name, *p.initial);
  for (const auto& [name, value] : own.all())
    all->set(name, value);
  stage_plan plan;
  plan.name = "results";
  plan.config = all;
  plan.graph = two_cameras();
  plan.streams = std::move(streams);
  return plan;
}

/// The same where no unbundle stands above: the sink ends accounts.
inline stage_plan settling(stage_plan plan) {
  plan.settles = true;
  return plan;
}

inline frame_meta meta_of(std::uint64_t id, stream_index stream = 0, std::uint32_t epoch = 0) {
  frame_meta m;
  m.stream = stream;
  m.epoch = epoch;
  m.frame_id = id;
  m.trace_id = 100 + id;
  m.captured = capture_time{std::chrono::milliseconds{40 * id}};
  m.arrived = arrival_time{std::chrono::milliseconds{40 * id + 5}};
  m.timeline = graph_time{std::chrono::milliseconds{40 * id + 1}};
  return m;
}

inline slot slot_of(const frame_meta& m, bool valid, bool own, reason absent = reason::none) {
  slot s;
  s.meta = m;
  s.valid = valid;
  s.own = own;
  s.absent = absent;
  return s;
}

inline std::shared_ptr<frame_result> result_of(std::uint64_t id, stream_index stream = 0) {
  auto r = std::make_shared<frame_result>();
  r->meta = meta_of(id, stream);
  return r;
}

inline item as_item(std::shared_ptr<frame_result> r) {
  return item{frame_result_ptr{std::move(r)}};
}

/// @returns the sentence that `action` throws as a `failure`.
template <class Action>
std::string failure_of(Action&& action) {
  try {
    action();
  } catch (const failure& f) {
    return f.what();
  }
  return "(nothing was thrown)";
}

} // namespace hyperframes
