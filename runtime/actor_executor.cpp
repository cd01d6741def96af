#include "runtime/actor_executor.hpp"

#include "runtime/actor_system.hpp"
#include "runtime/defaults.hpp"
#include "runtime/stage_actor.hpp"
#include "runtime/watchdog.hpp"
#include "runtime/work_lanes.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>

namespace hyperframes {

void init_actor_types() {
  static std::once_flag once;
  std::call_once(once, [] {
    caf::init_global_meta_objects<caf::id_block::hyperframes>();
    caf::core::init_global_meta_objects();
  });
}

actor_runtime::actor_runtime(std::size_t threads) : state_(std::make_unique<state>()) {
  init_actor_types();
  if (threads == 0)
    threads = std::max(1U, std::thread::hardware_concurrency());
  // Work stealing wakes no other worker when a handler sends: a receiver waits for the handler's end.
  state_->config.set("caf.scheduler.policy", "sharing");
  state_->config.set("caf.scheduler.max-threads", static_cast<std::int64_t>(threads));
  state_->config.set("caf.logger.console.verbosity", "quiet");
  state_->system = std::make_unique<caf::actor_system>(state_->config);
  forget_system();
}

actor_runtime::~actor_runtime() = default;

std::shared_ptr<actor_runtime> actor_runtime::shared() {
  static std::mutex mutex;
  static std::weak_ptr<actor_runtime> current;
  const std::lock_guard lock{mutex};
  auto runtime = current.lock();
  if (!runtime) {
    runtime = std::make_shared<actor_runtime>();
    current = runtime;
  }
  return runtime;
}

namespace {
/// What `close` gives to threads that are only to be told that it is over.
constexpr duration least_patience = std::chrono::seconds{1};
} // namespace

/// Shared with pokes and jobs that outlive the executor.
struct actor_executor::state {
  explicit state(std::chrono::steady_clock::time_point z) : clock(z), zero(z) {}

  std::shared_ptr<actor_runtime> runtime;
  system_clock clock;
  std::vector<stage_actor> actors; ///< by stage, holds each strongly; set once before any message
  work_lanes lanes;
  std::mutex mutex;
  std::condition_variable gone;
  std::vector<bool> alive; ///< by stage, guarded by `mutex`
  bool closed = false;   ///< written with `mutex` and `posts`, read with either
  std::shared_mutex posts; ///< threads that post do not wait for each other, and the end waits for them
  std::thread guard; ///< looks after the others
  std::vector<stage_host*> hosts; ///< by stage; null where it is not here
  telemetry* numbers = nullptr;

  void watch();
  const std::chrono::steady_clock::time_point zero; ///< of the graph's time
  std::string name_of(std::uint64_t lane) const {
    return hosts[lane >> 32]->wiring().plan.name + ", worker " + std::to_string(lane & 0xffffffff);
  }
  /// @returns since when a stage's handler is in its call, if it is.
  std::optional<graph_time> in_call(const stage_host& host) const {
    const auto since =
      numbers->stage(host.wiring().self).in_call_since.load(std::memory_order_relaxed);
    return since > 0 ? std::optional{graph_time{duration{since}}} : std::nullopt;
  }
  void tell_late(const work_lanes::busy_lane& busy, duration rest) const;

  void post(stage_index to, message m) {
    std::visit([&](auto& value) { tell(actors[to], std::move(value)); }, m);
  }
  /// For threads of ours, which may come after the end.
  void post_if_open(stage_index to, message m) {
    const std::shared_lock lock{posts};
    if (!closed)
      post(to, std::move(m));
  }
};

actor_executor::actor_executor(
  std::shared_ptr<actor_runtime> runtime, std::chrono::steady_clock::time_point zero)
  : state_(std::make_shared<state>(zero)) {
  state_->runtime = std::move(runtime);
}

actor_executor::~actor_executor() {
  close(std::chrono::seconds{0});
}

namespace {
std::string whole_seconds(duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(d).count()) + " s";
}
} // namespace

/// Names calls that hang until the executor is closed.
void actor_executor::state::watch() {
  watchdog dog{defaults::call_patience};
  std::unique_lock lock{mutex};
  while (!gone.wait_for(lock, defaults::call_patience / 10, [this] { return closed; })) {
    lock.unlock();
    const auto now = clock.now();
    std::vector<watchdog::watched> all;
    for (const auto* host : hosts)
      if (const auto since = host ? in_call(*host) : std::nullopt)
        all.push_back({host->wiring().plan.name, *since});
    for (const auto& busy : lanes.busy())
      all.push_back({name_of(busy.lane), graph_time{busy.since - zero}});
    for (const auto& f : dog.look(all, now))
      numbers->tell({now, f.name,
                     (f.back ? "has come back from a call that took " : "has been in one call for ")
                       + whole_seconds(f.taken),
                     false});
    lock.lock();
  }
}

