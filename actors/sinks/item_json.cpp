#include "actors/sinks/item_json.hpp"

#include "actors/sinks/line_writer.hpp"

namespace hyperframes {

item_json::item_json(std::shared_ptr<const graph_facts> facts, raw_detail raw)
  : facts_(std::move(facts)), raw_(raw) {}

void item_json::append(const item& i, std::string& line) const {
  line_writer writer{*facts_, raw_, line};
  std::visit([&](const auto& value) { writer.write(value); }, i);
}

void item_json::append_gap(
  const outcome_range& range, std::uint64_t frame_id, std::string& line) const {
  frame_result gap;
  gap.meta.stream = range.stream;
  gap.meta.epoch = range.epoch;
  gap.meta.frame_id = frame_id;
  gap.what = range.what;
  gap.why = range.why;
  line_writer{*facts_, raw_, line}.write(gap);
}

} // namespace hyperframes
