#include "tools/bench/pack.hpp"

#include "tools/bench/benchmarks.hpp"

#include <opencv2/core.hpp>
#include <opencv2/dnn.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cstring>

namespace hyperframes::bench {

namespace {

constexpr int width = 1920, height = 1080, side = 640;

/// Smooth parts and edges, all of 16 to 235.
frame picture() {
  const auto format = video_format::packed(pixel_format::i420, width, height);
  frame f;
  f.media = make_video_type(format);
  f.buffer = buffer_pool(1, format.size_bytes()).acquire();
  auto* bytes = reinterpret_cast<std::uint8_t*>(f.buffer.data());
  for (std::size_t p = 0; p < 3; ++p)
    for (std::size_t y = 0; y < format.plane_rows(p); ++y)
      for (std::size_t x = 0; x < format.row_bytes(p); ++x) {
        const auto edge = (x / 64 + y / 64) % 2 * 40;
        bytes[format.planes[p].offset + y * format.planes[p].stride + x] =
          static_cast<std::uint8_t>(60 + (x + y * 2) % 512 / 8 + edge);
      }
  return f;
}

pack_spec tensor_spec() {
  pack_spec spec;
  spec.width = spec.height = side;
  return spec;
}

} // namespace

struct pack_work::images {
  cv::Mat whole, planes[3];                    // the frame's memory
  cv::Mat colour, scaled, blob;                // cvtColor first
  cv::Mat small[3], together, of_planes_first; // planes first
};

pack_work::pack_work()
  : frame_(picture()),
    packer_(tensor_spec()),
    slot_(buffer_pool(1, tensor_spec().slot_bytes()).acquire()),
    images_(std::make_unique<images>()) {
  auto* bytes = frame_.buffer.data();
  images_->whole = cv::Mat(height * 3 / 2, width, CV_8UC1, bytes);
  const auto& format = frame_.media->video;
  for (std::size_t p = 0; p < 3; ++p)
    images_->planes[p] = cv::Mat(
      static_cast<int>(format.plane_rows(p)), static_cast<int>(format.row_bytes(p)), CV_8UC1,
      bytes + format.planes[p].offset, format.planes[p].stride);
}

pack_work::~pack_work() = default;

void pack_work::hyperframes() {
  packer_.pack(frame_, {slot_.data(), slot_.size()}).value();
  last_ = reinterpret_cast<const float*>(slot_.data());
}

void pack_work::opencv() {
  auto& i = *images_;
  cv::cvtColor(i.whole, i.colour, cv::COLOR_YUV2RGB_I420);
  cv::resize(i.colour, i.scaled, {side, side}, 0, 0, cv::INTER_LINEAR);
  cv::dnn::blobFromImage(i.scaled, i.blob, 1.0 / 255);
  last_ = i.blob.ptr<float>();
}

void pack_work::opencv_planes_first() {
  auto& i = *images_;
  // cvtColor takes its chroma in the order of YCrCb, without the range that cameras send.
  for (const auto& [to, from] : {std::pair{0, 0}, {1, 2}, {2, 1}})
    cv::resize(i.planes[from], i.small[to], {side, side}, 0, 0, cv::INTER_LINEAR);
  cv::merge(i.small, 3, i.together);
  cv::cvtColor(i.together, i.scaled, cv::COLOR_YCrCb2RGB);
  cv::dnn::blobFromImage(i.scaled, i.of_planes_first, 1.0 / 255);
  last_ = i.of_planes_first.ptr<float>();
}

void pack_work::read_and_write() {
  std::uint64_t sum = 0;
  const auto* bytes = frame_.buffer.data();
  for (std::size_t at = 0; at + 8 <= frame_.buffer.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    sum += word;
  }
  auto* values = reinterpret_cast<float*>(slot_.data());
  std::fill_n(values, tensor_spec().slot_bytes() / sizeof(float), sum == 0 ? 0.0F : 1.0F);
  last_ = values;
}

std::span<const float> pack_work::tensor() const {
  return {last_, slot_.size() / sizeof(float)};
}

report pack_report(const std::vector<samples>& ms) {
  return {
    "One thread turns a frame of 1920x1080 I420 in memory into a tensor of 640x640 RGB, planar, "
    "float32 divided by 255, 20 times a round; CPU time of the thread a frame. OpenCV: cvtColor, "
    "resize (INTER_LINEAR), blobFromImage, with its own SIMD, one thread, into memory that is kept "
    "from frame to frame; HyperFrames averages all pixels that a target pixel covers, resize takes "
    "two a row. Planes first: the three planes by resize, merge, cvtColor (full range), "
    "blobFromImage: the same pass over less, but not the colours of a camera's range. Reading and "
    "writing: each byte of the frame is added up, then a constant put into each place of the "
    "tensor, with what the compiler makes of it.",
    {reading_of("OpenCV / HyperFrames", "x", ratios(ms[1], ms[0]), at_least(5)),
     reading_of("OpenCV, planes first / HyperFrames", "x", ratios(ms[2], ms[0])),
     reading_of("HyperFrames / reading and writing alone", "x", ratios(ms[0], ms[3])),
     reading_of("HyperFrames", "ms CPU", ms[0]), reading_of("OpenCV", "ms CPU", ms[1]),
     reading_of("OpenCV, planes first", "ms CPU", ms[2]),
     reading_of("reading and writing alone", "ms CPU", ms[3])}};
}

report pack(const context& c) {
  constexpr int frames = 20;
  cv::setNumThreads(1);
  pack_work work;
  const auto cost = [&](void (pack_work::*pack)()) {
    return [&work, pack] {
      const double begin = thread_cpu_seconds();
      for (int n = 0; n < frames; ++n)
        (work.*pack)();
      return (thread_cpu_seconds() - begin) / frames * 1e3;
    };
  };
  return pack_report(take_turns(
    {{"HyperFrames", cost(&pack_work::hyperframes)},
     {"OpenCV", cost(&pack_work::opencv)},
     {"OpenCV, planes first", cost(&pack_work::opencv_planes_first)},
     {"reading and writing", cost(&pack_work::read_and_write)}},
    15, c.progress));
}

} // namespace hyperframes::bench
