#pragma once

#include "actors/infer/model.hpp"
#include "actors/infer/model_settings.hpp"

#include <opencv2/core.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// What detectors that are no networks share: pictures one by one, uint8 [H,W,C] at the frames' own
/// size (or `input.size`), boxes in the frame's pixels.
namespace hyperframes {

/// Finds objects in one picture. One per session.
class detector {
public:
  virtual ~detector() = default;
  /// @returns boxes in `picture`'s pixels, in any order. May throw `cv::Exception`.
  virtual recycled_vector<detection> find(const cv::Mat& picture) = 0;
};

/// Makes a detector; throws `failure` where its model cannot be read.
using detector_factory = std::function<std::unique_ptr<detector>()>;

detection detection_from(const cv::Rect& box, float score);

/// Makes one detector to see that it can be made. @param colour what frames become by default.
expected<model_ptr> make_detector_model(
  const model_settings& s, std::string name, channel_order colour, std::vector<std::string> labels,
  detector_factory make);

} // namespace hyperframes
