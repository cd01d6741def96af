#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// What a coordinator and its nodes say to each other beside the data. Everything here is small.
namespace hyperframes {

/// Counted up when anything that passes between processes changes: both ends must have the same.
inline constexpr std::uint32_t node_protocol = 2;

/// What a node says of itself.
struct node_facts {
  std::string name;
  std::string version; ///< of the program
  std::uint32_t protocol = 0;
  std::uint32_t slots = 0; ///< workers that it offers
  std::uint32_t taken = 0; ///< of these, by all deployments
  bool leaving = false;    ///< it takes no more work, and gives back what it has
  double load = 0;         ///< runnable threads, averaged over a minute
  std::int64_t process = 0;
};

/// What a node needs to serve one run of a graph.
struct deployment_order {
  std::string graph;                                            ///< name
  std::string text;                                             ///< of the graph file
  std::vector<std::pair<std::string, std::string>> overrides;   ///< of its values, in order
  std::vector<std::pair<std::string, std::string>> environment; ///< that the text refers to
  std::vector<std::string> stages; ///< that run there as a part of the graph; none: workers only
  std::uint16_t part = 0;          ///< its number, from 1 on; 0 where there are no such stages
  std::vector<std::byte> facts; ///< of the graph's cameras and models, where it has a part
};

/// What a node found of the cameras and models of `deployment_order::stages`.
struct look_answer {
  std::string problem;          ///< a sentence; empty: it has looked
  std::vector<std::byte> found; ///< in the form that the layer above gives it
};

/// A place for one worker of a stage.
struct seat_order {
  std::uint32_t seat = 0;              ///< unique in the deployment
  std::string stage;                   ///< by its name in the graph
  std::uint32_t slots = 1;             ///< of the largest batch
  std::uint32_t width = 0, height = 0; ///< pixels of a frame, to warm up with
  std::uint64_t call_bytes = 0;        ///< of the largest batch's tensors
};

struct seat_answer {
  std::string problem; ///< a sentence; empty: the seat is warm
  bool full = false;   ///< the node has no slot free, or is leaving: another time, another node
  std::string summary; ///< of the model
  bool has_labels = false;
  std::vector<std::string> labels; ///< of its classes
};

} // namespace hyperframes
