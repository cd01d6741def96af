#pragma once

#include "graphs/graph.hpp"
#include "runtime/ledger.hpp"
#include "runtime/placed_executor.hpp"
#include "runtime/stage_host.hpp"
#include "runtime/supervisor.hpp"
#include "runtime/telemetry.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes {

struct continuation;
class node_network;
class node_workers;
class push_port;
class remote_part;
class trigger_port;

/// What a program adds to a graph before it starts.
struct run_options {
  /// For stages of type `callback`, by name.
  std::map<std::string, std::function<void(const item&)>> callbacks{};
  /// For stages of type `trigger`, by name: ports of the program's own, so that it can fire from a
  /// callback, also on the virtual clock. The others get one that `running::trigger` fires.
  std::map<std::string, std::shared_ptr<trigger_port>> triggers{};
  /// Gets alarms, restarts and failures; from any thread.
  std::function<void(const event&)> on_event{};
  /// Part of every hyperframe's sequence number.
  std::uint32_t run_number = 0;
  /// Of a graph with stages on nodes: how they are reached.
  std::shared_ptr<node_network> network{};
  /// What it goes on from, and where it says what it has captured (continuation.hpp); null: no later run
  /// can go on from this one. For one run. Its run number is taken instead of `run_number`.
  std::shared_ptr<const continuation> continued{};
};

/// Which of a graph's stages run in this process, and where they begin.
struct graph_place {
  std::vector<bool> here;    ///< by stage
  std::uint16_t node = 0;    ///< part of every hyperframe's sequence number
  std::uint64_t counted = 0; ///< sequence numbers that others have given
  std::vector<credit_message> used{};         ///< on edges out of this process, by whom these follow
  std::vector<captured_position> streams{};   ///< that another process has captured so far
};

/// The wiring of a checked and planned graph: what each stage's host needs to know.
/// Pure: starts nothing.
struct wired_graph {
  std::vector<stage_wiring> stages;                         ///< as `checked_graph::stages`
  std::vector<std::vector<stage_index>> settlers_of_stream; ///< whose accounts a stream has
  std::map<std::string, std::shared_ptr<push_port>> ports;  ///< of streams with camera `push`
  std::map<std::string, std::shared_ptr<trigger_port>> triggers; ///< of stages of type `trigger`
  std::vector<std::shared_ptr<node_workers>> workers;            ///< of stages that infer on nodes
  /// Where workers on nodes tell what the user should know, once there is somebody to hear it.
  using teller = std::function<void(const std::string& where, const std::string& sentence)>;
  std::shared_ptr<teller> tell = std::make_shared<teller>();
};

/// @param threads false on the virtual clock.
wired_graph wire_graph(const checked_graph& graph, const graph_plan& plan, const run_options& options,
                       bool threads, const graph_place& place);
/// Gives the stages that are here what they take memory from.
void add_pools(const checked_graph& graph, const graph_plan& plan, const graph_place& place,
               telemetry& numbers, wired_graph& into);
/// Who is told of each frame that is captured here.
void count_captured(wired_graph& wired, const std::function<void(const frame_meta&)>& captured);
/// Bytes that items from other processes may take here at once.
std::uint64_t received_bytes(const graph_plan& plan);

/// A graph's stages, accounts and numbers, put together on an executor and not started yet.
/// Whoever owns it opens the executor with `hosts()` and closes it before this object goes.
class assembly {
public:
  assembly(const checked_graph& graph, const graph_plan& plan, const run_options& options,
           executor& runs, bool threads);
  ~assembly();

  std::vector<stage_host*> hosts() const; ///< of the stages in this process
  const std::vector<stage_wiring>& stages() const { return wiring_.stages; }
  supervisor& control() { return *supervisor_; }
  const supervisor& control() const { return *supervisor_; }
  const ledger& accounts() const { return *ledger_; }
  telemetry& numbers() { return *telemetry_; }
  const telemetry& numbers() const { return *telemetry_; }
  /// Asks `capture` to let the camera of `stream` come or go. @returns false where no stage captures it.
  bool request(const std::string& stream, bool attach, executor& runs) const;
  std::shared_ptr<push_port> port(const std::string& stream) const;
  std::shared_ptr<trigger_port> trigger(const std::string& stage) const;
  void close_triggers() const; ///< a graph that has ended takes none
  void leave_nodes() const;    ///< what is still on nodes is over
  std::uint64_t held_frames() const; ///< in all accounts, as the stages count them

  /// Compares every account: captured = outcomes + held. Only while nothing runs or is under way.
  /// @returns a sentence for each account that does not close.
  std::vector<std::string> open_accounts() const;
  /// @returns a sentence for each edge whose credit has not all come back. Only at the end, with every message
  /// handled.
  std::vector<std::string> open_credit() const;

private:
  std::uint64_t held_frames(stage_index settler) const;
  void place_parts(const checked_graph& graph, const graph_plan& plan, const run_options& options);
  /// A frame counts as captured once its id has come here; from any thread.
  void captured(const outcome_range& frames) noexcept;

  placed_executor runs_;
  graph_place place_;
  wired_graph wiring_;
  std::shared_ptr<const continuation> continued_;
  std::unique_ptr<ledger> ledger_;
  std::unique_ptr<telemetry> telemetry_;
  std::unique_ptr<supervisor> supervisor_;
  std::vector<std::unique_ptr<stage_host>> hosts_;
  std::vector<std::shared_ptr<remote_part>> parts_;
  std::vector<std::shared_ptr<remote_part>> part_of_; ///< by stage; null: it is here
};

} // namespace hyperframes
