#include "actors/sinks/sink_path.hpp"

#include <algorithm>
#include <filesystem>

namespace hyperframes {

std::string sink_path(const stage_plan& plan) {
  const auto& path = plan.config->text("path");
  if (path == "-" || plan.config->at("path").source == value_source::command_line)
    return path;
  return (std::filesystem::path{plan.folder} / path).string();
}

std::string path_for_stream(std::string path, std::string id) {
  constexpr std::string_view mark = "{stream}";
  std::ranges::replace(id, '/', '_');
  for (auto at = path.find(mark); at != std::string::npos; at = path.find(mark, at + id.size()))
    path.replace(at, mark.size(), id);
  return path;
}

} // namespace hyperframes
