#include "actors/sinks/sink_path.hpp"

#include <filesystem>

namespace hyperframes {

std::string sink_path(const stage_plan& plan) {
  const auto& path = plan.config->text("path");
  if (path == "-" || plan.config->at("path").source == value_source::command_line)
    return path;
  return (std::filesystem::path{plan.folder} / path).string();
}

} // namespace hyperframes
