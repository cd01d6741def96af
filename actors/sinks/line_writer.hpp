#pragma once

#include "actors/sinks/inference_json.hpp"
#include "actors/sinks/item_json.hpp"
#include "actors/sinks/json_text.hpp"

namespace hyperframes {

/// One line of `item_json` under way: its members, and what lines of several types share. Made anew
/// for each line.
class line_writer {
public:
  line_writer(const graph_facts& facts, const raw_detail& raw, std::string& line)
    : facts_(facts), raw_(raw), json_(line) {}

  void write(const frame& f);
  void write(const aligned_set_ptr& s);
  void write(const hyperframe_ptr& h);
  void write(const batch_ptr& b);
  void write(const result_ptr& r);
  void write(const frame_result_ptr& r) { write(*r); }
  void write(const frame_result& r);
  void write(const outcome_range& r);
  void write(const trigger& t);

private:
  void stream(stream_index s) {
    if (s < facts_.streams.size())
      json_.field("stream", facts_.streams[s].id);
    else
      json_.field("stream", nullptr);
  }
  void group(std::uint32_t g) {
    if (g < facts_.groups.size())
      json_.field("group", facts_.groups[g].name);
    else
      json_.field("group", nullptr);
  }
  template <class Time>
  void time(std::string_view name, Time t, bool known = true) {
    if (known)
      json_.field(name, t.time_since_epoch().count());
    else
      json_.field(name, nullptr);
  }
  void deadline(graph_time t) { time("deadline_ns", t, t != never); }
  void position(const frame_meta& m) {
    json_.field("epoch", m.epoch);
    json_.field("frame_id", m.frame_id);
  }
  void captured(const frame_meta& m, bool known);
  void flags(std::uint16_t bits);
  void truth(const frame_meta& m);
  void sequence(const hyperframe_sequence& s);
  void absent(reason why);
  void descriptor(const hyperframe_descriptor& d);
  void slot_members(const slot& s);
  void found(const inference* inferred, const std::vector<std::string>* names) {
    json_.key("result");
    write_inference(json_, inferred, names, raw_);
  }
  void timings(const frame_result& r);

  const graph_facts& facts_;
  const raw_detail& raw_;
  json_text json_;
};

} // namespace hyperframes
