#include "cameras/picture.hpp"

#include <doctest/doctest.h>
#include <opencv2/imgproc.hpp>

#include <vector>

using namespace hyperframes;

namespace {

std::vector<std::byte> written(const cv::Mat& bgr, pixel_format format, std::size_t alignment = 1) {
  const auto v = video_format::packed(
    format, static_cast<std::uint32_t>(bgr.cols), static_cast<std::uint32_t>(bgr.rows), alignment);
  std::vector<std::byte> bytes(v.size_bytes());
  write_picture(bgr, v, bytes.data());
  return bytes;
}

} // namespace

TEST_CASE("pixel formats are found by their names") {
  CHECK(pixel_format_of("gray8") == pixel_format::gray8);
  CHECK(pixel_format_of("nv12") == pixel_format::nv12);
  CHECK_THROWS_WITH_AS(
    pixel_format_of("yuyv"), "no pixel format is called 'yuyv'", std::logic_error);
}

TEST_CASE("write_picture lays colours out as each format says") {
  struct row {
    cv::Scalar bgr;
    std::uint8_t gray, y, u, v; // BT.601, luma 16..235
  };
  for (const auto& [bgr, gray, y, u, v] :
       {row{{0, 0, 255}, 76, 82, 90, 240}, row{{255, 0, 0}, 29, 41, 240, 110},
        row{{255, 255, 255}, 255, 235, 128, 128}, row{{0, 0, 0}, 0, 16, 128, 128}}) {
    const cv::Mat picture{4, 6, CV_8UC3, bgr};
    const auto close = [](std::byte is, double should) {
      return std::abs(static_cast<int>(is) - should) <= 1;
    };
    const auto direct = written(picture, pixel_format::bgr24);
    const auto swapped = written(picture, pixel_format::rgb24);
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(close(direct[c], bgr[static_cast<int>(c)]));
      CHECK(close(swapped[c], bgr[static_cast<int>(2 - c)]));
    }
    CHECK(close(written(picture, pixel_format::gray8)[23], gray));
    const auto i420 = written(picture, pixel_format::i420);
    REQUIRE(i420.size() == 36);
    CHECK(close(i420[0], y));
    CHECK(close(i420[23], y));
    CHECK(close(i420[24], u));
    CHECK(close(i420[29], u));
    CHECK(close(i420[30], v));
    CHECK(close(i420[35], v));
    const auto nv12 = written(picture, pixel_format::nv12);
    REQUIRE(nv12.size() == 36);
    CHECK(close(nv12[24], u));
    CHECK(close(nv12[25], v));
    CHECK(close(nv12[35], v));
  }
}

TEST_CASE("write_picture keeps to strides and to the place of each pixel") {
  cv::Mat picture(6, 10, CV_8UC3);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x)
      picture.at<cv::Vec3b>(y, x) = {
        static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y), 200};
  const auto bytes = written(picture, pixel_format::bgr24, 64);
  CHECK(bytes.size() == 6 * 64);
  CHECK(bytes[5 * 64 + 3 * 9] == std::byte{9});
  CHECK(bytes[5 * 64 + 3 * 9 + 1] == std::byte{5});
  const auto tight = written(picture, pixel_format::i420),
             padded = written(picture, pixel_format::i420, 32);
  CHECK(padded.size() == 6 * 32 + 2 * 3 * 32);
  CHECK(tight[10 * 5 + 9] == padded[32 * 5 + 9]);
  CHECK(tight[60 + 14] == padded[6 * 32 + 2 * 32 + 4]); // last of U
  CHECK(tight[75 + 14] == padded[9 * 32 + 2 * 32 + 4]); // last of V
}
