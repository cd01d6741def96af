#pragma once

#include "actors/sinks/announced.hpp"
#include "graphs/graph.hpp"
#include "runtime/message.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Runs that go on where an earlier one ended or was killed, in the same files of results.
///
/// Beside each file that a `jsonl` behind an unbundle writes stands another one, with `.announced`
/// at the end of its name: it says which frames the run has captured. Together they say what became
/// of each. The sink makes it when it opens its file, and it stays as long as the results do;
/// whoever replaces these without keeping one, a program or a run on the virtual clock, removes it.
namespace hyperframes {

/// What a run goes on from, and where it says what it captures. For one run.
struct continuation {
  std::vector<captured_position>
    begins;              ///< by stream of the graph: its first epoch, and what was before
  std::uint32_t run = 0; ///< how many went before it
  std::map<std::size_t, std::shared_ptr<const announced_resource>> files; ///< by stage
  std::vector<std::string> news; ///< what was done to each file, as sentences

  void put_into(graph_facts& facts) const;
  /// Says so to every file; see `announced_file::announce`.
  void announce(stream_index stream, frame_position last) const noexcept;
};

/// Prepares a run of `graph`, before anything of it starts, for `run_options::continued`.
///
/// @param goes_on makes the files of results of the run before whole: cuts off half a line, gives
/// each frame without a line one that says `lost (restart)`, and lets each stream begin a new
/// epoch, a file behind what was captured of it. Files that are not there, or empty, begin. False:
/// nothing is touched, the sinks replace their files.
/// @returns null where no stage writes such a file and `goes_on` is false.
/// Throws `failure`, and has touched nothing: graph_invalid where a file of the graph cannot be
/// gone on with, io_failed where one is not what the run before left. io_failed also where one
/// cannot be written.
std::shared_ptr<const continuation> continue_run(const checked_graph& graph, bool goes_on);

} // namespace hyperframes
