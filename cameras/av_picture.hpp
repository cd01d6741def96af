#pragma once

#include "cameras/film.hpp"
#include "runtime/frame.hpp"
#include "runtime/media_type.hpp"

/// FFmpeg's pictures as the runtime's.
namespace hyperframes {

/// Fills in range and matrix of an i420 or nv12 format. Pictures without a stated matrix are taken as
/// BT.709 from 720 lines on, below as BT.601.
void set_colours(
  video_format& format, AVColorRange range, AVColorSpace matrix, AVPixelFormat pixels);

/// What the film's header says of its pictures: in their own format where there is the same one here,
/// otherwise bgr24.
video_format declared_format(const AVCodecParameters& parameters);

bool same(const video_format& a, const video_format& b);

/// Copies or converts decoded pictures into buffers. Not thread-safe; keeps FFmpeg's tables for
/// pictures like the last one.
class av_picture_writer {
public:
  /// @param format and `to`: rows and planes of the buffer; bgr24 where `picture` has a format of
  /// which there is none here (`direct_format`), otherwise that one.
  /// @returns false where FFmpeg knows no way.
  bool write(const AVFrame& picture, const video_format& format, std::byte* to);

private:
  av_ptr<SwsContext> scaler_;
};

} // namespace hyperframes
