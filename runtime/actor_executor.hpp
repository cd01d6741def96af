#pragma once

#include "runtime/stage_host.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes {

/// The process's one actor system; made by the first graph, ended with the process's last one.
class actor_runtime {
public:
  /// @param threads workers of the scheduler; 0: as many as the machine has cores.
  explicit actor_runtime(std::size_t threads = 0);
  ~actor_runtime();
  actor_runtime(const actor_runtime&) = delete;
  actor_runtime& operator=(const actor_runtime&) = delete;
  struct state;
  state& get() { return *state_; }
  /// @returns the runtime that all graphs of this process share.
  static std::shared_ptr<actor_runtime> shared();

private:
  std::unique_ptr<state> state_;
};

/// Runs stages as actors on the machine's clock; what blocks runs on threads of ours.
class actor_executor final : public executor {
public:
  /// @param zero where the graph's time begins.
  explicit actor_executor(std::shared_ptr<actor_runtime> runtime,
                          std::chrono::steady_clock::time_point zero = std::chrono::steady_clock::now());
  ~actor_executor() override;

  /// Spawns the actors, some of the graph's or all, and a watchdog that tells `numbers` of calls that do not return. The hosts and
  /// `numbers` must outlive `close`, and for ever where `stuck` says so.
  void open(const std::vector<stage_host*>& hosts, telemetry& numbers);
  /// Ends the actors and the threads; tells of those that it waits for longer than a second.
  /// @returns what hangs after `patience` and was left behind: "infer, worker 0".
  std::vector<std::string> close(duration patience);
  /// After `close`: a handler did not return, and still uses its host and what that refers to.
  bool stuck() const;

  const clock& time() const override;
  void post(stage_index to, message m) override;
  void wake_at(stage_index stage, graph_time t) override;
  void submit(stage_index stage, std::uint64_t generation, blocking_work work) override;
  std::function<void()> poke(stage_index stage) override;

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace hyperframes
