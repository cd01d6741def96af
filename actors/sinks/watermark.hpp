#pragma once

#include "runtime/error.hpp"
#include "runtime/frame.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hyperframes {

/// Of a stream in the run that wrote the end of a file of results.
struct stream_begin {
  std::uint32_t first_epoch = 0; ///< those before are earlier runs'
  bool wanted = true;            ///< it has captured frames
};
using stream_begins = std::map<std::string, stream_begin, std::less<>>;

/// How far a file of results goes: what of it is whole, and each stream's last frame in that run.
struct watermark {
  std::uint64_t whole = 0; ///< bytes of whole lines; what follows is half a line
  std::map<std::string, frame_position, std::less<>> last; ///< of the streams whose line was met
};

/// Reads `text`, what `jsonl` wrote behind an unbundle, from its end until each stream that is
/// wanted, or a line of an earlier run, was met, or to its beginning. Of each line only the first
/// keys are read, of the last one that is whole all: lines may be of any length.
/// @returns `io_failed` without a place, the end of a sentence that begins with the file's name,
/// where a line that was read is none that this version writes, or of a stream that is not in
/// `streams`.
expected<watermark> read_watermark(std::string_view text, const stream_begins& streams);

} // namespace hyperframes
