#pragma once

#include "actors/trigger_port.hpp"
#include "cameras/push.hpp"
#include "graphs/build.hpp"
#include "graphs/graph.hpp"
#include "graphs/report.hpp"
#include "runtime/defaults.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// HyperFrames as a library. Load a graph, hand it what the program adds, run it:
///
///   auto g = hyperframes::graph::from_file("inspection.yaml");
///   hyperframes::running run{g, {.callbacks = {{"program", on_item}}}};
///   run.input("cam1")->push(pixels, hyperframes::capture_time{t_ns});
///   run.drain();
///   auto summary = run.finish();
///
/// Everything throws `failure`, or `graph_error` with every fault of a graph. Several graphs run side
/// by side in one process and share its scheduler.
namespace hyperframes {

/// A graph that does not start, and all reasons for it.
class graph_error : public failure {
public:
  explicit graph_error(std::vector<fault> faults)
    : failure(make_error(errc::graph_invalid, "", to_string(faults))), faults_(std::move(faults)) {}
  const std::vector<fault>& faults() const noexcept { return faults_; }

private:
  std::vector<fault> faults_;
};

/// A graph that was read, checked and planned: it could be started. Cheap to copy, immutable.
class graph {
public:
  /// @param kinds what may stand in it; by default what the project ships.
  static graph from_file(const std::string& path, const graph_options& options = {},
                         const catalogues& kinds = built_in());
  static graph from_text(const std::string& text, const std::string& name = "graph",
                         const graph_options& options = {}, const catalogues& kinds = built_in());

  const checked_graph& checked() const { return *checked_; }
  const graph_plan& plan() const { return *plan_; }

private:
  graph(read_result read, const network_source& network, std::shared_ptr<const catalogues> kinds);
  std::shared_ptr<const catalogues> kinds_; ///< whose descriptions `checked_` refers to
  std::shared_ptr<const checked_graph> checked_;
  std::shared_ptr<const graph_plan> plan_;
};

/// Counts of a graph that runs, for a progress line.
struct run_progress {
  duration elapsed{};
  account_sums ledger;
  std::vector<account_sums> streams; ///< as the graph names them
  std::uint64_t held = 0;       ///< frames in the stages, as of each one's last message
  std::uint32_t deepest = 0;    ///< items in the fullest edge
  std::uint64_t edge_drops = 0;
  std::optional<std::uint64_t> expected; ///< frames, where every stream's end is known
};

/// A graph at work. Starts with its construction, which returns when every stage is ready; ends with
/// `finish`, or as by `stop` in its destructor. Every function may be called from any thread, but
/// `finish` from one only.
class running {
public:
  explicit running(const graph& g, run_options options = {});
  ~running();
  running(const running&) = delete;
  running& operator=(const running&) = delete;

  /// Where frames of a stream with camera `push` are handed in. Throws `failure` for other streams.
  std::shared_ptr<push_port> input(const std::string& stream) const;

  /// Fires the stage `stage` of type `trigger`: the hyperframes of the streams that it names, or of the
  /// stream or group `whose` alone. Throws `failure` where there is no such stage.
  trigger_result trigger(const std::string& stage, const std::string& whose = {}) const;

  /// Lets the camera of a stream go, while the graph runs: what it has given goes on, and the device is
  /// closed. Throws `failure` for an unknown stream; an alarm says where there is no camera to go.
  void remove_camera(const std::string& stream);
  /// Lets the camera of a stream come again, or for the first time where the graph says `attached: false`.
  /// Its frames are a new epoch of the stream. Throws and alarms as `remove_camera`.
  void add_camera(const std::string& stream);
  /// @returns whether a stream has its camera now. Throws `failure` for an unknown stream.
  bool has_camera(const std::string& stream) const;

  /// Ends capture; what was captured gets its outcomes.
  void drain();
  /// Ends capture, and what is under way ends as `dropped (stopped)`.
  void stop();
  /// @returns true when every frame has its outcome and every sink is closed; false after `patience`.
  bool wait(duration patience);
  bool finished() const;
  run_progress progress() const;
  /// The summary of what it has done so far, from any thread; what is in flight is as the stages said last.
  run_summary so_far() const;
  std::string metrics() const; ///< in Prometheus' text format

  /// Waits for the end, ends all threads and sums up. After `drain` or `stop` it waits for
  /// `patience` at the most, stops what is left, and leaves behind threads that hang in a call.
  run_summary finish(duration patience = defaults::drain_time);

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A camera that comes or goes at a moment of the graph's time, behind the frames of that moment.
struct camera_change {
  graph_time at{};
  std::string stream;
  bool attach = false; ///< as `running::add_camera`; false: as `running::remove_camera`
};

/// Runs a graph of simulated parts on the virtual clock, as fast as the machine can, the same to the
/// byte each time. Throws `failure` naming the part that cannot run so.
/// @param until where the graph's time ends; what is under way then is drained, for
/// `defaults::drain_time` of graph time, and then stopped.
/// @param changes in any order; those behind `until` do not come to pass.
run_summary run_virtually(const graph& g, graph_time until = never, run_options options = {},
                          std::vector<camera_change> changes = {});

/// `running` and `run_virtually` stand on this.
/// @param still whether nothing runs any more; otherwise what is in flight is as the stages said last.
run_summary
summarise(const graph& g, const assembly& parts, duration wall, graph_time now, bool still = true);

} // namespace hyperframes
