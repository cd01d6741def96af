#include "cameras/film.hpp"

#include "cameras/source_file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>

namespace hyperframes {

namespace fs = std::filesystem;

namespace {

/// How many decoded pictures a decoder may keep as references.
std::size_t references_of(AVCodecID codec) {
  const auto* about = avcodec_descriptor_get(codec);
  if (about && (about->props & AV_CODEC_PROP_INTRA_ONLY) != 0)
    return 0;
  switch (codec) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
      return 16;
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_AV1:
      return 8;
    default:
      return 4;
  }
}

std::string name_of(const AVCodecParameters& codec) {
  if (codec.codec_id != AV_CODEC_ID_NONE)
    return avcodec_get_name(codec.codec_id);
  std::array<char, AV_FOURCC_MAX_STRING_SIZE> tag{};
  return av_fourcc_make_string(tag.data(), codec.codec_tag);
}

} // namespace

std::string words_of(int code) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(code, text.data(), text.size());
  return text.data();
}

duration in_time(std::int64_t ticks, AVRational base) {
  return duration{av_rescale_q(ticks, base, AVRational{1, 1'000'000'000})};
}

double film::fps() const {
  return rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
}

duration film::frame_time() const {
  return fps() > 0 ? duration{std::llround(1e9 / fps())} : std::chrono::milliseconds{40};
}

std::optional<std::uint64_t> film::frame_count() const {
  const int indexed = avformat_index_get_entries_count(stream);
  const std::string container = input->iformat->name;
  if (container.find("mp4") != std::string::npos && stream->nb_frames > 0)
    return static_cast<std::uint64_t>(stream->nb_frames);
  if (container == "avi" && indexed > 0)
    return static_cast<std::uint64_t>(indexed);
  return std::nullopt;
}

std::optional<duration> film::length() const {
  if (stream->duration > 0)
    return in_time(stream->duration, stream->time_base);
  if (input->duration > 0)
    return in_time(input->duration, AV_TIME_BASE_Q);
  return std::nullopt;
}

expected<film> open_film(const std::string& path, AVIOInterruptCB interrupt) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return make_error(
      errc::io_failed, path,
      "a video file is needed, but this is a folder; camera images reads "
      "folders of pictures");
  if (!fs::exists(path, ignored))
    return make_error(errc::io_failed, path, "there is no such file");
  if (auto special = refuse_special_file(path))
    return std::move(*special);
  film f;
  auto* raw = avformat_alloc_context();
  if (!raw)
    return make_error(errc::out_of_memory, path, "no memory for a demuxer");
  raw->interrupt_callback = interrupt;
  if (const int failed = avformat_open_input(&raw, ("file:" + path).c_str(), nullptr, nullptr);
      failed < 0)
    return make_error(
      failed == AVERROR_EXIT ? errc::stopped : errc::io_failed, path,
      failed == AVERROR_INVALIDDATA ? "this is not a video in a format that FFmpeg knows"
                                    : "the video cannot be opened: " + words_of(failed));
  f.input.reset(raw);
  if (const int failed = avformat_find_stream_info(raw, nullptr); failed < 0)
    return make_error(
      failed == AVERROR_EXIT ? errc::stopped : errc::io_failed, path,
      "the video's header cannot be read: " + words_of(failed));
  const int best = av_find_best_stream(raw, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (best < 0)
    return make_error(errc::io_failed, path, "the file has no video stream");
  for (unsigned i = 0; i < raw->nb_streams; ++i)
    if (static_cast<int>(i) != best)
      raw->streams[i]->discard = AVDISCARD_ALL;
  f.stream = raw->streams[best];
  const auto& parameters = *f.stream->codecpar;
  f.codec = avcodec_find_decoder(parameters.codec_id);
  if (!f.codec)
    return make_error(
      errc::io_failed, path,
      "this build of FFmpeg has no decoder for the video's codec " + name_of(parameters));
  if (parameters.width <= 0 || parameters.height <= 0)
    return make_error(errc::io_failed, path, "the video's header names no size");
  f.rate = av_guess_frame_rate(raw, f.stream, nullptr);
  return f;
}

expected<av_ptr<AVCodecContext>> make_decoder(const film& f, int threads, const std::string& path) {
  av_ptr<AVCodecContext> context{avcodec_alloc_context3(f.codec)};
  if (!context)
    return make_error(errc::out_of_memory, path, "no memory for a decoder");
  if (const int failed = avcodec_parameters_to_context(context.get(), f.stream->codecpar);
      failed < 0)
    return make_error(
      errc::io_failed, path, "the video's header cannot be used: " + words_of(failed));
  context->pkt_timebase = f.stream->time_base;
  context->thread_count = threads;
  context->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT; // flagged instead of swallowed
  context->log_level_offset = 64;                 // what it would print comes as frames and errors
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  context->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
  return context;
}

std::size_t pictures_held(const film& f, int threads) {
  const auto& parameters = *f.stream->codecpar;
  const auto delay = static_cast<std::size_t>(std::max(parameters.video_delay, 0));
  // The picture in decoding, the one handed over, and the last one, which hides errors.
  return references_of(parameters.codec_id) + delay + static_cast<std::size_t>(threads) + 3;
}

} // namespace hyperframes
