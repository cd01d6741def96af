#pragma once

#include "runtime/frame.hpp"
#include "runtime/outcome.hpp"
#include "runtime/tensor.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace hyperframes {

/// Why a hyperframe was closed; `first`: it is open, and this is the part of it that went ahead.
enum class release_reason : std::uint8_t { count, timeout, window, trigger, late, flush, first };
const char* to_string(release_reason r);

/// Unique across a deployment.
struct hyperframe_sequence {
  std::uint16_t node = 0;
  std::uint32_t run = 0;
  std::uint64_t counter = 0;
  friend auto operator<=>(const hyperframe_sequence&, const hyperframe_sequence&) = default;
};

/// One position of a hyperframe: a frame, or the reason for its absence.
struct slot {
  frame_meta meta;               ///< of its frame; where absent, only `stream` holds
  bool valid = false;            ///< its bit of the mask: the slot holds a frame
  bool own = false;              ///< the frame is new in this hyperframe; only then has it an outcome here
  reason absent = reason::none;  ///< why the slot is empty
  slot_geometry geometry;
};

/// With `stream_first` a hyperframe comes in two parts with the same sequence number: its first
/// moment, and the others when it is closed, if there are any. Each is a `hyperframe` of its own.
struct hyperframe_descriptor {
  hyperframe_sequence sequence;
  std::uint32_t group = 0;    ///< index of the stream or group that it was made of
  recycled_vector<slot>
    slots; ///< [B], or of its part; for `over: both` time first: slot = time * members + member
  std::uint32_t first_slot = 0; ///< place of `slots[0]`: above 0 where a first part went ahead
  std::uint32_t members = 1;  ///< cameras per moment
  release_reason released_by = release_reason::count;
  graph_time opened{};        ///< arrival of its oldest own member; with `pre` not before its trigger's
  graph_time released{};
  duration span{}; ///< newest minus oldest capture time on the graph's time line, of all parts
  bool consecutive = true;    ///< no frame is missing between its first and its last
  bool off_pace = false;      ///< its moments span more or less than their rate says, by half a period
  std::int32_t priority = 0;

  std::size_t valid_count() const;
  std::size_t own_count() const;
  /// min over own slots; `never` where none has a deadline.
  graph_time deadline() const;
};

/// `B` slots that are scheduled, inferred, dropped and retried as one unit.
/// Immutable once released by the bundler.
struct hyperframe {
  hyperframe_descriptor descriptor;
  pack_spec pack;            ///< how the tensor was made; width and height are resolved
  buffer_ref tensor; ///< [slots, slot...], contiguous; empty where nothing downstream infers
  recycled_vector<frame> frames; ///< [slots] where `keep_frames` asks for them, otherwise empty
};
using hyperframe_ptr = std::shared_ptr<const hyperframe>;

/// The same moment of a group's streams: one entry a member, in the group's order.
struct aligned_set {
  std::uint32_t group = 0;
  graph_time moment{}; ///< the anchor's place on the time line
  struct member {
    std::optional<frame> item;
    bool own = false;             ///< false where `hold_last` repeats an earlier frame
    reason absent = reason::none;
    stream_index stream = 0;
  };
  recycled_vector<member> members;
  graph_time arrived{}; ///< of its oldest own member
};
using aligned_set_ptr = std::shared_ptr<const aligned_set>;

/// What is handed to a worker at once: whole hyperframes, or parts of one, in order.
struct batch {
  std::uint64_t number = 0;
  struct part {
    hyperframe_ptr source;
    std::uint32_t first = 0; ///< slot
    std::uint32_t count = 0; ///< slots
  };
  recycled_vector<part> parts;
  std::uint32_t slots = 0; ///< in all parts
  graph_time dispatched{};
};
using batch_ptr = std::shared_ptr<const batch>;

} // namespace hyperframes
