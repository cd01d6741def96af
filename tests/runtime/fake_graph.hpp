#pragma once

#include "runtime/actor_executor.hpp"
#include "runtime/stage_host.hpp"
#include "runtime/supervisor.hpp"
#include "runtime/virtual_executor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace hyperframes {

/// A source that numbers frames by a timer, or as fast as the edge takes them.
class fake_source final : public stage {
public:
  struct settings {
    std::uint64_t frames = 10; ///< per stream
    duration every{};          ///< 0: as fast as there is credit
    std::uint32_t streams = 1;
    bool live = false;
    std::uint64_t throws_at = ~std::uint64_t{0}; ///< frame id; instead of capturing it
    std::size_t bytes = 0;                       ///< of each frame's content
  };
  fake_source(settings s, std::function<void(stream_index)> captured)
    : s_(s),
      captured_(std::move(captured)),
      next_(s.streams, 0),
      ended_(s.streams, false),
      pool_(s.bytes > 0 ? buffer_pool{64, s.bytes} : buffer_pool{}) {}

  void run(stage_context& c) override { pump(c); }
  void on_item(item, stage_context&) override {}
  void on_credit(stream_index, stage_context& c) override {
    if (s_.every == duration{0})
      pump(c);
  }
  void on_wake(stage_context& c) override { pump(c); }
  void drain(stage_context& c) override {
    drained_ = true;
    pump(c);
  }
  void give_up(outcome, reason, outcome_batch&) noexcept override {}
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  void pump(stage_context& c) {
    bool more = false;
    for (stream_index s = 0; s < s_.streams; ++s) {
      while (!drained_ && next_[s] < s_.frames && (s_.every > duration{0} || c.credit(0, s) > 0)) {
        if (next_[s] == s_.throws_at)
          throw std::runtime_error("no more of frame " + std::to_string(next_[s]));
        frame f;
        if (s_.bytes > 0)
          f.buffer = pool_.acquire();
        f.meta.stream = s;
        f.meta.frame_id = next_[s]++;
        captured_(s);
        c.emit(f);
        if (s_.every > duration{0})
          break;
      }
      if (!ended_[s] && (drained_ || next_[s] == s_.frames)) {
        ended_[s] = true;
        c.emit(stream_end{s, 0, next_[s], true});
      }
      more = more || !ended_[s];
    }
    if (more && s_.every > duration{0})
      c.wake_at(c.now() + s_.every);
  }

  settings s_;
  std::function<void(stream_index)> captured_;
  std::vector<std::uint64_t> next_;
  std::vector<bool> ended_;
  buffer_pool pool_;
  bool drained_ = false;
};

/// Passes frames on after some time each; fails at the frames that it is told to fail at.
class fake_worker final : public stage {
public:
  struct settings {
    duration takes{};
    std::vector<std::uint64_t> throws_at{};     ///< frame ids
    std::vector<std::uint64_t> throws_behind{}; ///< frame ids; it has sent the frame when it throws
    std::vector<std::uint64_t> work_throws_at{}; ///< frame ids; on a thread of its own
    std::vector<std::uint64_t> hangs_at{};       ///< frame ids; on the virtual clock
    bool throws_at_start = false;
    std::function<void()> at_start{}; ///< may throw
    duration warms_up{};        ///< ready so long after its start
    std::uint32_t streams = 0;  ///< that keep step: none is taken from while it is ahead of another
    std::uint64_t of_first = 1; ///< frames of the first stream for one of each other
  };
  explicit fake_worker(settings s) : s_(std::move(s)) {}

