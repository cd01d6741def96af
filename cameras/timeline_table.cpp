#include "cameras/timeline_table.hpp"

#include "cameras/timeline_row.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace hyperframes {

namespace {

using detail::column;
using detail::columns;
using detail::table_builder;
using detail::table_cells;
using nlohmann::json;

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{}
                                         : s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

/// Takes the next line off `text`.
std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// The cells of a CSV record. A quoted cell may go over lines: `line` counts them.
/// @returns none where a quote is not closed.
std::optional<std::vector<std::string>> next_record(std::string_view& text, int& line) {
  std::vector<std::string> cells{{}};
  bool quoted = false, was_quoted = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\n')
        ++line;
      if (c != '"')
        cells.back() += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        cells.back() += text[++i];
      else
        quoted = false;
    } else if (c == '"' && trimmed(cells.back()).empty() && !was_quoted) {
      cells.back().clear();
      quoted = was_quoted = true;
    } else if (c == ',') {
      cells.emplace_back();
      was_quoted = false;
    } else if (c == '\n') {
      break;
    } else {
      cells.back() += c;
    }
  }
  text.remove_prefix(std::min(i + 1, text.size()));
  if (quoted)
    return {};
  for (auto& cell : cells)
    cell = trimmed(cell);
  return cells;
}

/// A number of nanoseconds gets its unit.
std::string with_unit(std::string text, const detail::column_name& name) {
  if (name.nanoseconds && !text.empty())
    text += "ns";
  return text;
}

void read_csv(std::string_view text, const std::string& name, table_builder& into) {
  std::vector<const detail::column_name*> header;
  bool has_header = false;
  for (int line = 1; !text.empty(); ++line) {
    const source_mark mark{name, line, 1};
    const auto peeked = trimmed(text.substr(0, text.find('\n')));
    if (peeked.empty() || peeked.front() == '#') {
      next_line(text);
      continue;
    }
    const auto record = next_record(text, line);
    if (!record)
      return into.fail(mark, "a quote is opened and not closed");
    if (!has_header) {
      has_header = true;
      for (const auto& cell : *record) {
        header.push_back(detail::find_column(cell));
        if (!header.back())
          into.fail(
            mark, "there is no column '" + cell + "': known are " + detail::known_columns());
        else if (
          std::count_if(
            header.begin(), header.end(),
            [&](const auto* h) { return h && h->is == header.back()->is; })
          > 1)
          into.fail(mark, "the column '" + cell + "' stands twice");
      }
      continue;
    }
    if (record->size() != header.size()) {
      into.fail(
        mark, "the row has " + std::to_string(record->size()) + " cells, but the header names "
                + std::to_string(header.size()) + " columns");
      continue;
    }
    table_cells cells;
    cells.mark = mark;
    for (std::size_t i = 0; i < header.size(); ++i)
      if (header[i])
        cells[header[i]->is] = with_unit((*record)[i], *header[i]);
    into.add(cells);
  }
}

/// A JSON value as a cell; none where it is no text, number, or list of them.
std::optional<std::string> cell_of(const json& v, column c) {
  if (v.is_null())
    return std::string{};
  if (v.is_string())
    return v.get<std::string>();
  if (v.is_number_integer())
    return v.dump();
  if (v.is_number() && (c == column::value || std::abs(v.get<double>()) > 1e10))
    return v.dump();
  if (v.is_number()) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.9f", v.get<double>());
    return std::string{text.data()};
  }
  if (!v.is_array() || (c != column::flags && c != column::value))
    return {};
  std::string joined;
  for (const auto& entry : v) {
    if (entry.is_array())
      return {};
    const auto one = cell_of(entry, c);
    if (!one)
      return {};
    joined += (joined.empty() ? "" : c == column::flags ? "|" : " ") + *one;
  }
  return joined;
}

/// What the graph, not the source, has made of a frame: no flags of a row.
void keep_source_flags(const json& flags, table_cells& cells) {
  cells[column::flags].clear();
  for (const auto& f : flags)
    if (f.is_string() && f != "late" && f != "interpolated" && f != "no_buffer")
      cells[column::flags] += (cells[column::flags].empty() ? "" : "|") + f.get<std::string>();
}

