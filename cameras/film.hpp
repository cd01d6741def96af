#pragma once

#include "runtime/error.hpp"
#include "runtime/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

/// FFmpeg's demuxer and decoder of one film, with errors as sentences.
namespace hyperframes {

struct av_deleter {
  void operator()(AVFormatContext* p) const noexcept { avformat_close_input(&p); }
  void operator()(AVCodecContext* p) const noexcept { avcodec_free_context(&p); }
  void operator()(AVPacket* p) const noexcept { av_packet_free(&p); }
  void operator()(AVFrame* p) const noexcept { av_frame_free(&p); }
  void operator()(SwsContext* p) const noexcept { sws_freeContext(p); }
};
template <class T>
using av_ptr = std::unique_ptr<T, av_deleter>;

/// What FFmpeg says about an error code.
std::string words_of(int code);

/// `ticks` of `base` seconds each.
duration in_time(std::int64_t ticks, AVRational base);

/// A film opened for reading: its demuxer, and what is known of its video stream.
struct film {
  av_ptr<AVFormatContext> input;
  AVStream* stream = nullptr;
  const AVCodec* codec = nullptr;

  double fps() const; ///< 0 unknown
  /// Between two frames, where the film does not say otherwise: 1 / fps, or 40 ms.
  duration frame_time() const;
  AVRational rate{0, 1}; ///< declared or mean; 0 unknown

  /// How many frames there are, where an index knows it: the header of an AVI counts places in time,
  /// filled or not.
  std::optional<std::uint64_t> frame_count() const;
  std::optional<duration> length() const;
};

/// Opens the file, which must be a regular one, and finds its best video stream and that stream's decoder.
/// @param interrupt asked while the file is read.
expected<film> open_film(const std::string& path, AVIOInterruptCB interrupt);

/// A decoder for `f` that is set up but not opened. Flags damaged pictures instead of swallowing
/// them.
expected<av_ptr<AVCodecContext>> make_decoder(const film& f, int threads, const std::string& path);

/// How many decoded pictures such a decoder holds at once, the one that it hands over included.
std::size_t pictures_held(const film& f, int threads);

} // namespace hyperframes
