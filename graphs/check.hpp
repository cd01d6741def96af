#pragma once

#include "graphs/document.hpp"
#include "graphs/graph.hpp"

#include <map>
#include <string>
#include <vector>

namespace hyperframes {

/// What one entry of `from:` says.
struct written_input {
  std::string stage;
  std::string port; ///< empty: not named
  setting capacity, capacity_bytes, overflow;
  source_mark mark;
};

/// A graph while it is checked: each step adds what it understood and the faults that it found.
struct graph_check {
  const catalogues& known;
  std::vector<fault>& faults;
  checked_graph graph{};
  std::vector<std::vector<written_input>> written{}; ///< per stage
  std::vector<bool> inputs_known{};                  ///< per stage: all of `from` was understood
  std::vector<bool> wired{};                         ///< per stage: its inputs have no fault
  bool streams_known = true;                         ///< every stream has its id
  std::map<std::string, source_mark> ids{};          ///< where each stream's id stands first

  void fail(const source_mark& where, std::string sentence) {
    faults.push_back({where, std::move(sentence)});
  }
};

/// Where a document comes from.
struct document_origin {
  std::string name;         ///< in marks
  std::string folder = "."; ///< that relative paths start from
  std::string file{};       ///< empty: it was read from no file
};

/// The whole check of a document that was parsed: expands ranges, checks the keys at the top, the
/// streams, the stages and their wiring; where that has faults, also what the sound parts name.
/// Sorts the faults by line.
read_result check_document(
  document_node root, document_origin origin, const catalogues& known,
  const graph_options& options, std::vector<fault> faults);

// The steps of `check_document`.
void check_streams(const document_node& streams, graph_check& check);
void check_stages(const document_node& stages, graph_check& check);
/// Joins the stages by edges and follows the streams along them.
void check_wiring(graph_check& check);
void check_cycles(graph_check& check);
/// Which streams each source captures and which pass each stage; streams that are captured by
/// nobody or twice; streams that come to a settling stage by two paths.
void check_paths(graph_check& check);
/// What stages have to say of the streams that pass them. Only where the wiring has no fault.
void check_passing_streams(graph_check& check);

/// @returns true where `name` holds letters, digits and the signs `others` only.
bool is_plain_name(std::string_view name, std::string_view others);

/// @returns true where `text` matches `pattern` (* any letters, ? one letter).
bool matches(std::string_view pattern, std::string_view text);

/// Stage names joined by arrows: "a -> b -> a".
std::string path_in_words(const checked_graph& graph, const std::vector<std::size_t>& stages);

/// The stages in an order in which every edge points forward; those on a cycle are missing.
std::vector<std::size_t> topological_order(const checked_graph& graph);

/// @returns true where frames' accounts end in `stage`: it settles, or items come whose frames have no
/// outcome yet, and it gives none on: a sink, or a stage that makes triggers of frames.
bool ends_accounts(const checked_graph& graph, const checked_stage& stage);

/// Sorts by place and removes faults that say the same of the same place.
void sort_faults(std::vector<fault>& faults);

} // namespace hyperframes
