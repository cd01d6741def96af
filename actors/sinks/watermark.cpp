#include "actors/sinks/watermark.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace hyperframes {

namespace {

struct line_start {
  std::string stream;
  frame_position at;
};

bool skip(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected))
    return false;
  text.remove_prefix(expected.size());
  return true;
}

template <class Number>
bool read(std::string_view& text, Number& into) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (problem != std::errc{})
    return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// A string in JSON, from its opening quote on.
bool read(std::string_view& text, std::string& into) {
  bool escapes = false;
  std::size_t end = 1;
  for (; end < text.size() && text[end] != '"'; ++end)
    if (text[end] == '\\') {
      escapes = true;
      ++end;
    }
  if (!text.starts_with('"') || end >= text.size())
    return false;
  if (escapes) {
    const auto value = nlohmann::json::parse(text.substr(0, end + 1), nullptr, false);
    if (!value.is_string())
      return false;
    into = value.get<std::string>();
  } else {
    into = text.substr(1, end - 1);
  }
  text.remove_prefix(end + 1);
  return true;
}

/// The keys in the order in which `line_writer` writes them.
std::optional<line_start> read_start(std::string_view line) {
  line_start s;
  if (
    line.ends_with('}') && skip(line, R"({"type":"frame_result","stream":)") && read(line, s.stream)
    && skip(line, R"(,"epoch":)") && read(line, s.at.epoch) && skip(line, R"(,"frame_id":)")
    && read(line, s.at.frame_id) && line.starts_with(','))
    return s;
  return std::nullopt;
}

} // namespace

expected<watermark> read_watermark(std::string_view text, const stream_begins& streams) {
  watermark found;
  found.whole = text.rfind('\n') + 1; // none: 0
  auto missing = std::ranges::count_if(streams, [](const auto& s) { return s.second.wanted; });
  for (auto end = found.whole; end > 0;) {
    // `end - 1` is the line's break; the one before ends the line above.
    const auto begin = end < 2 ? 0 : text.rfind('\n', end - 2) + 1;
    const auto line = text.substr(begin, end - 1 - begin);
    const auto start = read_start(line);
    if (!start || (end == found.whole && !nlohmann::json::accept(line)))
      return make_error(
        errc::io_failed, {},
        "has at byte " + std::to_string(begin)
          + " a line that is no result of a frame: name another file, or remove this one");
    const auto of = streams.find(start->stream);
    if (of == streams.end())
      return make_error(
        errc::io_failed, {},
        "has results of the stream '" + start->stream
          + "', which the run before did not have: they are another graph's; name another "
            "file, or run without `--continue` to replace it");
    if (start->at.epoch < of->second.first_epoch)
      break;
    if (found.last.emplace(start->stream, start->at).second && of->second.wanted)
      --missing;
    if (missing == 0)
      break;
    end = begin;
  }
  return found;
}

} // namespace hyperframes
