#pragma once

#include "runtime/result.hpp"

#include <opencv2/core/mat.hpp>

#include <string>

namespace hyperframes {

/// Draws what is known of a frame into `picture`: its boxes with label and score, a caption with
/// `stream`, frame id and outcome, and below it the classes.
/// @param picture [height, width] of 8-bit B, G, R, in the size of the original frame.
void annotate(cv::Mat& picture, const frame_result& r, const std::string& stream);

/// The first line that `annotate` writes, such as "cam1 12 failed (inference)"; the epoch stands
/// before the frame id where it is not 0.
std::string caption_of(const frame_result& r, const std::string& stream);

} // namespace hyperframes
