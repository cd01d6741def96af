#pragma once

#include "cameras/camera.hpp"
#include "runtime/description.hpp"
#include "runtime/net/node_network.hpp"
#include "runtime/stage.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A graph from its text to the point where it could be started. Reading, checking, explaining and
/// drawing work on these types; build.hpp turns a checked graph into a running one.
namespace hyperframes {

/// Everything that can be put into graphs.
struct catalogues {
  stage_catalogue stages;
  camera_catalogue cameras;
};
/// The stages and cameras that the project ships.
const catalogues& built_in();

/// Gives the network that a graph's nodes are found on; called where there is something to look at
/// on them. Throws `failure`.
using network_source = std::function<std::shared_ptr<node_network>()>;

/// What the caller of `read_graph` adds to the text.
struct graph_options {
  std::vector<std::pair<std::string, std::string>> overrides; ///< `--set path=value`, in order
  std::map<std::string, std::string> environment;             ///< for `${NAME:-default}`
  std::string folder = "."; ///< that relative paths of a text without a file start from
  network_source network{};
};

/// A process that takes part in the graph.
struct checked_node {
  std::string name;
  node_address at;
  source_mark mark;
};

struct checked_stream {
  std::string id;
  std::string group; ///< its own id where the file names none
  std::int32_t priority = 0;
  bool attached = true; ///< its camera is there from the start
  std::shared_ptr<settings> entry; ///< id, group, priority and attached as they were written
  const camera_description* camera = nullptr;
  std::shared_ptr<settings> config; ///< the camera's parameters
  source_mark mark;
  bool sound = true; ///< `camera` is known and `config` has no fault
  std::optional<camera_info> info; ///< after `probe`
};

/// A graph as it was written, for another process to read.
struct graph_text {
  std::string name; ///< of its file
  std::string text;
  graph_options options; ///< of the environment only what the text asks for
};

struct checked_edge {
  std::size_t from = 0, from_port = 0; ///< stage and output
  std::size_t to = 0;                  ///< stage; its only input
  port_type type = port_type::frame;
  setting capacity;       ///< items, per stream on frame edges (integer)
  setting capacity_bytes; ///< monostate: unbounded by bytes
  setting overflow;       ///< text of an `overflow_policy`
  source_mark mark;
};

struct checked_stage {
  std::string name;
  const stage_description* kind = nullptr;
  std::shared_ptr<settings> config; ///< its parameters; `from`, `type`, `node` are not among them
  std::vector<std::size_t> inputs;  ///< edges
  std::vector<std::size_t> outputs; ///< edges
  std::vector<stream_index> streams; ///< that pass here
  std::vector<std::size_t> nodes;    ///< where it runs; empty: in the process that runs the graph
  source_mark mark;
  bool sound = true; ///< `kind` is known and `config` has no fault
  stage_resource_ptr resource; ///< after `probe`
};

struct checked_graph {
  std::string name;
  std::string file;   ///< its own; empty where it was read from no file
  std::string folder; ///< that relative paths start from
  setting latency_budget; ///< duration; monostate: none
  setting memory;         ///< bytes that it may take (integer)
  setting seed;           ///< integer
  graph_text source;      ///< what it was read from
  std::vector<checked_node> nodes;
  std::vector<checked_stream> streams;
  std::vector<checked_stage> stages; ///< in the file's order
  std::vector<checked_edge> edges;
};

struct read_result {
  std::optional<checked_graph> graph; ///< none where there are faults
  std::vector<fault> faults;          ///< every one, in the file's order
};

/// Reads and checks the shape of a graph: names, types, ranges, wiring. Where it has faults, what the
/// graph names (files, cameras, models) is looked at too, so that all faults come at once; where it
/// has none, no file but its own is touched, and `plan_graph` looks.
read_result read_graph_file(const std::string& path, const catalogues&, const graph_options& = {});
read_result read_graph_text(const std::string& text, const std::string& name, const catalogues&,
                            const graph_options& = {});

/// What the graph will take and do, computed before it starts.
struct graph_plan {
  struct edge {
    std::uint64_t frames_per_stream = 0; ///< own frames that it may hold
  };
  std::shared_ptr<const graph_facts> facts;
  std::vector<edge> edges;                   ///< as `checked_graph::edges`
  std::vector<std::uint64_t> frames_ahead;   ///< per stream: buffers that the graph may hold at once
  std::vector<std::uint32_t> prefetch;       ///< per stream: frames of a file that are read ahead; live: 0
  std::vector<std::uint64_t> reorder;        ///< per stage; 0 where it does not settle
  std::vector<std::uint64_t> tensors;        ///< per stage: tensors in use below it; 0 where it does not bundle
  std::vector<std::uint64_t> tensor_bytes;   ///< per stage: of one of its hyperframes
  std::vector<std::uint64_t> first_tensors;  ///< per stage: those of first parts that go ahead
  std::vector<std::uint64_t> first_tensor_bytes; ///< per stage: of one of these
  /// What the largest hyperframes make of a batch.
  struct batch_fill {
    std::uint64_t hyperframes = 0, slots = 0; ///< so many, of so many slots each
    std::uint64_t firsts = 0, first_slots = 0; ///< and so many first parts in what they leave free
    std::uint64_t room = 0;                   ///< slots of the batch; 0: the stage takes none
  };
  std::vector<batch_fill> fill;              ///< per stage
  std::vector<stage_resource_ptr> below;     ///< per stage: of the nearest stage below that wants tensors; may be null
  struct memory_line {
    std::string what; ///< "pool of stream cam1"
    std::uint64_t bytes = 0;
    std::string how;  ///< "12 slots x 921600 bytes"
  };
  std::vector<memory_line> memory;
  std::uint64_t memory_total = 0;
  struct wait_line {
    std::string what; ///< "bundle.release.timeout"
    duration longest{}; ///< `duration::max()`: nothing bounds it
    std::string why;
  };
  std::vector<wait_line> waits; ///< along the longest path
  duration longest_wait{};      ///< the sum of those that are bounded
  std::vector<std::string>
    first_waits; ///< how long what goes ahead of a hyperframe waits, a sentence a stage
  std::vector<std::string> remarks; ///< rules that can never fire, and the like
};

struct plan_result {
  std::optional<graph_plan> plan; ///< none where there are faults
  std::vector<fault> faults;
};

/// Looks at what the graph names: probes every camera, loads every model, fits one to the other, and
/// computes the bounds. Fills `info` and `resource` in `graph`. Starts nothing.
/// @param network where cameras and models of stages that run on nodes are looked at; none: here.
plan_result plan_graph(checked_graph& graph, const network_source& network = {});

/// Every fault as a line `file:line:col: sentence`.
std::string to_string(const std::vector<fault>& faults);

} // namespace hyperframes
