#pragma once

#include "tools/bench/adaptive.hpp"
#include "tools/bench/benchmark.hpp"
#include "tools/bench/ladder.hpp"
#include "tools/bench/processes.hpp"

/// A function for each benchmark, in a file of its name.
namespace hyperframes::bench {

report hop(const context& c);
/// For profilers. Arguments: a framework as in the report, stages, frames. @returns CPU seconds.
std::vector<double> chain_once(const std::vector<std::string>& arguments);

report release(const context& c);
report expiry(const context& c);

report copies(const context& c);
/// Each run: own allocations, CAF's, others', pixel writes, bytes copied, all per frame.
report copies_report(const std::vector<std::vector<double>>& runs);
std::vector<double> copies_once(const std::vector<std::string>&); ///< a run

report accelerator(const context& c);
struct accelerator_runs {
  samples batches_of_8; ///< frames per second, as are the following
  samples busy_percent; ///< of the device, with batches of 8
  samples batches_of_1;
  std::vector<samples> depths; ///< 1 to 5
};
report accelerator_report(const accelerator_runs& runs);
double fps_at_depth(unsigned depth);
report adaptive(const context& c);
report adaptive_report(const batch_rounds& changed, const batch_rounds& steady);

report cameras(const context& c);
inline constexpr unsigned stream_counts[] = {1, 8, 64, 500};
/// @param live what `live_cameras_once` gives. @param scale CPU seconds a frame, of each of
/// `stream_counts`, a value a round.
report cameras_report(const std::vector<double>& live, const std::vector<samples>& scale);
/// Arguments: streams, seconds. @returns frames not delivered, p99 in ms, CPU seconds a frame, then
/// frames per second and resident bytes of each fifth of the time.
std::vector<double> live_cameras_once(const std::vector<std::string>& arguments);
/// Arguments: streams, frames of all of them. @returns CPU seconds a frame.
std::vector<double> many_streams_once(const std::vector<std::string>& arguments);

report light(const context& c);
report light_report(const std::vector<std::vector<ladder_cost>>&
                      rounds); ///< one by one, `single_frames`, hyperframes

report locks(const context& c);
/// Each run of ours and of the one queue: CPU seconds, seconds of waiting for locks, waits a frame.
report locks_report(
  const std::vector<std::vector<double>>& ours, const std::vector<std::vector<double>>& queue);
/// Arguments: `hyperframes` or `one queue`, frames of each camera. @returns a run.
std::vector<double> locks_once(const std::vector<std::string>& arguments);

report memory(const context& c);

report modes(const context& c);
/// @param rounds the cost of each of `rungs()`, and of the steps alone in the same round.
report modes_report(
  const std::vector<std::vector<ladder_cost>>& rounds, const std::vector<ladder_steps>& steps,
  unsigned cores);
report pack(const context& c);

report plan(const context& c);
/// What was planned and measured of a graph: a row for each round, throughput planned and measured (frames per
/// second), p99 latency planned and measured (ms), cores that other programs used.
struct planned_graph {
  std::string name;
  std::vector<std::vector<double>> rounds;
};
report plan_report(const std::vector<planned_graph>& graphs);
std::vector<double> plan_once(const std::vector<std::string>& arguments);

report processes(const context& c);
/// A value a round, of the same round at the same place; CAF's are empty where it has no network.
struct passing_runs {
  std::vector<passing> shared_small, shared_film, shared_large, shared_read;
  std::vector<passing> tcp_film, tcp_large, tcp_read;
  std::vector<passing> caf_film, caf_large;
};
report processes_report(const passing_runs& runs);

report start(const context& c);
report start_report(
  const std::vector<std::vector<double>>& runs); ///< seconds a hyperframe, the first one first
std::vector<double> start_once(const std::vector<std::string>&); ///< a run

} // namespace hyperframes::bench
