#pragma once

#include "runtime/buffer_pool.hpp"
#include "runtime/media_type.hpp"
#include "runtime/time.hpp"

#include <cstdint>
#include <tuple>

namespace hyperframes {

/// A stream's position in its graph's list of streams.
using stream_index = std::uint32_t;

/// Bits of `frame_meta::flags`.
enum frame_flag : std::uint16_t {
  frame_corrupt = 1,      ///< the source says that the content is damaged; the frame fails alone
  frame_key = 2,          ///< decodes without earlier frames
  frame_duplicate = 4,    ///< repeats its predecessor
  frame_interpolated = 8, ///< made from its neighbours
  frame_gap_before = 16,  ///< frames are missing between this one and its predecessor
  frame_late = 32,        ///< its result came after its deadline
  frame_no_buffer = 64,   ///< a live source met an empty pool: numbered, but without content
  frame_no_memory = 128,  ///< larger than before, and `memory` leaves nothing: without content
};

/// A frame's place in its stream: results come in this order.
struct frame_position {
  std::uint32_t epoch = 0;
  std::uint64_t frame_id = 0;
  friend auto operator<=>(const frame_position&, const frame_position&) = default;
};

struct frame_meta {
  stream_index stream = 0;
  std::uint32_t epoch = 0;     ///< a stretch in which the stream's clock runs forward
  std::uint64_t frame_id = 0;  ///< contiguous from 0 within an epoch, given by capture
  std::uint64_t device_id = 0; ///< the source's own counter
  std::uint64_t trace_id = 0;  ///< unique in the run
  capture_time captured{};     ///< on the camera's clock
  arrival_time arrived{};
  graph_time timeline{};       ///< capture time on the graph's time line, by the clock model
  graph_time deadline = never; ///< timeline + the graph's latency budget
  std::uint16_t flags = 0;     ///< `frame_flag` bits
  std::int32_t truth = -1;     ///< class that the source knows to be right, or -1
  float change_score = -1;     ///< 0..1 against the last frame; -1 unknown

  frame_position position() const { return {epoch, frame_id}; }
};

/// One item of a stream. Cheap to copy; immutable once published.
struct frame {
  frame_meta meta;
  media_type_ptr media;
  buffer_ref buffer; ///< the content; may be empty only with `frame_no_buffer`, `frame_no_memory`
                     ///< or `frame_corrupt`
};

} // namespace hyperframes
