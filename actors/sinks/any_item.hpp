#pragma once

#include "runtime/description.hpp"

#include <string>

namespace hyperframes {

/// The input of a sink that takes whatever a graph's edges carry.
port any_item(std::string help);

} // namespace hyperframes
