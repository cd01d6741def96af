#pragma once

#include "runtime/stage.hpp"

#include <string>

namespace hyperframes {

/// @returns the file that the stage's `path` names: as it is where it is absolute or "-"; otherwise
/// from the graph file's folder, or, where it was given with `--set`, from the working folder.
std::string sink_path(const stage_plan& plan);

/// @returns `path` with each `{stream}` replaced by `id`, in which `/` becomes `_`.
std::string path_for_stream(std::string path, std::string id);

} // namespace hyperframes
