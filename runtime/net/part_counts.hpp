#pragma once

#include "runtime/net/stage_messages.hpp"

#include <map>
#include <utility>
#include <vector>

namespace hyperframes {

/// What a part of a graph counts, as reports to the process that runs the graph. Not thread-safe.
class part_counts {
public:
  /// @param stages those of the part, @param numbers what they write to; both outlive this.
  part_counts(std::vector<const stage_wiring*> stages, const telemetry& numbers);
  /// What has come since the last call.
  part_numbers take();

private:
  std::uint64_t since(std::uint64_t now, std::size_t& at);

  struct edge_end {
    edge_index edge = 0;
    bool receives = false;
  };
  std::vector<const stage_wiring*> stages_;
  const telemetry& numbers_;
  std::vector<edge_end> edges_;
  std::vector<stream_index> captured_;
  std::vector<std::uint64_t> before_; ///< every count, in the order of a report
  std::vector<std::vector<std::uint64_t>> service_, lag_;
  telemetry::fault_counts_by_place faults_;
};

/// Adds a report to the numbers of the graph.
void add_numbers(const part_numbers& report, telemetry& to);

} // namespace hyperframes
