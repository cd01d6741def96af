#pragma once

#include "graphs/graph.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// What a graph reads and writes by name, and whether it can. Files are looked at, not opened.
namespace hyperframes {

struct graph_file {
  std::string what;           ///< "infer.model", "camera.path", "the graph file"
  std::string stream;         ///< whose camera reads it; empty: no camera does
  std::string written;        ///< as it stands in the graph
  std::filesystem::path path; ///< to open it; `-` where it is the standard output
  source_mark mark;
};

/// The graph's own file, and what every parameter that names a file to read names.
std::vector<graph_file> files_read(const checked_graph& graph);
/// What its sinks write.
std::vector<graph_file> files_written(const checked_graph& graph);

/// What tells files apart: equal where two paths name one file, whether it is there yet or not. Empty
/// where nothing is replaced by writing: devices and pipes take what comes. The standard output is
/// `-`: two writers tear each other's lines apart.
std::string identity_of(const std::filesystem::path& path);

/// "a directory", "a named pipe", "a device", "a socket"; empty where `path` is a regular file or
/// is not there.
std::string special_kind(const std::filesystem::path& path);

/// True where the stage can read here what it names.
bool is_here(const checked_graph& graph, const checked_stage& stage);

/// A fault for each file that is not there, is no file, or cannot be read or written; and where one
/// is written twice, or read and written. A stream or stage that cannot read what it names is no
/// longer `sound`; those that are not sound already are passed over, and those that were looked at
/// elsewhere.
void check_files(checked_graph& graph, std::vector<fault>& faults);

} // namespace hyperframes
