#pragma once

#include "graphs/document.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hyperframes {

/// Turns keys and values into checked settings, by the description of the parameters.
///
/// Every declared parameter is in the result: with its value, its default, or none. An object that
/// is not in the text takes its fields' defaults, unless one of its fields is required.
/// @param map the keys and values; null counts as none.
/// @param owner stands before each name in sentences: "bundle", "camera".
/// @param reserved keys of `map` that are not looked at.
/// @returns the settings, to be used only where no fault was added.
std::shared_ptr<settings> check_parameters(
  const std::vector<parameter>& parameters, const document_node& map, const std::string& owner,
  std::span<const std::string> reserved, std::vector<fault>& faults);

/// The settings that a map without any key gives.
std::shared_ptr<settings> default_settings(const std::vector<parameter>& parameters);

/// The names of `parameters`.
std::vector<std::string> names_of(const std::vector<parameter>& parameters);

/// The mark of a value that stands in a file, or `otherwise` where it stands in none.
inline const source_mark& mark_or(const setting& s, const source_mark& otherwise) {
  return s.mark.file.empty() ? otherwise : s.mark;
}

// What the graph file itself takes, described as stages and cameras are: the checker, the schema
// and the docs read it from here.
const std::vector<parameter>& graph_parameters();  ///< name, latency_budget, memory, seed
const std::vector<parameter>& stream_parameters(); ///< id, group, priority (`camera` stands apart)
const std::vector<parameter>& edge_parameters();   ///< `from: { stage, port, capacity, ... }`

} // namespace hyperframes
