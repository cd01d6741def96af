#pragma once

#include "runtime/item.hpp"
#include "runtime/stage.hpp"

#include <cstdint>
#include <string>

namespace hyperframes {

/// How much of a model's raw tensors a line holds.
struct raw_detail {
  bool values = false;        ///< false: name, type and shape only
  std::uint64_t limit = 1024; ///< values of one tensor that are written; the rest is left out
};

/// Writes an item as one line of JSON, as docs/results.md says; the lines of frame results are
/// fixed by graphs/result.schema.json.
///
/// Plain, for one thread at a time; keeps no item.
class item_json {
public:
  /// @param facts gives the names of streams, groups and true classes.
  item_json(std::shared_ptr<const graph_facts> facts, raw_detail raw);

  /// Appends the line of `i` to `line`, without a line break.
  void append(const item& i, std::string& line) const;

  /// Appends the line of a frame that has an outcome and nothing else.
  void append_gap(const outcome_range& range, std::uint64_t frame_id, std::string& line) const;

private:
  std::shared_ptr<const graph_facts> facts_;
  raw_detail raw_;
};

} // namespace hyperframes
