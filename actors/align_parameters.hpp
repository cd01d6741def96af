#pragma once

#include "runtime/stage.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace hyperframes {

/// Frames that one stream may have waiting in `align`, as set or derived.
std::uint32_t align_depth(const settings& s);

/// What follows for the sets of the stage `name` when a stream is silent.
std::string when_silent(const std::string& name);

/// The logic of `align` with the settings of its plan.
std::unique_ptr<stage> make_align(const stage_plan& plan);

} // namespace hyperframes
