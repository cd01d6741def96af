#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes {

enum class pixel_format : std::uint8_t {
  gray8, ///< one plane
  bgr24, ///< one plane, B G R
  rgb24, ///< one plane, R G B
  i420,  ///< planes Y, U, V; chroma halved both ways
  nv12,  ///< planes Y, UV interleaved; chroma halved both ways
};

enum class data_type : std::uint8_t { float32, float16, uint8, int32, int64 };

std::size_t size_of(data_type type);
const char* to_string(pixel_format format);
const char* to_string(data_type type);

struct plane {
  std::size_t offset = 0; ///< bytes from the start of the frame's buffer
  std::size_t stride = 0; ///< bytes from one row to the next
};

struct video_format {
  pixel_format format = pixel_format::bgr24;
  std::uint32_t width = 0;  ///< pixels, 1 to 16384
  std::uint32_t height = 0; ///< pixels, 1 to 16384
  std::array<plane, 3> planes{};
  bool full_range = false; ///< luma 0..255 instead of 16..235; YUV formats only
  bool bt709 = false;      ///< BT.709 matrix instead of BT.601; YUV formats only

  /// Tightly packed planes, each row padded to `alignment` bytes (a power of two).
  static video_format packed(pixel_format format, std::uint32_t width, std::uint32_t height,
                             std::size_t alignment = 1);
  std::size_t plane_count() const;
  std::size_t plane_rows(std::size_t plane) const;
  std::size_t row_bytes(std::size_t plane) const; ///< bytes of pixels in one row, no padding
  std::size_t size_bytes() const;                 ///< of a buffer that holds all planes
};

struct audio_format {
  data_type sample = data_type::float32;
  std::uint32_t rate = 0; ///< Hz
  std::uint16_t channels = 0;
  std::uint32_t samples = 0; ///< per channel in one frame
};

struct tensor_format {
  data_type type = data_type::float32;
  std::vector<std::int64_t> shape;
};

/// What a frame holds. Checked when edges are joined; a stream's frames share one instance
/// until the source changes it.
struct media_type {
  enum class kind : std::uint8_t { video, audio, tensor, bytes };
  kind what = kind::video;
  video_format video;   ///< where `what` is video
  audio_format audio;   ///< where `what` is audio
  tensor_format tensor; ///< where `what` is tensor
  std::string mime;     ///< where `what` is bytes

  std::string to_string() const; ///< such as "video bgr24 640x480"
};

using media_type_ptr = std::shared_ptr<const media_type>;
media_type_ptr make_video_type(const video_format& format);

} // namespace hyperframes