void actor_executor::state::tell_late(const work_lanes::busy_lane& busy, duration rest) const {
  const auto now = clock.now();
  numbers->tell({now, name_of(busy.lane),
                 "has been in one call for " + whole_seconds(now - graph_time{busy.since - zero})
                   + "; the end waits for it, for " + whole_seconds(rest) + " at the most",
                 false});
}

void actor_executor::open(const std::vector<stage_host*>& hosts, telemetry& numbers) {
  auto& system = *state_->runtime->get().system;
  auto& s = *state_;
  for (auto* host : hosts) {
    const auto at = host->wiring().self;
    if (at >= s.hosts.size()) {
      s.hosts.resize(at + 1);
      s.actors.resize(at + 1);
      s.alive.resize(at + 1);
    }
    s.hosts[at] = host;
    s.alive[at] = true;
  }
  for (auto* host : hosts) {
    auto actor = system.spawn<stage_actor_impl>(host);
    const auto at = host->wiring().self;
    actor->attach_functor([s = state_.get(), at](const caf::error&) {
      const std::lock_guard lock{s->mutex};
      s->alive[at] = false;
      s->gone.notify_all();
    });
    s.actors[at] = std::move(actor);
  }
  forget_system();
  state_->numbers = &numbers;
  state_->guard = std::thread{[s = state_.get()] { s->watch(); }};
}

std::vector<std::string> actor_executor::close(duration patience) {
  auto& s = *state_;
  {
    const std::scoped_lock lock{s.mutex, s.posts};
    if (s.closed)
      return {};
    s.closed = true;
    s.gone.notify_all();
  }
  if (s.guard.joinable())
    s.guard.join();
  for (auto& actor : s.actors)
    if (actor)
      tell(actor, quit_atom_v);
  patience = std::max<duration>(patience, least_patience);
  const auto until = std::chrono::steady_clock::now() + patience;
  std::vector<std::string> left;
  {
    std::unique_lock lock{s.mutex};
    s.gone.wait_until(lock, until, [&] { return std::ranges::count(s.alive, true) == 0; });
    for (std::size_t i = 0; i < s.alive.size(); ++i)
      if (s.alive[i])
        left.push_back(s.hosts[i]->wiring().plan.name);
  }
  if (left.empty())
    s.actors.clear();
  // Behind the actors, which could start lanes anew. An idle lane must get the time to end, too.
  const auto rest = std::max<duration>(until - std::chrono::steady_clock::now(), least_patience);
  for (const auto lane : s.lanes.close(
         std::chrono::duration_cast<std::chrono::milliseconds>(rest),
         [&](const auto& busy) { s.tell_late(busy, rest); }))
    left.push_back(s.name_of(lane));
  return left;
}

bool actor_executor::stuck() const {
  const std::lock_guard lock{state_->mutex};
  return !state_->actors.empty();
}

const clock& actor_executor::time() const {
  return state_->clock;
}

void actor_executor::post(stage_index to, message m) {
  state_->post(to, std::move(m));
}

void actor_executor::wake_at(stage_index stage, graph_time t) {
  if (t == never)
    return;
  const auto delay = std::max(duration{0}, t - state_->clock.now());
  tell_later(state_->actors[stage], delay, control::wake);
}

void actor_executor::submit(stage_index stage, std::uint64_t generation, blocking_work work) {
  const auto lane = std::uint64_t{stage} << 32 | work.lane;
  state_->lanes.submit(lane, [s = std::weak_ptr(state_), stage, generation,
                              w = make_recycled<blocking_work>(std::move(work))] {
    const system_clock watch;
    done_message done{w->lane, generation, {}, {}, {}, {}};
    const auto cpu = watch.thread_cpu();
    try {
      done.value = w->run();
    } catch (...) { // on a thread of its own it would end the process
      done.thrown = std::current_exception();
    }
    done.took = watch.now() - graph_time{};
    done.cpu = watch.thread_cpu() - cpu;
    if (auto alive = s.lock())
      alive->post_if_open(stage, std::move(done));
  });
}

std::function<void()> actor_executor::poke(stage_index stage) {
  return [s = std::weak_ptr(state_), stage] {
    if (auto alive = s.lock())
      alive->post_if_open(stage, control::poke);
  };
}

} // namespace hyperframes
