#pragma once

#include "runtime/media_type.hpp"

#include <opencv2/core.hpp>

#include <cstddef>
#include <string>

/// What the cameras that make their pictures with OpenCV share.
namespace hyperframes {

/// Every pixel format by its name in graph files.
pixel_format pixel_format_of(const std::string& name);

/// Writes a B G R picture in `format`'s layout to `to`, which has `format.size_bytes()` bytes.
/// i420 and nv12: BT.601, luma 16..235, even sides.
void write_picture(const cv::Mat& bgr, const video_format& format, std::byte* to);

} // namespace hyperframes
