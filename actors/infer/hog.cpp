#include "actors/infer/backends.hpp"
#include "actors/infer/detector.hpp"

#include <opencv2/objdetect.hpp>

namespace hyperframes {

namespace {

/// Dalal and Triggs, "Histograms of oriented gradients for human detection" (2005), with the
/// weights that OpenCV holds.
class people_finder final : public detector {
public:
  explicit people_finder(const model_settings& s) : settings_(s.detector) {
    hog_.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
  }

  recycled_vector<detection> find(const cv::Mat& picture) override {
    // Smaller than the detection window: nobody can be in it.
    if (picture.cols < hog_.winSize.width || picture.rows < hog_.winSize.height)
      return {};
    const int stride = settings_.stride.value_or(8);
    found_.clear();
    weights_.clear();
    hog_.detectMultiScale(
      picture, found_, weights_, settings_.threshold.value_or(0), {stride, stride}, {},
      settings_.scale.value_or(1.05), settings_.group.value_or(2));
    recycled_vector<detection> result;
    for (std::size_t i = 0; i < found_.size(); ++i)
      result.push_back(detection_from(found_[i], static_cast<float>(weights_[i])));
    return result;
  }

private:
  model_settings::detector_settings settings_;
  cv::HOGDescriptor hog_;
  std::vector<cv::Rect> found_;
  std::vector<double> weights_;
};

} // namespace

expected<model_ptr> load_hog(const model_settings& s) {
  return make_detector_model(s, "hog people", channel_order::bgr, {"person"}, [s] {
    return std::make_unique<people_finder>(s);
  });
}

} // namespace hyperframes
