#pragma once

#include "runtime/result.hpp"

#include <cstdint>
#include <variant>

namespace hyperframes {

/// Asks the bundlers below to release what they hold, or the frames around its moment.
struct trigger {
  graph_time moment{};
  stream_index stream = ~stream_index{0}; ///< whose hyperframe; all by default
  /// Its moment is a frame's place on the time line. Of a message it is the arrival, which has no
  /// place among the frames of a file that is not read in real time.
  bool of_frame = false;
};

/// The closed set of what an edge can carry.
enum class port_type : std::uint8_t {
  frame,
  aligned_set,
  hyperframe,
  batch,
  result,
  frame_result,
  outcome,
  trigger,
};
const char* to_string(port_type type);

/// One item on an edge; the alternatives stand in the order of `port_type`.
using item = std::variant<frame, aligned_set_ptr, hyperframe_ptr, batch_ptr, result_ptr,
                          frame_result_ptr, outcome_range, trigger>;

inline port_type type_of(const item& i) {
  return static_cast<port_type>(i.index());
}

/// The stream in whose share of a per-stream edge `i` counts: a frame's own; 0 for all others.
stream_index lane_of(const item& i);

/// Adds an outcome for every frame that `i` owns: what an edge does that drops `i`.
/// A frame result owns none: its outcome is final.
void add_outcomes(const item& i, outcome what, reason why, outcome_batch& into);

/// How many frames `i` owns.
std::uint64_t own_frames(const item& i);

/// Notes in every buffer that `i` keeps in use that `stage` has taken it in
/// (buffer_ref::note_taken).
void note_taken(const item& i, std::uint32_t stage, graph_time when) noexcept;

/// Bytes of pooled memory that `i` keeps in use.
std::size_t held_bytes(const item& i);

} // namespace hyperframes
