#pragma once

#include "runtime/stage.hpp"

#include <string>

namespace hyperframes {

/// @returns the file that the stage's `path` names: as it is where it is absolute or "-"; otherwise
/// from the graph file's folder, or, where it was given with `--set`, from the working folder.
std::string sink_path(const stage_plan& plan);

} // namespace hyperframes
