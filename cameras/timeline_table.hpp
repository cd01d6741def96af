#pragma once

#include "runtime/description.hpp"
#include "runtime/settings.hpp"
#include "runtime/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The tables that the camera `timeline` plays.
namespace hyperframes {

/// A frame of one stream.
struct timeline_row {
  std::uint64_t device_id = 0;
  capture_time captured{};
  duration arrival{};       ///< on the graph's time line
  std::uint16_t flags = 0;  ///< `frame_flag` bits
  std::string image;        ///< path as it is written; empty: none
  std::vector<float> value; ///< empty: none
  source_mark mark;         ///< where the row stands
};

struct timeline_table {
  std::vector<timeline_row> rows;   ///< of the stream, by arrival
  std::vector<std::string> streams; ///< in the column `stream`, in the order of appearance
  std::vector<fault> faults; ///< with file and line, or the inline row's place; rows are void then
};

/// Columns, keys of a JSON line, and keys of an inline row are the same:
///
///   stream        whose row it is; where the column is missing, every row is this stream's
///   frame_id      the device's counter; default: one more than the row above
///   capture_time  on the camera's clock
///   arrival_time  on the graph's time line, not before the row above of the same stream; one
///                 of the two times may be left out and is then the same as the other
///   flags         names joined with `|`: corrupt, key, duplicate, interpolated, gap_before,
///                 no_buffer
///   image         a picture's path
///   value         a number, or several with blanks between them (in JSON and inline: a list)
///
/// Times are seconds ("0.033") or have a unit ("33ms"); with the ending `_ns` in the column's name
/// they are whole nanoseconds. `device_id`, `captured`, `arrived` and `keyframe` are understood
/// too. CSV has a header and quotes as in RFC 4180; blank lines and lines that begin with # are
/// passed over. All rows of a stream have an image, or none has; the same holds for values and
/// their number; a corrupt frame may lack either.
///
/// A line that the stage `jsonl` wrote for a frame or a frame result is a row, too: its times, id
/// and the source's flags are used. Without `device_id` the ids of an epoch go on from those of the
/// one before. Frames whose times it does not know are left out, as a gap.

/// @param name of the file, for marks.
/// @param stream whose rows are wanted; none: of the only stream in the table.
timeline_table read_timeline(
  std::string_view text, const std::string& name, const std::optional<std::string>& stream);

/// The fields of an inline row, and the table that inline rows are.
std::vector<parameter> timeline_row_parameters();
timeline_table
read_timeline_rows(const setting::list& rows, const std::optional<std::string>& stream);

/// A time as tables have it: "33ms", "1.5 s", or a bare number of seconds, up to 100 years.
/// @returns none where `text` is no time.
std::optional<duration> read_table_time(std::string_view text);

} // namespace hyperframes