  bool start(stage_context& c) override {
    if (s_.throws_at_start)
      throw std::runtime_error("no such thing");
    if (s_.at_start)
      s_.at_start();
    if (s_.warms_up == duration{0})
      return true;
    c.submit({0, [] { return std::shared_ptr<void>{}; }, s_.warms_up});
    return false;
  }
  void on_done(std::uint32_t, std::shared_ptr<void>, stage_context& c) override { c.ready(); }
  void on_item(item i, stage_context& c) override {
    const auto id = std::get<frame>(i).meta.frame_id;
    if (s_.streams > 0)
      ++taken_.at(std::get<frame>(i).meta.stream);
    if (std::ranges::find(s_.throws_at, id) != s_.throws_at.end())
      throw std::runtime_error("frame " + std::to_string(id) + " is too much");
    if (std::ranges::find(s_.work_throws_at, id) != s_.work_throws_at.end()) {
      held_.push_back(std::move(i));
      c.submit({0, [id]() -> std::shared_ptr<void> {
                  throw std::runtime_error("frame " + std::to_string(id) + " is too much");
                }});
      return;
    }
    if (std::ranges::find(s_.hangs_at, id) != s_.hangs_at.end()) {
      held_.push_back(std::move(i));
      c.submit({0, [] { return std::shared_ptr<void>{}; }, duration::max()});
      return;
    }
    if (s_.takes == duration{0} && held_.empty()) {
      c.emit(std::move(i));
      if (std::ranges::find(s_.throws_behind, id) != s_.throws_behind.end())
        throw std::runtime_error("too late for frame " + std::to_string(id));
      return;
    }
    held_.push_back(std::move(i));
    if (held_.size() == 1)
      c.wake_at(c.now() + s_.takes);
  }
  bool takes(stream_index stream) const override {
    if (s_.streams == 0)
      return true;
    auto least = ~std::uint64_t{0};
    for (stream_index s = 0; s < s_.streams; ++s)
      if (std::ranges::find(over_, s) == over_.end())
        least = std::min(least, share(s));
    return share(stream) <= least;
  }
  void on_wake(stage_context& c) override {
    if (held_.empty())
      return;
    c.emit(std::move(held_.front()));
    held_.pop_front();
    if (!held_.empty())
      c.wake_at(c.now() + s_.takes);
    pass_ends(c);
  }
  void on_end(const stream_end& end, stage_context& c) override {
    ends_.push_back(end);
    over_.push_back(end.stream);
    pass_ends(c);
  }
  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    for (const auto& i : held_)
      add_outcomes(i, what, why, into);
    held_.clear();
  }
  std::uint64_t held_frames() const noexcept override { return held_.size(); }

private:
  void pass_ends(stage_context& c) {
    if (held_.empty())
      for (const auto& end : std::exchange(ends_, {}))
        c.emit(end);
  }
  std::uint64_t share(stream_index s) const { return taken_.at(s) / (s == 0 ? s_.of_first : 1); }
  settings s_;
  std::vector<stream_index> over_;
  std::vector<std::uint64_t> taken_ = std::vector<std::uint64_t>(s_.streams, 0); ///< by stream
  std::deque<item> held_;
  std::vector<stream_end> ends_;
};

/// A stage with a queue of its own: `at_once` items are in work, and take some time each.
class fake_queue final : public stage {
public:
  struct settings {
    std::size_t at_once = 1;
    duration takes{};
    std::vector<std::uint64_t> throws_at{}; ///< frame ids
  };
  explicit fake_queue(settings s) : s_(std::move(s)) {}

  void on_item(item i, stage_context& c) override {
    const auto id = std::get<frame>(i).meta.frame_id;
    if (std::ranges::find(s_.throws_at, id) != s_.throws_at.end())
      throw std::runtime_error("frame " + std::to_string(id) + " is too much");
    queue_.push_back(std::move(i));
    begin(c);
  }
  void on_wake(stage_context& c) override {
    while (!in_work_.empty() && in_work_.front().until <= c.now()) {
      c.emit(std::move(in_work_.front().what));
      in_work_.pop_front();
      c.release(1);
    }
    begin(c);
    pass_ends(c);
  }
  void on_end(const stream_end& end, stage_context& c) override {
    ends_.push_back(end);
    pass_ends(c);
  }
  std::optional<item> evict(overflow_policy) override {
    if (queue_.empty())
      return std::nullopt;
    auto oldest = std::move(queue_.front());
    queue_.pop_front();
    return oldest;
  }
  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    for (const auto& i : queue_)
      add_outcomes(i, what, why, into);
    for (const auto& w : in_work_)
      add_outcomes(w.what, what, why, into);
    queue_.clear();
    in_work_.clear();
  }
  std::uint64_t held_frames() const noexcept override { return queue_.size() + in_work_.size(); }

private:
  struct work {
    item what;
    graph_time until;
  };
  void begin(stage_context& c) {
    while (!queue_.empty() && in_work_.size() < s_.at_once) {
      in_work_.push_back({std::move(queue_.front()), c.now() + s_.takes});
      queue_.pop_front();
    }
    if (!in_work_.empty())
      c.wake_at(in_work_.front().until);
  }
  void pass_ends(stage_context& c) {
    if (queue_.empty() && in_work_.empty())
      for (const auto& end : std::exchange(ends_, {}))
        c.emit(end);
  }
  settings s_;
  std::deque<item> queue_;
  std::deque<work> in_work_;
  std::vector<stream_end> ends_;
};

