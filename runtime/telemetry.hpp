#pragma once

#include "runtime/pool_stats.hpp"
#include "runtime/stream_stats.hpp"
#include "runtime/time_histogram.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace hyperframes {

/// Written by one stage, read by anyone; all counts since the start.
struct edge_stats {
  std::atomic<std::uint64_t> items{0};
  std::atomic<std::uint64_t> drops{0};
  std::atomic<std::uint32_t> depth{0}; ///< items in the ring now
  std::atomic<std::uint32_t> peak{0};  ///< per stream on frame edges
  std::atomic<double> average{0};      ///< moving average of the depth
};

struct stage_stats {
  std::atomic<std::uint64_t> items_in{0};
  std::atomic<std::uint64_t> items_out{0};
  std::atomic<std::uint64_t> held{0};         ///< frames whose outcome the stage owes
  std::atomic<std::uint64_t> bytes_copied{0}; ///< pixels written beyond ingest and packing
  std::atomic<std::uint64_t> busy_ns{0};
  std::atomic<std::uint64_t> cpu_ns{0}; ///< CPU time of its own threads: workers, readers of cameras
  std::atomic<std::uint32_t> restarts{0};
  std::atomic<std::int64_t> in_call_since{0}; ///< graph time in ns; 0: in none
  time_histogram service; ///< of one item
};

/// Where a frame's time goes, measured when its result is emitted.
struct latency_stats {
  time_histogram bundle, queue, infer, deliver, total;
};

/// What a user is told while a graph runs: alarms, restarts, states.
struct event {
  graph_time when{};
  std::string where;    ///< stage or stream
  std::string sentence;
  bool failed = false; ///< the graph cannot go on as it was
};

/// Every number and event of a running graph; the one place through which events pass.
class telemetry {
public:
  telemetry(std::size_t stages, std::size_t edges, std::size_t streams,
            std::function<void(const event&)> listener = {});
  stage_stats& stage(std::size_t i) { return *stages_[i]; }
  edge_stats& edge(std::size_t i) { return *edges_[i]; }
  const stage_stats& stage(std::size_t i) const { return *stages_[i]; }
  const edge_stats& edge(std::size_t i) const { return *edges_[i]; }
  stream_stats& stream(std::size_t i) { return *streams_.at(i); }
  const stream_stats& stream(std::size_t i) const { return *streams_.at(i); }
  std::size_t stages() const { return stages_.size(); }
  std::size_t edges() const { return edges_.size(); }
  std::size_t streams() const { return streams_.size(); }
  latency_stats& latency() { return latency_; }
  const latency_stats& latency() const { return latency_; }
  /// Faults that the graph file asked for and that have happened, by (place, kind). Thread-safe.
  using fault_counts_by_place = std::map<std::pair<std::string, std::string>, std::uint64_t>;
  void injected(const std::string& where, const std::string& kind);
  fault_counts_by_place injected() const;
  /// Where the pools of one purpose are counted. Only while the graph is built.
  std::shared_ptr<pool_stats> add_pool(
    std::string name, std::string owner, std::uint64_t planned = 0,
    std::shared_ptr<memory_reserve> reserve = nullptr,
    std::shared_ptr<memory_backing> backing = nullptr);
  const std::vector<std::shared_ptr<pool_stats>>& pools() const { return pools_; }
  /// What a listener throws is counted and goes no further: it is told of failures, and may not cause them.
  void tell(const event& e) noexcept;

  std::atomic<std::uint64_t> batches{0};      ///< that a model ran
  std::atomic<std::uint64_t> batch_slots{0};  ///< valid slots in them
  std::atomic<std::uint64_t> batch_room{0};   ///< slots that they could have had
  std::atomic<std::uint64_t> pixel_writes{0}; ///< in frames: at ingest and when packing
  std::atomic<std::uint64_t> truth_known{0};  ///< delivered frames whose class the source knows
  std::atomic<std::uint64_t> truth_right{0};  ///< of these, where the best class was the right one
  std::atomic<std::uint64_t> events_untold{0}; ///< where the listener threw

private:
  std::vector<std::unique_ptr<stage_stats>> stages_;
  std::vector<std::unique_ptr<edge_stats>> edges_;
  std::vector<std::unique_ptr<stream_stats>> streams_;
  std::vector<std::shared_ptr<pool_stats>> pools_;
  latency_stats latency_;
  std::function<void(const event&)> listener_; ///< thread-safe
  mutable std::mutex mutex_;
  fault_counts_by_place injected_; ///< guarded by `mutex_`
};

} // namespace hyperframes
