#pragma once

#include "runtime/description.hpp"
#include "runtime/settings.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The text of a graph as a tree, and what is done to it before its meaning is looked at.
namespace hyperframes {

struct document_entry;

/// One value of a graph's text, with the place where it stands.
struct document_node {
  enum class kind { null, scalar, list, map };

  kind what = kind::null;
  std::string text;                    ///< of a scalar
  std::vector<document_node> items;    ///< of a list
  std::vector<document_entry> entries; ///< of a map, in the text's order, keys unique
  source_mark mark;
  value_source source = value_source::file;
  bool unknown = false; ///< a scalar whose variables could not be filled in; the fault was told

  const document_entry* find(std::string_view key) const;
  document_entry* find(std::string_view key);

  static document_node scalar(std::string text, source_mark mark, value_source source);
};

struct document_entry {
  std::string key;
  source_mark mark;
  document_node value;
};

/// "a list", "keys and values", "the text 'x'", "nothing": how a sentence names what was found.
std::string in_words(const document_node& n);

/// @returns whether `n` or anything below it is `unknown`.
bool has_unknown(const document_node& n);

/// Reads YAML.
/// @param name stands in marks and sentences.
/// @returns the tree, also where a key stands twice (its first value counts); none where the text
/// is no text, is empty or does not parse. Appends a fault for each of these.
std::optional<document_node>
parse_document(const std::string& text, const std::string& name, std::vector<fault>& faults);

/// Puts each value where its path says (`streams.0.camera.path`: keys and list positions). A
/// value in [ ] or { } is read as YAML, any other is taken as it stands. A key that is missing is
/// added, except for top-level keys and stages, which must be known. A scalar under `from` becomes
/// `{ stage: scalar }` where a path goes below it.
void apply_overrides(
  document_node& root, const std::vector<std::pair<std::string, std::string>>& overrides,
  std::vector<fault>& faults);

/// Replaces `${NAME}` and `${NAME:-default}` in every scalar that stands in the file or came by
/// `--set`; `$${` stands for `${`. A default is taken where the variable is not set or empty; it may
/// hold pairs of braces and further variables, which are looked at only where it is taken.
void expand_variables(
  document_node& root, const std::map<std::string, std::string>& environment,
  std::vector<fault>& faults);

/// Copies of `entry`, one for each value of the ranges (`{1..4}`) in its scalars; `entry` itself
/// where there are none. Equal ranges advance together, different ones multiply, the first in `id`
/// slowest. `{01..12}` keeps its width.
std::vector<document_node> expand_ranges(const document_node& entry, std::vector<fault>& faults);

/// @returns what is wrong with the first thing in `text`, a name or a pattern of names, that has
/// braces and is no range; empty where there is none.
std::string range_problem(const std::string& text);

/// The texts that the ranges in `text` stand for; `text` itself where there are none.
std::vector<std::string> expand_ranges(const std::string& text);

/// The keys that a graph file may have, in the order of the documentation.
const std::vector<std::string>& top_level_keys();

} // namespace hyperframes