/// Records what comes.
class fake_sink final : public stage {
public:
  fake_sink(
    std::function<void(const std::string&)> record, std::size_t streams, std::uint64_t throws_at)
    : record_(std::move(record)), streams_(streams), throws_at_(throws_at) {}
  void on_item(item i, stage_context& c) override {
    const auto& m = std::get<frame>(i).meta;
    if (m.frame_id == throws_at_)
      throw std::runtime_error("cannot keep frame " + std::to_string(m.frame_id));
    record_(
      std::to_string(m.stream) + ":" + std::to_string(m.frame_id) + "@"
      + std::to_string(c.now().time_since_epoch().count() / 1000000));
  }
  void on_end(const stream_end& end, stage_context& c) override {
    if (end.last_epoch && --streams_ == 0)
      c.done();
  }
  void give_up(outcome, reason, outcome_batch&) noexcept override {}
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  std::function<void(const std::string&)> record_;
  std::size_t streams_;
  std::uint64_t throws_at_;
};

/// Hosts with fake stages, on either executor.
class fake_graph {
public:
  fake_graph() : facts_(std::make_shared<graph_facts>()) {}

  void source(fake_source::settings s) {
    facts_->streams.resize(s.streams);
    for (auto& stream : facts_->streams)
      stream.live = s.live;
    add("source", {}, {port_type::frame}, [this, s](const stage_plan&) {
      return std::make_unique<fake_source>(s, [this](stream_index i) { ledger_->captured(i); });
    });
  }
  void worker(fake_worker::settings s) {
    add("worker", {port_type::frame}, {port_type::frame}, [s](const stage_plan&) {
      return std::make_unique<fake_worker>(s);
    });
  }
  void queue(fake_queue::settings s) {
    add("queue", {port_type::frame}, {port_type::frame}, [s](const stage_plan&) {
      return std::make_unique<fake_queue>(s);
    });
    kinds_.back()->own_queue = true;
  }
  /// @param throws_at frame id.
  void sink(std::uint64_t throws_at = ~std::uint64_t{0}) {
    const auto index = stages_.size();
    add(
      "sink" + std::to_string(index), {port_type::frame}, {},
      [this, index, throws_at](const stage_plan&) {
        return std::make_unique<fake_sink>(
          [this, index](const std::string& line) {
            const std::lock_guard lock{mutex_};
            traces_[index].push_back(line);
          },
          facts_->streams.size(), throws_at);
      });
    stages_[index].settles = true;
  }
  void edge(stage_index from, stage_index to, edge_limits limits) {
    edge_wiring e;
    e.edge = static_cast<edge_index>(edges_.size());
    e.from = from;
    e.to = to;
    e.to_name = stages_[to].plan.name;
    e.limits = limits;
    edges_.push_back(e);
  }

  void run_virtually(graph_time until = never) {
    auto owned = std::make_unique<virtual_executor>();
    auto& runs = *owned;
    executor_ = std::move(owned);
    assemble();
    runs.open(hosts());
    supervisor_->start();
    runs.run(until, [this] { check_accounts(); });
  }

  /// Called with every event, behind the record.
  void on_event(std::function<void(const event&)> f) { on_event_ = std::move(f); }
  std::uint64_t discarded(stage_index settler) const { return ledger_->settler(settler).discarded; }

  /// With `then`, called once the graph runs; the caller's means to drain or stop.
  bool run_on_threads(const std::function<void(supervisor&)>& then = {}) {
    auto owned = std::make_unique<actor_executor>(actor_runtime::shared());
    auto& runs = *owned;
    executor_ = std::move(owned);
    assemble();
    runs.open(hosts(), *telemetry_);
    supervisor_->start();
    supervisor_->wait_ready();
    if (then)
      then(*supervisor_);
    const bool finished = supervisor_->wait(std::chrono::seconds{20});
    runs.close(std::chrono::seconds{10});
    check_accounts();
    return finished;
  }

  std::vector<std::string> trace(std::size_t sink = 0) const {
    const std::lock_guard lock{mutex_};
    const auto at = traces_.find(sink == 0 ? stages_.size() - 1 : sink);
    return at == traces_.end() ? std::vector<std::string>{} : at->second;
  }
  graph_time now() const { return executor_->time().now(); }
  const telemetry& numbers() const { return *telemetry_; }
  const ledger& accounts() const { return *ledger_; }
  const supervisor& control() const { return *supervisor_; }
  supervisor& control() { return *supervisor_; }
  virtual_executor& virtually() { return dynamic_cast<virtual_executor&>(*executor_); }
  const std::vector<event>& events() const { return events_; }

