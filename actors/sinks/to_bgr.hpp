#pragma once

#include "actors/pack.hpp"

#include <opencv2/core/mat.hpp>

#include <optional>

namespace hyperframes {

/// Turns video frames of any pixel format into pictures for OpenCV.
///
/// Keeps the tables of the last size and format: one for each stream. Not thread-safe.
class bgr_converter {
public:
  /// @returns a picture of its own, [height, width] of 8-bit B, G, R, in the frame's size.
  /// Throws `failure` (stage_failed) where `f` is no video or its content is missing or too short.
  cv::Mat convert(const frame& f);

private:
  std::optional<packer> packer_;
};

} // namespace hyperframes
