#include "actors/sinks/sink_path.hpp"

#include <algorithm>

namespace hyperframes {

std::string sink_path(const stage_plan& plan) {
  return plan.config->text("path");
}

std::string path_for_stream(std::string path, std::string id) {
  constexpr std::string_view mark = "{stream}";
  std::ranges::replace(id, '/', '_');
  for (auto at = path.find(mark); at != std::string::npos; at = path.find(mark, at + id.size()))
    path.replace(at, mark.size(), id);
  return path;
}

} // namespace hyperframes
