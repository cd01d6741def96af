#include "cameras/timeline_row.hpp"

#include "runtime/frame.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace hyperframes::detail {

namespace {

constexpr std::size_t faults_told = 20;
constexpr std::size_t most_values = 1 << 16;

constexpr std::array<column_name, 13> names{{
  {"stream", column::stream},
  {"frame_id", column::frame_id},
  {"device_id", column::frame_id},
  {"capture_time", column::capture_time},
  {"captured", column::capture_time},
  {"capture_time_ns", column::capture_time, true},
  {"arrival_time", column::arrival_time},
  {"arrived", column::arrival_time},
  {"arrival_time_ns", column::arrival_time, true},
  {"arrived_ns", column::arrival_time, true},
  {"flags", column::flags},
  {"image", column::image},
  {"value", column::value},
}};

struct flag_name {
  std::string_view name;
  std::uint16_t bit;
};
constexpr std::array<flag_name, 7> flag_names{{
  {"corrupt", frame_corrupt},
  {"key", frame_key},
  {"duplicate", frame_duplicate},
  {"interpolated", frame_interpolated},
  {"gap_before", frame_gap_before},
  {"no_buffer", frame_no_buffer},
  {"keyframe", frame_key},
}};

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{}
                                         : s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

/// Calls `take` with each part between the signs.
template <class Take>
void split(std::string_view text, std::string_view signs, Take&& take) {
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(signs), text.size());
    if (const auto part = trimmed(text.substr(0, end)); !part.empty())
      take(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

template <class T>
std::optional<T> whole(std::string_view text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    return {};
  return value;
}

std::string in_seconds_text(duration d) {
  auto text = std::to_string(in_seconds(d));
  text.erase(text.find_last_not_of('0') + 1);
  return (text.back() == '.' ? text + '0' : text) + " s";
}

} // namespace

const column_name* find_column(std::string_view name) {
  const auto* found =
    std::find_if(names.begin(), names.end(), [&](const column_name& n) { return name == n.name; });
  return found == names.end() ? nullptr : found;
}

std::string known_columns() {
  return "stream, frame_id, capture_time, arrival_time, flags, image and value";
}

void table_builder::fail(const source_mark& where, std::string sentence) {
  if (table_.faults.size() < faults_told)
    table_.faults.push_back({where, std::move(sentence)});
  else
    ++more_;
}

const source_mark& table_builder::mark_of(const table_cells& cells, column c) const {
  const auto& own = cells.marks[static_cast<std::size_t>(c)];
  return own.file.empty() ? cells.mark : own;
}

bool table_builder::wanted(const table_cells& cells) {
  const auto& name = cells[column::stream];
  if (name.empty())
    return true;
  auto& known = table_.streams;
  if (std::find(known.begin(), known.end(), name) == known.end() && known.size() < 1000)
    known.push_back(name);
  return name == stream_.value_or(known.front());
}

void table_builder::read_id(const table_cells& cells, timeline_row& row) {
  const auto& text = cells[column::frame_id];
  const auto id = text.empty() ? std::optional{next_id_} : whole<std::uint64_t>(text);
  if (!id) {
    fail(
      mark_of(cells, column::frame_id),
      "frame_id is '" + text + "': expected a whole number, 0 or more");
    return;
  }
  row.device_id = *id;
  if (cells.epoch) {
    if (*cells.epoch != epoch_) {
      epoch_ = *cells.epoch;
      epoch_first_id_ = next_id_;
    }
    row.device_id += epoch_first_id_;
  }
  next_id_ = row.device_id + 1;
}

std::optional<duration> table_builder::time_in(const table_cells& cells, column c) {
  const auto& text = cells[c];
  const auto time = read_table_time(text);
  if (!time)
    fail(
      mark_of(cells, c), std::string{c == column::capture_time ? "capture_time" : "arrival_time"}
                           + " is '" + text
                           + "': expected a time such as 33ms, or seconds such as 0.033");
  return time;
}

void table_builder::read_times(const table_cells& cells, timeline_row& row) {
  const bool captured = !cells[column::capture_time].empty();
  const bool arrived = !cells[column::arrival_time].empty();
  if (!captured && !arrived) {
    fail(cells.mark, "the row has no time: give capture_time, arrival_time, or both");
    return;
  }
  const auto first = time_in(cells, captured ? column::capture_time : column::arrival_time);
  const auto second = captured && arrived ? time_in(cells, column::arrival_time) : first;
  if (!first || !second)
    return;
  row.captured = capture_time{*first};
  row.arrival = *second;
  if (!table_.rows.empty() && row.arrival < table_.rows.back().arrival)
    fail(
      mark_of(cells, column::arrival_time), "the frame arrives at " + in_seconds_text(row.arrival)
                                              + ", before the row above it ("
                                              + in_seconds_text(table_.rows.back().arrival)
                                              + "): sort the rows of a stream by their arrival");
}

void table_builder::read_flags(const table_cells& cells, timeline_row& row) {
  split(cells[column::flags], "|", [&](std::string_view name) {
    const auto* known = std::find_if(
      flag_names.begin(), flag_names.end(), [&](const flag_name& f) { return f.name == name; });
    if (known != flag_names.end())
      row.flags |= known->bit;
    else
      fail(
        mark_of(cells, column::flags), "there is no flag '" + std::string{name}
                                         + "': known are corrupt, key, duplicate, interpolated, "
                                           "gap_before and no_buffer, joined with |");
  });
}

void table_builder::read_value(const table_cells& cells, timeline_row& row) {
  split(cells[column::value], " ;\t", [&](std::string_view text) {
    const auto number = whole<double>(text);
    if (!number || !std::isfinite(static_cast<float>(*number)))
      fail(
        mark_of(cells, column::value),
        "value has '" + std::string{text} + "': expected numbers with blanks between them");
    else if (row.value.size() == most_values)
      fail(mark_of(cells, column::value), "value has more than 65536 numbers");
    else
      row.value.push_back(static_cast<float>(*number));
  });
}

void table_builder::add(const table_cells& cells) {
  if (!wanted(cells))
    return;
  if (table_.faults.size() == faults_told && more_ > 1000)
    return;
  timeline_row row;
  row.mark = cells.mark;
  read_id(cells, row);
  read_times(cells, row);
  read_flags(cells, row);
  read_value(cells, row);
  row.image = cells[column::image];
  if (!row.image.empty() && !row.value.empty())
    fail(cells.mark, "the row has an image and a value: a frame is one of them");
  table_.rows.push_back(std::move(row));
}

/// All frames of a stream hold the same: a picture, as many numbers, or nothing.
void table_builder::check_content() {
  const timeline_row* first = nullptr;
  for (const auto& row : table_.rows) {
    const bool filled = !row.image.empty() || !row.value.empty();
    if (!filled && (row.flags & (frame_corrupt | frame_no_buffer)) != 0)
      continue;
    if (!first) {
      first = &row;
      continue;
    }
    if (row.image.empty() != first->image.empty() || row.value.size() != first->value.size()) {
      const auto words = [](const timeline_row& r) {
        return !r.image.empty()  ? std::string{"an image"}
               : r.value.empty() ? std::string{"neither image nor value"}
                                 : std::to_string(r.value.size()) + " numbers";
      };
      fail(
        row.mark, "the row has " + words(row) + ", but the one at " + first->mark.to_string()
                    + " has " + words(*first) + ": the frames of a stream are of one kind");
    }
  }
}

timeline_table table_builder::finish(const source_mark& where) {
  check_content();
  if (!stream_ && table_.streams.size() > 1)
    fail(
      where, "the table has frames of " + std::to_string(table_.streams.size()) + " streams ("
               + table_.streams[0] + ", " + table_.streams[1]
               + (table_.streams.size() > 2 ? ", ..." : "") + "): say which one with stream:");
  else if (table_.rows.empty() && table_.faults.empty())
    fail(
      where, table_.streams.empty()
               ? std::string{"the table has no rows"}
               : "the table has no row of stream '" + stream_.value_or("") + "', but of "
                   + table_.streams[0] + (table_.streams.size() > 1 ? ", ..." : "")
                   + ": say which one with stream:");
  if (more_ > 0)
    table_.faults.push_back({where, "and " + std::to_string(more_) + " more"});
  return std::move(table_);
}

} // namespace hyperframes::detail
