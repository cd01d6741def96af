#pragma once

#include "runtime/ledger.hpp"
#include "runtime/telemetry.hpp"
#include "runtime/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

struct percentiles {
  std::uint64_t count = 0;
  duration p50{}, p95{}, p99{}, longest{};
};
percentiles percentiles_of(const time_histogram& h);

/// What a run did; all sums over the whole run.
struct run_summary {
  struct stream_line {
    std::string id;
    account_sums sums;
    bool live = false;
    std::uint64_t device_lost = 0; ///< frames that the device's own counter jumped over; never captured
    double fps = 0;                ///< measured
    percentiles lag{};             ///< from capture to arrival beyond the stream's least; live streams
    duration offset{}, jitter{};   ///< of the camera's clock; of the arrivals
    double drift_ppm = 0;
    double confidence = 0; ///< in the camera's clock, 0 to 1
    bool by_arrival = false;
    std::uint32_t epochs = 1, silences = 0;
    std::uint64_t off_pace = 0; ///< hyperframes whose span does not fit its frame rate
    duration longest_gap{}; ///< without a delivery, from its first frame to its last
  };
  /// A fault that the graph file asked for, and how often it happened.
  struct injected_line {
    std::string where, kind;
    std::uint64_t times = 0;
  };
  struct stage_line {
    std::string name;
    std::string type;
    std::uint64_t items_in = 0, items_out = 0;
    std::uint32_t restarts = 0;
    duration busy{};
    duration cpu{}; ///< of its own threads
    percentiles service;
  };
  struct edge_line {
    std::string from, to;
    std::string type;
    std::uint32_t capacity = 0; ///< items, per stream where the edge carries frames
    std::string overflow;
    std::uint32_t peak_depth = 0;
    std::uint64_t items = 0, drops = 0;
  };
  /// The pools that serve one purpose, as `explain` names them.
  struct pool_line {
    std::string name;
    std::size_t slots = 0;
    std::size_t in_use = 0, peak_in_use = 0;
    std::size_t bytes = 0, peak_bytes = 0;
    std::optional<duration> oldest_age{}; ///< of the slot that has been in use for longest
    std::string holder{};                 ///< the stage that took that slot in last
  };
  std::string graph;
  bool simulated = false; ///< a simulated part stood in for a real one
  duration wall{};
  account_sums ledger;        ///< over all accounts
  std::uint64_t in_flight = 0; ///< counted by the stages that hold frames
  double fps = 0;             ///< frames that ended, per second of wall time
  percentiles bundle, queue, infer, deliver, total; ///< latency per stage and end to end
  std::vector<stream_line> streams;
  std::vector<stage_line> stages;
  std::vector<edge_line> edges;
  std::vector<injected_line> injected;
  std::vector<pool_line> pools; ///< those that were ever made
  double batch_fill = 0;      ///< valid slots / slots that the batches could have had; 0: no batches
  std::uint64_t batches = 0;
  std::uint64_t rss_bytes = 0, peak_rss_bytes = 0;
  double bytes_copied_per_frame = 0; ///< pixels written beyond ingest and packing
  double pixel_writes_per_frame = 0; ///< whole frames: at ingest and when packing
  std::optional<double> accuracy; ///< where the source knows the truth
  std::uint64_t truth_known = 0;
  std::optional<std::string> failed; ///< the stage that failed for good, and why
  std::vector<std::string> left_behind; ///< threads in calls that hang: "infer, worker 0"

  bool closed() const { return in_flight == 0 && ledger.captured == ledger.ended(); }
};

/// Takes over what `numbers` knows of the streams, of the pools at `now`, and of the faults that
/// were asked for. The stages are in the summary already: their names are those of the holders.
void add_numbers(const telemetry& numbers, graph_time now, run_summary& to);

/// For a person at a terminal.
std::string to_text(const run_summary& s);
/// As docs/summary.md describes it.
std::string to_json(const run_summary& s);

/// The JSON Schema of a line of results, as in graphs/result.schema.json.
const std::string& result_schema();

} // namespace hyperframes
