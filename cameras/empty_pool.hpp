#pragma once

#include "runtime/error.hpp"

#include <cstddef>
#include <string>

namespace hyperframes {

/// What a camera that is not live says of an empty pool: it is asked for a frame only while the graph
/// may hold one more.
inline error empty_pool(const std::string& stream, std::size_t slots) {
  return make_error(
    errc::camera_failed, stream,
    "asked for a frame while all " + std::to_string(slots)
      + " buffers of the camera are in use, although it is not live and was to be asked for what "
        "the graph can hold only; this is a defect of the runtime");
}

} // namespace hyperframes
