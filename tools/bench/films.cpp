#include "tools/bench/films.hpp"

#include "cameras/parts_scene.hpp"
#include "runtime/error.hpp"

#include <opencv2/videoio.hpp>

#include <stdlib.h>

namespace hyperframes::bench {

scratch::scratch() {
  auto pattern = (std::filesystem::temp_directory_path() / "hyperframes-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw failure(make_error(errc::io_failed, pattern, "no folder could be made here"));
  path_ = pattern;
}

scratch::~scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void make_film(
  const std::string& path, pixel_size size, std::uint64_t frames, std::uint64_t shown) {
  const cv::Size sides{static_cast<int>(size.width), static_cast<int>(size.height)};
  cv::VideoWriter film{
    path, cv::CAP_FFMPEG, cv::VideoWriter::fourcc('m', 'p', '4', 'v'), 30, sides};
  if (!film.isOpened())
    throw failure(make_error(
      errc::io_failed, path,
      "the film could not be written: OpenCV's FFmpeg has no encoder for MPEG-4"));
  parts_scene scene{size, 1};
  cv::Mat picture{sides, CV_8UC3};
  for (std::uint64_t n = 0; n < frames; ++n) {
    if (n % shown == 0)
      scene.render(n / shown, picture.data, static_cast<std::uint32_t>(picture.step));
    film.write(picture);
  }
}

} // namespace hyperframes::bench
