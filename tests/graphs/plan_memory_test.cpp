#include "actors/align_interpolate.hpp"
#include "tests/graphs/timed_graphs.hpp"

#include <algorithm>

using namespace hyperframes;
using namespace hyperframes::timed;

TEST_CASE("vectors that align interpolates are in the plan of memory") {
  const auto sensor = [](const std::string& id, const std::string& group, const std::string& value) {
    return "  - { id: " + id + ", group: " + group
           + ", camera: { type: timeline, rows: [ { arrival_time: 0s, value: " + value
           + " }, { arrival_time: 100ms, value: " + value + " } ] } }\n";
  };
  const auto streams = pair + sensor("force", "g", "[ 1, 2, 3 ]") + sensor("heat", "g", "[ 1 ]")
                       + stream("other", live, "h") + sensor("tilt", "h", "[ 1, 2, 3, 4 ]");
  const auto line_of = [&](const std::string& settings) {
    const auto planned = plan_of(aligned(streams, settings));
    const auto line = std::ranges::find(
      planned.plan.memory, "interpolated vectors of align", &graph_plan::memory_line::what);
    return line == planned.plan.memory.end() ? graph_plan::memory_line{} : *line;
  };
  CHECK(line_of("").bytes == 0);
  const auto linear = line_of(", match: linear");
  CHECK(linear.bytes == vector_interpolator::slots_of_a_group * (3 + 4) * sizeof(float));
  CHECK(linear.how == "2 groups x 256 slots x up to 16 B");
}
