// Whatever a timeline's table holds: rows that a camera can play, or faults with a sentence, and
// never a crash.
#include "cameras/timeline_table.hpp"
#include "tests/fuzz/claim.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

using namespace hyperframes;
using test::claim;

namespace {

void look_at(const timeline_table& table, std::size_t size) {
  claim(!table.rows.empty() || !table.faults.empty(), "there are rows or faults");
  claim(table.faults.size() <= 21, "few faults are told, and the others counted");
  for (const auto& f : table.faults) {
    claim(!f.message.empty(), "a fault has a sentence");
    claim(f.where.file == "table" && f.where.line >= 1, "a fault has a place");
  }
  if (!table.faults.empty())
    return;
  constexpr std::chrono::hours longest{100 * 366 * 24};
  claim(table.rows.size() <= size, "a row takes a byte at least");
  const timeline_row* before = nullptr;
  for (const auto& row : table.rows) {
    claim(!before || before->arrival <= row.arrival, "rows are in the order of their arrivals");
    claim(row.arrival <= longest && row.arrival >= -longest, "arrivals lie within 100 years");
    const auto captured = row.captured.time_since_epoch();
    claim(captured <= longest && captured >= -longest, "captures lie within 100 years");
    claim(row.image.empty() || row.value.empty(), "a frame is a picture or numbers");
    claim(row.value.size() <= size, "no number was made up");
    for (const auto v : row.value)
      claim(std::isfinite(v), "numbers are finite");
    before = &row;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  look_at(read_timeline(text, "table", std::nullopt), size);
  look_at(read_timeline(text, "table", "cam1"), size);
  if (const auto time = read_table_time(text))
    claim(*time <= std::chrono::hours{100 * 366 * 24 + 1}, "a time is at most 100 years");
  return 0;
}