  /// Items whose credit has not come back, on all edges.
  std::uint64_t under_way() const {
    std::uint64_t items = 0;
    for (const auto& h : hosts_)
      for (std::size_t e = 0; e < h->wiring().outputs.size(); ++e)
        items += h->under_way(e);
    return items;
  }
  /// Every account: captured = ended + held by a stage.
  void check_accounts() const {
    for (const auto& s : stages_) {
      if (!s.settles)
        continue;
      std::uint64_t held = 0;
      for (const auto& h : hosts_)
        held += h->held_frames(s.self);
      const auto sums = ledger_->settler(s.self);
      CHECK(sums.captured == sums.ended() + held);
    }
  }
  std::uint64_t ended(stage_index settler, outcome o) const {
    return ledger_->settler(settler).outcomes[static_cast<std::size_t>(o)];
  }

private:
  void add(
    std::string name, std::vector<port_type> in, std::vector<port_type> out,
    std::function<std::unique_ptr<stage>(const stage_plan&)> make) {
    auto kind = std::make_unique<stage_description>();
    kind->name = name;
    if (!in.empty())
      kind->inputs = {{"in", in}};
    if (!out.empty())
      kind->outputs = {{"out", out}};
    kind->make = std::move(make);
    stage_wiring w;
    for (stream_index s = 0; s < facts_->streams.size(); ++s)
      w.plan.streams.push_back(s);
    w.self = static_cast<stage_index>(stages_.size());
    w.plan.name = std::move(name);
    w.plan.graph = facts_;
    w.kind = kind.get();
    kinds_.push_back(std::move(kind));
    stages_.push_back(std::move(w));
  }

  void assemble() {
    std::vector<std::vector<stage_index>> below(stages_.size());
    for (auto i = stages_.size(); i-- > 0;) {
      if (stages_[i].settles)
        below[i] = {stages_[i].self};
      for (const auto& e : edges_)
        if (e.from == i)
          below[i].insert(below[i].end(), below[e.to].begin(), below[e.to].end());
    }
    std::vector<stage_index> all;
    for (auto& s : stages_) {
      s.settlers = below[s.self];
      if (s.settles)
        all.push_back(s.self);
    }
    for (auto e : edges_) {
      e.settlers = below[e.to];
      stages_[e.from].outputs.push_back(e);
      stages_[e.to].inputs.push_back(e);
    }
    ledger_ = std::make_unique<ledger>(
      stages_.size(), std::vector<std::vector<std::uint32_t>>(facts_->streams.size(), all));
    telemetry_ = std::make_unique<telemetry>(
      stages_.size(), edges_.size(), facts_->streams.size(), [this](const event& e) {
        const std::lock_guard lock{mutex_};
        events_.push_back(e);
        if (on_event_)
          on_event_(e);
      });
    std::vector<supervisor::member> members;
    for (const auto& s : stages_)
      members.push_back({s.plan.name, s.inputs.empty(), s.settles, s.settles});
    supervisor_ = std::make_unique<supervisor>(*executor_, *telemetry_, members);
    for (const auto& s : stages_)
      hosts_.push_back(std::make_unique<stage_host>(
        s, stage_surroundings{*executor_, *ledger_, *telemetry_, *supervisor_}));
  }
  std::vector<stage_host*> hosts() const {
    std::vector<stage_host*> result;
    for (const auto& h : hosts_)
      result.push_back(h.get());
    return result;
  }

  std::shared_ptr<graph_facts> facts_;
  std::vector<std::unique_ptr<stage_description>> kinds_;
  std::vector<stage_wiring> stages_;
  std::vector<edge_wiring> edges_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<std::string>> traces_; ///< guarded by `mutex_`
  std::vector<event> events_;                              ///< guarded by `mutex_`
  std::function<void(const event&)> on_event_;
  std::unique_ptr<executor> executor_;
  std::unique_ptr<ledger> ledger_;
  std::unique_ptr<telemetry> telemetry_;
  std::unique_ptr<supervisor> supervisor_;
  std::vector<std::unique_ptr<stage_host>> hosts_;
};

} // namespace hyperframes
