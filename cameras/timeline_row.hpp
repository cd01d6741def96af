#pragma once

#include "cameras/timeline_table.hpp"

#include <array>

/// From the cells of a table to its rows; for timeline_table.cpp alone.
namespace hyperframes::detail {

enum class column : std::uint8_t {
  stream,
  frame_id,
  capture_time,
  arrival_time,
  flags,
  image,
  value
};
inline constexpr std::size_t columns = 7;

/// What a column's name means.
struct column_name {
  const char* name;
  column is;
  bool nanoseconds = false;
};
const column_name* find_column(std::string_view name);
/// "stream, frame_id, ...".
std::string known_columns();

/// One row as text. A cell that is empty is as good as none.
struct table_cells {
  source_mark mark;
  std::array<std::string, columns> text{};
  std::array<source_mark, columns> marks{}; ///< where cells have places of their own
  std::string& operator[](column c) { return text[static_cast<std::size_t>(c)]; }
  const std::string& operator[](column c) const { return text[static_cast<std::size_t>(c)]; }
  std::optional<std::uint64_t> epoch{}; ///< of a frame result
};

/// Puts rows together; keeps every fault.
class table_builder {
public:
  /// @param stream whose rows are wanted; none: of the only one.
  explicit table_builder(std::optional<std::string> stream) : stream_(std::move(stream)) {}

  void add(const table_cells& cells);
  void fail(const source_mark& where, std::string sentence);
  /// @param where the table begins.
  timeline_table finish(const source_mark& where);

private:
  const source_mark& mark_of(const table_cells& cells, column c) const;
  bool wanted(const table_cells& cells);
  void read_id(const table_cells& cells, timeline_row& row);
  void read_times(const table_cells& cells, timeline_row& row);
  std::optional<duration> time_in(const table_cells& cells, column c);
  void read_flags(const table_cells& cells, timeline_row& row);
  void read_value(const table_cells& cells, timeline_row& row);
  void check_content();

  std::optional<std::string> stream_;
  timeline_table table_;
  std::size_t more_ = 0; ///< faults that are not told
  std::uint64_t next_id_ = 0;
  std::uint64_t epoch_ = 0, epoch_first_id_ = 0;
};

} // namespace hyperframes::detail
