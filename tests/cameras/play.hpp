#pragma once

#include "tests/cameras/drive.hpp"

#include <memory>

/// Playing a camera in virtual time, and writing down what came.
namespace hyperframes::test {

/// Milliseconds with up to six places behind the point.
inline std::string ms_text(duration d) {
  auto text = std::to_string(in_ms(d));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

inline std::string flags_text(std::uint16_t flags) {
  std::string text;
  const auto add = [&](std::uint16_t bit, const char* name) {
    if ((flags & bit) != 0)
      text += std::string{" "} + name;
  };
  add(frame_corrupt, "corrupt");
  add(frame_key, "key");
  add(frame_duplicate, "duplicate");
  add(frame_gap_before, "gap");
  add(frame_no_buffer, "no_buffer");
  add(frame_no_memory, "no_memory");
  return text;
}

/// "at 100: 7 of 70 gap": at 100 ms came device frame 7, captured at 70 ms, with a gap before it.
inline std::string line_of(graph_time now, const captured_frame& f) {
  return "at " + ms_text(now.time_since_epoch()) + ": " + std::to_string(f.device_id) + " of "
         + ms_text(f.captured.time_since_epoch()) + flags_text(f.flags);
}

/// What an opened camera gives up to `until`, asked whenever something is due; "end" where it ends.
template <class Also>
std::vector<std::string> play(camera& c, graph_time until, Also&& also) {
  std::vector<std::string> lines;
  for (auto now = graph_time{}; now <= until && lines.size() < 10000;) {
    auto e = c.read(now);
    if (const auto* wait = std::get_if<not_before>(&e)) {
      REQUIRE((wait->due > now));
      now = wait->due;
      continue;
    }
    if (std::holds_alternative<end_of_stream>(e)) {
      lines.push_back("end");
      break;
    }
    const auto f = frame_in(std::move(e));
    also(f);
    lines.push_back(line_of(now, f));
  }
  return lines;
}
inline std::vector<std::string> play(camera& c, graph_time until) {
  return play(c, until, [](const captured_frame&) {});
}

/// One entry of a list of objects.
inline setting object(settings s) {
  setting entry;
  entry.value = std::make_shared<settings>(std::move(s));
  return entry;
}

inline setting::list integers(std::initializer_list<std::int64_t> all) {
  setting::list list;
  for (const auto i : all)
    list.push_back(initial_value(i));
  return list;
}

} // namespace hyperframes::test
