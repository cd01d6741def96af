#pragma once

#include "runtime/stage.hpp"

#include <string>

namespace hyperframes {

/// @returns the file that the stage's `path` names. Relative paths start at the working folder: what a
/// run writes belongs to who runs it, and the graph's folder may not be writable. (What a graph reads
/// starts at the graph file's folder.)
std::string sink_path(const stage_plan& plan);

/// @returns `path` with each `{stream}` replaced by `id`, in which `/` becomes `_`.
std::string path_for_stream(std::string path, std::string id);

} // namespace hyperframes
