#pragma once

#include "runtime/stage.hpp"
#include "runtime/stream_stats.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

/// What the tests of align, bundle and schedule share: a host that records, on a time line of its
/// own.
namespace hyperframes {

constexpr graph_time operator""_ms(unsigned long long ms) {
  return graph_time{std::chrono::milliseconds{ms}};
}

/// Drives one stage and keeps what it did.
class fake_context final : public stage_context {
public:
  using sent_entry = std::variant<item, stream_end>;

  graph_time now() const override { return now_; }
  void emit(item i, std::size_t output) override {
    if (on_emit)
      on_emit(i);
    if (output > 0) {
      sent_aside.push_back(std::move(i));
      return;
    }
    sent.emplace_back(std::move(i));
    if (credit_left > 0)
      --credit_left;
  }
  void emit(const stream_end& end) override { sent.emplace_back(end); }
  void settle(const outcome_range& range) override { outcomes.push_back(range); }
  void discarded(stream_index, std::uint64_t frames) override { frames_discarded += frames; }
  void wake_at(graph_time t) override { wake_ = std::min(wake_, t); }
  std::uint32_t credit(std::size_t, stream_index) const override {
    ++credits_asked;
    return credit_left;
  }
  void release(std::uint32_t count) override { released += count; }
  void submit(blocking_work) override {}
  std::function<void()> poke() override {
    return [n = pokes] { ++*n; };
  }
  void ready() override {}
  void done() override {}
  void copied(std::size_t bytes) override { bytes_copied += bytes; }
  void worked(duration cpu) override { cpu_time += cpu; }
  stream_stats& numbers(stream_index stream) override { return stats[stream]; }
  void injected(const std::string& kind, const std::string&) override { ++faults[kind]; }
  void alarm(std::string sentence) override { alarms.push_back(std::move(sentence)); }

  /// Moves time on and wakes `s` whenever it asked for it; a time that `t` itself meets stays open,
  /// as arrivals come first.
  void advance_to(graph_time t, stage& s) {
    while (wake_ < t)
      wake_now(s);
    now_ = std::max(now_, t);
  }
  /// Wakes `s` at the time that it asked for.
  void wake_now(stage& s) {
    now_ = std::max(now_, wake_);
    wake_ = never;
    s.on_wake(*this);
  }
  graph_time wake() const { return wake_; }

  /// What was sent of one type, in order.
  template <class T>
  std::vector<T> items() const {
    std::vector<T> result;
    for (const auto& e : sent)
      if (const auto* i = std::get_if<item>(&e))
        if (const auto* value = std::get_if<T>(i))
          result.push_back(*value);
    return result;
  }

  std::function<void(const item&)> on_emit; ///< runs before an item leaves; may throw
  std::vector<sent_entry> sent; ///< by the first output
  std::vector<item> sent_aside; ///< by the others
  std::vector<outcome_range> outcomes;
  std::vector<std::string> alarms;
  std::map<stream_index, stream_stats> stats;
  std::map<std::string, std::uint64_t> faults; ///< injected, by kind
  std::uint32_t credit_left = 1'000'000;
  mutable std::uint64_t credits_asked = 0;
  std::uint32_t released = 0;
  std::shared_ptr<std::atomic<int>> pokes = std::make_shared<std::atomic<int>>(0); ///< by any thread
  std::uint64_t frames_discarded = 0;
  std::size_t bytes_copied = 0;
  duration cpu_time{};

private:
  graph_time now_{};
  graph_time wake_ = never;
};

/// "stream:id" of ranges and frames, such as "0:3 dropped (stale)".
inline std::string in_words(const outcome_range& r) {
  auto text = std::to_string(r.stream) + ':' + std::to_string(r.first);
  if (r.count > 1)
    text += '-' + std::to_string(r.first + r.count - 1);
  return text + ' ' + to_string(r.what) + " (" + to_string(r.why) + ')';
}

/// Counts that every frame leaves exactly once and that each stream's frames leave in order.
class frame_accounts {
public:
  void captured(const frame_meta& m) { captured_.insert(key(m)); }
  /// A frame left with an item, as own.
  void sent(const frame_meta& m) {
    end(m.stream, m.epoch, m.frame_id);
    auto& last = last_sent_[m.stream];
    ordered_ = ordered_ && (last.second == 0 || last.first < m.position());
    last = {m.position(), 1};
  }
  void ended(const outcome_range& r) {
    for (std::uint64_t i = 0; i < r.count; ++i)
      end(r.stream, r.epoch, r.first + i);
  }
  bool once() const { return once_; }        ///< no frame left twice, none that was never captured
  bool in_order() const { return ordered_; } ///< of what was sent
  std::uint64_t in_flight() const { return captured_.size() - ended_.size(); }

private:
  using id = std::tuple<stream_index, std::uint32_t, std::uint64_t>;
  static id key(const frame_meta& m) { return {m.stream, m.epoch, m.frame_id}; }
  void end(stream_index s, std::uint32_t epoch, std::uint64_t frame) {
    const id k{s, epoch, frame};
    once_ = once_ && captured_.contains(k) && ended_.insert(k).second;
  }
  std::set<id> captured_, ended_;
  std::map<stream_index, std::pair<frame_position, int>> last_sent_;
  bool once_ = true, ordered_ = true;
};

/// A plan for `d` with its defaults and `own` on top.
inline stage_plan plan_with(
  const stage_description& d, const settings& own, std::shared_ptr<const graph_facts> graph) {
  auto all = std::make_shared<settings>();
  for (const auto& p : d.parameters)
    if (p.initial)
      all->set(p.name, *p.initial);
  for (const auto& [name, value] : own.all())
    all->set(name, value);
  stage_plan plan;
  plan.name = d.name;
  plan.config = all;
  plan.graph = std::move(graph);
  for (stream_index s = 0; s < plan.graph->streams.size(); ++s)
    plan.streams.push_back(s);
  return plan;
}

/// Graph with groups of `members` streams each, all with the same facts.
inline std::shared_ptr<graph_facts>
cameras(std::uint32_t groups, std::uint32_t members, bool live, double fps = 30) {
  auto g = std::make_shared<graph_facts>();
  g->node = 2;
  g->run = 7;
  for (std::uint32_t i = 0; i < groups; ++i) {
    auto& group = g->groups.emplace_back();
    group.name = "group" + std::to_string(i);
    for (std::uint32_t m = 0; m < members; ++m) {
      group.streams.push_back(static_cast<stream_index>(g->streams.size()));
      stream_facts s;
      s.id = group.name + ".cam" + std::to_string(m);
      s.group = i;
      s.member = m;
      s.fps = fps;
      s.live = live;
      s.media = make_video_type(video_format::packed(pixel_format::gray8, 4, 2));
      g->streams.push_back(std::move(s));
    }
  }
  return g;
}

/// The faults that the description's check finds in `own`, each as its sentence.
inline std::vector<std::string> faults_of(const stage_description& d, const settings& own) {
  settings all;
  for (const auto& p : d.parameters)
    if (p.initial)
      all.set(p.name, *p.initial);
  for (const auto& [name, value] : own.all())
    all.set(name, value);
  std::vector<fault> faults;
  if (d.check)
    d.check(all, {}, faults);
  std::vector<std::string> result;
  for (auto& f : faults)
    result.push_back(std::move(f.message));
  return result;
}

} // namespace hyperframes
