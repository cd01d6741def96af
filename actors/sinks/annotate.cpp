#include "actors/sinks/annotate.hpp"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace hyperframes {

namespace {

constexpr int font = cv::FONT_HERSHEY_SIMPLEX;

struct look {
  double scale;
  int thickness;

  /// Text of a 30th of the height, and legible on small pictures.
  static look of(const cv::Mat& picture) {
    return {std::max(0.35, picture.rows / 900.0), picture.rows >= 900 ? 2 : 1};
  }
};

cv::Scalar colour_of(std::int32_t label) {
  static const std::array<cv::Scalar, 8> colours{
    cv::Scalar{80, 200, 60},  cv::Scalar{60, 80, 230},  cv::Scalar{230, 140, 40}, cv::Scalar{40, 200, 230},
    cv::Scalar{200, 60, 190}, cv::Scalar{210, 210, 60}, cv::Scalar{60, 140, 250}, cv::Scalar{180, 180, 180}};
  return colours[static_cast<std::uint32_t>(label) % colours.size()];
}

std::string name_of(std::int32_t label, const label_names& names) {
  if (names && label >= 0 && static_cast<std::size_t>(label) < names->size())
    return (*names)[static_cast<std::size_t>(label)];
  return std::to_string(label);
}

std::string with_score(const std::string& name, float score) {
  char text[32];
  std::snprintf(text, sizeof text, " %.2f", static_cast<double>(score));
  return name + text;
}

/// White text on a dark bar whose top left corner is `at`. @returns the bar's height.
int write(cv::Mat& picture, const std::string& text, cv::Point at, const look& l, const cv::Scalar& bar) {
  int below = 0;
  const auto size = cv::getTextSize(text, font, l.scale, l.thickness, &below);
  const int height = size.height + below + 4;
  cv::rectangle(picture, {at.x, at.y, size.width + 6, height}, bar, cv::FILLED);
  cv::putText(picture, text, {at.x + 3, at.y + size.height + 2}, font, l.scale, {255, 255, 255},
              l.thickness, cv::LINE_AA);
  return height;
}

/// Far outside of any picture, and still far from where OpenCV's coordinates overflow.
int pixel(float v) {
  return static_cast<int>(std::lround(std::clamp(v, -20000.0F, 40000.0F)));
}

void draw_box(cv::Mat& picture, const detection& d, const label_names& names, const look& l) {
  if (!std::isfinite(d.x) || !std::isfinite(d.y) || !std::isfinite(d.width) || !std::isfinite(d.height))
    return;
  const cv::Point corner{pixel(d.x), pixel(d.y)};
  const cv::Point opposite{pixel(d.x + d.width), pixel(d.y + d.height)};
  const auto colour = colour_of(d.label);
  cv::rectangle(picture, corner, opposite, colour, l.thickness + 1);
  const auto text = with_score(name_of(d.label, names), d.score);
  const int height = cv::getTextSize(text, font, l.scale, l.thickness, nullptr).height + 8;
  write(picture, text, {std::max(0, corner.x), std::max(0, corner.y - height)}, l, colour * 0.6);
}

} // namespace

std::string caption_of(const frame_result& r, const std::string& stream) {
  auto text = stream + ' ' + (r.meta.epoch > 0 ? std::to_string(r.meta.epoch) + '/' : "")
              + std::to_string(r.meta.frame_id) + ' ' + to_string(r.what);
  if (r.why != reason::none)
    text += std::string{" ("} + to_string(r.why) + ')';
  if (r.refers_to >= 0)
    text += ", result at slot " + std::to_string(r.refers_to);
  return text;
}

void annotate(cv::Mat& picture, const frame_result& r, const std::string& stream) {
  const auto l = look::of(picture);
  if (r.inferred)
    for (auto d = r.inferred->boxes.rbegin(); d != r.inferred->boxes.rend(); ++d) // the best on top
      draw_box(picture, *d, r.labels, l);
  const auto bar = r.what == outcome::delivered ? cv::Scalar{50, 40, 30} : cv::Scalar{30, 30, 160};
  int y = write(picture, caption_of(r, stream), {0, 0}, l, bar);
  if (r.inferred)
    for (const auto& c : r.inferred->classes)
      y += write(picture, with_score(name_of(c.label, r.labels), c.score), {0, y}, l, bar);
}

} // namespace hyperframes