void read_json_line(const json& row, const source_mark& mark, table_builder& into) {
  const auto type = row.find("type");
  const bool result = type != row.end() && (*type == "frame_result" || *type == "frame");
  if (type != row.end() && !result)
    return into.fail(
      mark, "the line has type " + type->dump(-1, ' ', false, json::error_handler_t::replace)
              + ": expected none, or \"frame\" or \"frame_result\" as the stage jsonl writes them");
  table_cells cells;
  cells.mark = mark;
  for (const auto& [key, value] : row.items()) {
    const auto* known = detail::find_column(key);
    if (!known || (result && (known->is == column::image || known->is == column::value))) {
      if (!result)
        into.fail(mark, "there is no key '" + key + "': known are " + detail::known_columns());
      continue;
    }
    if (result && key == "device_id")
      continue; // read below, in place of frame_id
    const auto text = cell_of(value, known->is);
    if (!text)
      into.fail(mark, key + " is " + value.type_name() + ", which no row can have there");
    else
      cells[known->is] = with_unit(*text, *known);
  }
  if (result) {
    if (const auto flags = row.find("flags"); flags != row.end())
      keep_source_flags(*flags, cells);
    if (const auto id = row.find("device_id"); id != row.end() && id->is_number_unsigned())
      cells[column::frame_id] = id->dump();
    else if (const auto epoch = row.find("epoch");
             epoch != row.end() && epoch->is_number_unsigned())
      cells.epoch = epoch->get<std::uint64_t>();
    if (cells[column::capture_time].empty() && cells[column::arrival_time].empty())
      return;
  }
  into.add(cells);
}

void read_json_lines(std::string_view text, const std::string& name, table_builder& into) {
  for (int line = 1; !text.empty(); ++line) {
    const auto row = trimmed(next_line(text));
    if (row.empty() || row.front() == '#')
      continue;
    const source_mark mark{name, line, 1};
    const auto parsed = json::parse(row.begin(), row.end(), nullptr, false);
    if (!parsed.is_object())
      into.fail(mark, "the line is no JSON object: expected { \"frame_id\": 0, ... } in each line");
    else
      read_json_line(parsed, mark, into);
  }
}

std::string text_of(const setting& s) {
  if (const auto* text = std::get_if<std::string>(&s.value))
    return *text;
  if (const auto* i = std::get_if<std::int64_t>(&s.value))
    return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&s.value)) {
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), *d).ptr;
    return {text.data(), end};
  }
  return {};
}

} // namespace

timeline_table read_timeline(
  std::string_view text, const std::string& name, const std::optional<std::string>& stream) {
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  table_builder builder{stream};
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    read_json_lines(text, name, builder);
  else
    read_csv(text, name, builder);
  return builder.finish({name, 1, 1});
}

timeline_table
read_timeline_rows(const setting::list& rows, const std::optional<std::string>& stream) {
  table_builder builder{stream};
  for (const auto& s : rows) {
    table_cells cells;
    cells.mark = s.mark;
    for (const auto& [key, value] : std::get<std::shared_ptr<settings>>(s.value)->all()) {
      const auto* known = detail::find_column(key);
      if (!known)
        continue;
      cells.marks[static_cast<std::size_t>(known->is)] = value.mark;
      auto& cell = cells[known->is];
      cell = text_of(value);
      if (const auto* list = std::get_if<setting::list>(&value.value))
        for (const auto& one : *list)
          cell += (cell.empty() ? "" : known->is == column::flags ? "|" : " ") + text_of(one);
    }
    builder.add(cells);
  }
  return builder.finish(rows.empty() ? source_mark{} : rows.front().mark);
}

std::vector<parameter> timeline_row_parameters() {
  using enum parameter_type;
  return {
    {.name = "stream", .type = text, .help = "Whose frame it is; default: this stream's."},
    {.name = "frame_id",
     .type = integer,
     .help = "The device's counter; default: one more than the row above.",
     .least = 0},
    {.name = "capture_time",
     .type = text,
     .help = "On the camera's clock, such as 33ms or 0.033; default: as arrival_time."},
    {.name = "arrival_time",
     .type = text,
     .help = "On the graph's time line; default: as capture_time."},
    {.name = "flags",
     .type = list,
     .help = "corrupt, key, duplicate, interpolated, gap_before, no_buffer.",
     .element = text},
    {.name = "image", .type = text, .help = "A picture, relative to the graph file's folder."},
    {.name = "value",
     .type = list,
     .help = "A number or several: the frame is a vector of float32.",
     .element = number},
  };
}

} // namespace hyperframes
