#include "actors/infer/backends.hpp"
#include "actors/infer/detector.hpp"

#include <opencv2/objdetect.hpp>

#include <filesystem>

namespace hyperframes {

namespace {

/// Viola and Jones, "Rapid object detection using a boosted cascade of simple features" (2001).
class cascade_finder final : public detector {
public:
  explicit cascade_finder(const model_settings& s) : settings_(s.detector) {
    if (!load(s.model))
      throw failure(make_error(
        errc::model_failed, s.model,
        "is not a cascade that OpenCV can read, expected an XML file such as those in "
        "/usr/share/opencv4/haarcascades"));
  }

  recycled_vector<detection> find(const cv::Mat& picture) override {
    const auto size = [](const std::optional<pixel_size>& s) {
      return s ? cv::Size(static_cast<int>(s->width), static_cast<int>(s->height)) : cv::Size();
    };
    found_.clear();
    hits_.clear();
    cascade_.detectMultiScale(
      picture, found_, hits_, settings_.scale.value_or(1.1), settings_.neighbours.value_or(3), 0,
      size(settings_.least), size(settings_.most));
    recycled_vector<detection> result;
    for (std::size_t i = 0; i < found_.size(); ++i)
      result.push_back(detection_from(found_[i], static_cast<float>(hits_[i])));
    return result;
  }

private:
  /// Of a file that is no XML OpenCV throws, of other XML it returns false.
  bool load(const std::string& file) {
    try {
      return cascade_.load(file);
    } catch (const cv::Exception&) {
      return false;
    }
  }

  model_settings::detector_settings settings_;
  cv::CascadeClassifier cascade_;
  std::vector<cv::Rect> found_;
  std::vector<int> hits_; ///< overlapping hits of each: its score
};

} // namespace

expected<model_ptr> load_cascade(const model_settings& s) {
  return make_detector_model(
    s, "cascade " + std::filesystem::path{s.model}.filename().string(), channel_order::gray, {},
    [s] { return std::make_unique<cascade_finder>(s); });
}

} // namespace hyperframes
