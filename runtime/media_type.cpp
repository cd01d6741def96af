#include "runtime/media_type.hpp"

#include <stdexcept>

namespace hyperframes {

std::size_t size_of(data_type type) {
  switch (type) {
    case data_type::float32:
    case data_type::int32:
      return 4;
    case data_type::float16:
      return 2;
    case data_type::uint8:
      return 1;
    case data_type::int64:
      return 8;
  }
  throw std::logic_error("data type outside of its enumeration");
}

const char* to_string(pixel_format format) {
  constexpr const char* names[] = {"gray8", "bgr24", "rgb24", "i420", "nv12"};
  return names[static_cast<std::size_t>(format)];
}

const char* to_string(data_type type) {
  constexpr const char* names[] = {"float32", "float16", "uint8", "int32", "int64"};
  return names[static_cast<std::size_t>(type)];
}

std::size_t video_format::plane_count() const {
  switch (format) {
    case pixel_format::i420:
      return 3;
    case pixel_format::nv12:
      return 2;
    default:
      return 1;
  }
}

std::size_t video_format::plane_rows(std::size_t p) const {
  return p == 0 ? height : (std::size_t{height} + 1) / 2;
}

std::size_t video_format::row_bytes(std::size_t p) const {
  const std::size_t half = (std::size_t{width} + 1) / 2;
  switch (format) {
    case pixel_format::gray8:
      return width;
    case pixel_format::bgr24:
    case pixel_format::rgb24:
      return std::size_t{width} * 3;
    case pixel_format::i420:
      return p == 0 ? width : half;
    case pixel_format::nv12:
      return p == 0 ? width : half * 2;
  }
  throw std::logic_error("pixel format outside of its enumeration");
}

std::size_t video_format::size_bytes() const {
  const auto last = plane_count() - 1;
  return planes[last].offset + planes[last].stride * plane_rows(last);
}

video_format video_format::packed(pixel_format format, std::uint32_t width, std::uint32_t height,
                                  std::size_t alignment) {
  video_format result;
  result.format = format;
  result.width = width;
  result.height = height;
  std::size_t offset = 0;
  for (std::size_t p = 0; p < result.plane_count(); ++p) {
    const auto stride = (result.row_bytes(p) + alignment - 1) & ~(alignment - 1);
    result.planes[p] = {offset, stride};
    offset += stride * result.plane_rows(p);
  }
  return result;
}

std::string media_type::to_string() const {
  switch (what) {
    case kind::video:
      return std::string{"video "} + hyperframes::to_string(video.format) + ' '
             + std::to_string(video.width) + 'x' + std::to_string(video.height);
    case kind::audio:
      return std::string{"audio "} + hyperframes::to_string(audio.sample) + ' '
             + std::to_string(audio.rate) + " Hz, " + std::to_string(audio.channels) + " channels";
    case kind::tensor: {
      std::string text = std::string{"tensor "} + hyperframes::to_string(tensor.type) + " [";
      for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        text += (i ? "," : "") + std::to_string(tensor.shape[i]);
      return text + ']';
    }
    case kind::bytes:
      return "bytes " + mime;
  }
  throw std::logic_error("media kind outside of its enumeration");
}

media_type_ptr make_video_type(const video_format& format) {
  auto type = std::make_shared<media_type>();
  type->what = media_type::kind::video;
  type->video = format;
  return type;
}

} // namespace hyperframes
