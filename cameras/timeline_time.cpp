#include "cameras/timeline_table.hpp"
#include "runtime/written.hpp"

namespace hyperframes {

std::optional<duration> read_table_time(std::string_view text) {
  constexpr auto longest = std::chrono::hours{24} * 366 * 100;
  const auto time = read_duration(text, std::chrono::seconds{1});
  return time && std::chrono::abs(*time) <= longest ? time : std::nullopt;
}

} // namespace hyperframes
