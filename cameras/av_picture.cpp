#include "cameras/av_picture.hpp"

#include "cameras/decoder_pool.hpp"

#include <array>

extern "C" {
#include <libavutil/imgutils.h>
}

namespace hyperframes {

namespace {

bool is_bt709(AVColorSpace matrix, int height) {
  return matrix == AVCOL_SPC_BT709 || (matrix == AVCOL_SPC_UNSPECIFIED && height >= 720);
}

/// The older formats' names say "full range"; swscale wants the range apart.
AVPixelFormat without_range(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ411P:
      return AV_PIX_FMT_YUV411P;
    case AV_PIX_FMT_YUVJ420P:
      return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
      return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ440P:
      return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ444P:
      return AV_PIX_FMT_YUV444P;
    default:
      return format;
  }
}

} // namespace

void set_colours(
  video_format& format, AVColorRange range, AVColorSpace matrix, AVPixelFormat pixels) {
  if (format.format != pixel_format::i420 && format.format != pixel_format::nv12)
    return;
  format.full_range = range == AVCOL_RANGE_JPEG || pixels == AV_PIX_FMT_YUVJ420P;
  format.bt709 = is_bt709(matrix, static_cast<int>(format.height));
}

video_format declared_format(const AVCodecParameters& parameters) {
  const auto pixels = static_cast<AVPixelFormat>(parameters.format);
  auto format = video_format::packed(
    direct_format(pixels).value_or(pixel_format::bgr24),
    static_cast<std::uint32_t>(parameters.width), static_cast<std::uint32_t>(parameters.height));
  set_colours(format, parameters.color_range, parameters.color_space, pixels);
  return format;
}

bool same(const video_format& a, const video_format& b) {
  if (
    a.format != b.format || a.width != b.width || a.height != b.height
    || a.full_range != b.full_range || a.bt709 != b.bt709)
    return false;
  for (std::size_t p = 0; p < a.plane_count(); ++p)
    if (a.planes[p].offset != b.planes[p].offset || a.planes[p].stride != b.planes[p].stride)
      return false;
  return true;
}

bool av_picture_writer::write(const AVFrame& picture, const video_format& format, std::byte* to) {
  std::array<std::uint8_t*, 4> data{};
  std::array<int, 4> strides{};
  for (std::size_t p = 0; p < format.plane_count(); ++p) {
    data[p] = reinterpret_cast<std::uint8_t*>(to) + format.planes[p].offset;
    strides[p] = static_cast<int>(format.planes[p].stride);
  }
  const auto pixels = static_cast<AVPixelFormat>(picture.format);
  if (direct_format(pixels)) {
    av_image_copy(
      data.data(), strides.data(), const_cast<const std::uint8_t**>(picture.data),
      picture.linesize, pixels, picture.width, picture.height);
    return true;
  }
  const auto plain = without_range(pixels);
  scaler_.reset(sws_getCachedContext(
    scaler_.release(), picture.width, picture.height, plain, picture.width, picture.height,
    AV_PIX_FMT_BGR24, SWS_BILINEAR, nullptr, nullptr, nullptr));
  if (!scaler_)
    return false;
  const auto* matrix = sws_getCoefficients(
    is_bt709(picture.colorspace, picture.height) ? SWS_CS_ITU709 : SWS_CS_ITU601);
  const int full = plain != pixels || picture.color_range == AVCOL_RANGE_JPEG ? 1 : 0;
  sws_setColorspaceDetails(scaler_.get(), matrix, full, matrix, 1, 0, 1 << 16, 1 << 16);
  return sws_scale(
           scaler_.get(), picture.data, picture.linesize, 0, picture.height, data.data(),
           strides.data())
         > 0;
}

} // namespace hyperframes
