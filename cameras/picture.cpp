#include "cameras/picture.hpp"

#include <opencv2/imgproc.hpp>

#include <stdexcept>

namespace hyperframes {

namespace {

cv::Mat plane_of(const video_format& format, std::size_t index, int type, std::byte* data) {
  const auto& p = format.planes[index];
  const auto width = static_cast<int>(format.row_bytes(index)) / CV_ELEM_SIZE(type);
  return {static_cast<int>(format.plane_rows(index)), width, type, data + p.offset, p.stride};
}

} // namespace

pixel_format pixel_format_of(const std::string& name) {
  for (const auto f :
       {pixel_format::gray8, pixel_format::bgr24, pixel_format::rgb24, pixel_format::i420,
        pixel_format::nv12})
    if (name == to_string(f))
      return f;
  throw std::logic_error("no pixel format is called '" + name + "'");
}

void write_picture(const cv::Mat& bgr, const video_format& format, std::byte* to) {
  switch (format.format) {
    case pixel_format::bgr24:
      bgr.copyTo(plane_of(format, 0, CV_8UC3, to));
      return;
    case pixel_format::rgb24:
      cv::cvtColor(bgr, plane_of(format, 0, CV_8UC3, to), cv::COLOR_BGR2RGB);
      return;
    case pixel_format::gray8:
      cv::cvtColor(bgr, plane_of(format, 0, CV_8UC1, to), cv::COLOR_BGR2GRAY);
      return;
    case pixel_format::i420:
    case pixel_format::nv12:
      break;
  }
  thread_local cv::Mat planar; // Y, then U and V, two rows of each in one row of Y's width
  cv::cvtColor(bgr, planar, cv::COLOR_BGR2YUV_I420);
  const int width = bgr.cols, height = bgr.rows;
  planar.rowRange(0, height).copyTo(plane_of(format, 0, CV_8UC1, to));
  const cv::Mat u{height / 2, width / 2, CV_8UC1, planar.data + std::ptrdiff_t{width} * height};
  const cv::Mat v{height / 2, width / 2, CV_8UC1, u.data + std::ptrdiff_t{width} * height / 4};
  if (format.format == pixel_format::i420) {
    u.copyTo(plane_of(format, 1, CV_8UC1, to));
    v.copyTo(plane_of(format, 2, CV_8UC1, to));
  } else {
    auto both = plane_of(format, 1, CV_8UC2, to);
    const std::array<cv::Mat, 2> parts{u, v};
    cv::merge(parts.data(), parts.size(), both);
  }
}

} // namespace hyperframes
