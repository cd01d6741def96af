#include "cameras/video.hpp"

#include "cameras/decoder_pool.hpp"
#include "cameras/film.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace hyperframes {

namespace {

void set_colours(
  video_format& format, AVColorRange range, AVColorSpace matrix, AVPixelFormat pixels) {
  if (format.format != pixel_format::i420 && format.format != pixel_format::nv12)
    return;
  format.full_range = range == AVCOL_RANGE_JPEG || pixels == AV_PIX_FMT_YUVJ420P;
  format.bt709 =
    matrix == AVCOL_SPC_BT709 || (matrix == AVCOL_SPC_UNSPECIFIED && format.height >= 720);
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

class video_camera final : public camera {
public:
  video_camera(const settings& config, const std::string& folder)
    : path_((std::filesystem::path{folder} / config.text("path")).string()),
      realtime_(config.flag("realtime")),
      loop_(config.flag("loop")),
      threads_(static_cast<int>(config.integer("threads"))),
      packet_(av_packet_alloc()),
      frame_(av_frame_alloc()) {}

  expected<camera_info> probe() override;
  expected<void> open(const camera_environment& environment) override;
  camera_event read(graph_time now) override;
  void interrupt() noexcept override { interrupted_ = true; }

private:
  AVIOInterruptCB interruption() {
    return {
      [](void* flag) { return static_cast<std::atomic<bool>*>(flag)->load() ? 1 : 0; },
      &interrupted_};
  }
  std::size_t decoder_frames() const;
  expected<void> begin_pass();
  camera_event next();
  std::optional<error> feed();
  captured_frame damaged();
  camera_event picture();
  bool convert(const decoder_pool::picture& to);
  capture_time stamp(std::int64_t ticks);
  error stopped() const {
    return make_error(errc::stopped, stream_, "reading " + path_ + " was interrupted");
  }
  media_type_ptr type_of(video_format format);

  std::string path_;
  bool realtime_, loop_;
  int threads_;
  std::atomic<bool> interrupted_{false};

  std::string stream_;
  std::unique_ptr<decoder_pool> pool_; ///< outlives the decoder
  film film_;
  av_ptr<AVCodecContext> decoder_;
  av_ptr<AVPacket> packet_;
  av_ptr<AVFrame> frame_;
  av_ptr<SwsContext> scaler_;
  media_type_ptr media_;      ///< of the last frame
  bool refused_ = false;      ///< the decoder refused the last packet
  int unreadable_ = 0;        ///< failures of the demuxer in a row
  std::uint64_t in_pass_ = 0; ///< frames of this pass through the file
  std::uint64_t device_id_ = 0;
  duration shift_{};                      ///< of this pass
  std::optional<capture_time> last_;      ///< frame
  std::optional<captured_frame> pending_; ///< not due yet
  std::optional<graph_time> start_;
  capture_time first_{};
};

std::size_t video_camera::decoder_frames() const {
  const auto& parameters = *film_.stream->codecpar;
  const bool lent = (film_.codec->capabilities & AV_CODEC_CAP_DR1) != 0
                    && direct_format(static_cast<AVPixelFormat>(parameters.format));
  if (!lent)
    return 1; // the one that is copied or converted to
  return pictures_held(film_, threads_);
}

expected<camera_info> video_camera::probe() {
  auto opened = open_film(path_, interruption());
  if (opened.has_error())
    return opened.error();
  film_ = std::move(opened.value());
  auto decoder = make_decoder(film_, threads_, path_);
  if (decoder.has_error())
    return decoder.error();
  const auto& parameters = *film_.stream->codecpar;
  const auto pixels = static_cast<AVPixelFormat>(parameters.format);
  const auto direct = direct_format(pixels);

  camera_info info;
  auto format = video_format::packed(
    direct.value_or(pixel_format::bgr24), static_cast<std::uint32_t>(parameters.width),
    static_cast<std::uint32_t>(parameters.height));
  set_colours(format, parameters.color_range, parameters.color_space, pixels);
  info.media.video = format;
  info.fps = film_.fps();
  info.live = realtime_;
  info.frame_bytes = decoder_pool::slot_bytes(
    direct ? decoder.value().get() : nullptr, direct ? pixels : AV_PIX_FMT_BGR24, parameters.width,
    parameters.height);
  info.own_frames = decoder_frames();
  info.blocks = true;
  if (!loop_) {
    // Only an index knows how many frames there are: an AVI's header counts places in time, filled
    // or not.
    const int indexed = avformat_index_get_entries_count(film_.stream);
    const std::string container = film_.input->iformat->name;
    if (container.find("mp4") != std::string::npos && film_.stream->nb_frames > 0)
      info.frame_count = static_cast<std::uint64_t>(film_.stream->nb_frames);
    else if (container == "avi" && indexed > 0)
      info.frame_count = static_cast<std::uint64_t>(indexed);
    if (film_.stream->duration > 0)
      info.length = in_time(film_.stream->duration, film_.stream->time_base);
    else if (film_.input->duration > 0)
      info.length = in_time(film_.input->duration, AV_TIME_BASE_Q);
  }
  decoder.value().reset();
  film_ = {};
  return info;
}

expected<void> video_camera::open(const camera_environment& environment) {
  stream_ = environment.stream;
  interrupted_ = false;
  decoder_.reset();
  pool_.reset();
  pending_.reset();
  start_.reset();
  last_.reset();
  shift_ = {};
  device_id_ = 0;
  media_.reset();
  auto opened = open_film(path_, interruption());
  if (opened.has_error())
    return opened.error();
  film_ = std::move(opened.value());
  pool_ = std::make_unique<decoder_pool>(environment.frames_ahead, decoder_frames());
  return begin_pass();
}

/// Starts at the beginning of the file that `film_` has open.
expected<void> video_camera::begin_pass() {
  auto made = make_decoder(film_, threads_, path_);
  if (made.has_error())
    return made.error();
  decoder_ = std::move(made.value());
  decoder_->opaque = pool_.get();
  decoder_->get_buffer2 = decoder_pool::get_buffer2;
  if (const int failed = avcodec_open2(decoder_.get(), film_.codec, nullptr); failed < 0)
    return make_error(
      errc::io_failed, path_,
      std::string{"FFmpeg's decoder "} + film_.codec->name
        + " cannot be started: " + words_of(failed));
  refused_ = false;
  unreadable_ = 0;
  in_pass_ = 0;
  return {};
}

camera_event video_camera::read(graph_time now) {
  if (interrupted_)
    return stopped();
  if (!pending_) {
    auto event = next();
    auto* f = std::get_if<captured_frame>(&event);
    if (!f || !realtime_)
      return event;
    if (!start_) {
      start_ = now;
      first_ = f->captured;
    }
    pending_ = std::move(*f);
  }
  if (const auto due = later_by(*start_, pending_->captured - first_); now < due)
    return not_before{due};
  auto f = std::move(*pending_);
  pending_.reset();
  return f;
}

/// The next frame of the film, whenever it is due.
camera_event video_camera::next() {
  for (;;) {
    if (interrupted_)
      return stopped();
    const int got =
      refused_ ? AVERROR(EAGAIN) : avcodec_receive_frame(decoder_.get(), frame_.get());
    if (got == 0)
      return picture();
    if (std::exchange(refused_, false))
      return damaged();
    if (got == AVERROR_EOF) {
      if (!loop_)
        return end_of_stream{};
      if (in_pass_ == 0)
        return make_error(errc::io_failed, path_, "the video has not one frame to loop over");
      auto again = open_film(path_, interruption());
      if (again.has_error())
        return again.error();
      decoder_.reset();
      film_ = std::move(again.value());
      if (auto begun = begin_pass(); begun.has_error())
        return begun.error();
      continue;
    }
    if (got != AVERROR(EAGAIN))
      return damaged();
    if (auto failed = feed())
      return std::move(*failed);
  }
}

/// Gives the decoder one more packet of the stream, or the end of the file.
std::optional<error> video_camera::feed() {
  constexpr int give_up_after = 100;
  const int got = av_read_frame(film_.input.get(), packet_.get());
  if (got == AVERROR_EOF) {
    avcodec_send_packet(decoder_.get(), nullptr);
    return {};
  }
  if (got < 0) {
    if (got == AVERROR_EXIT || interrupted_)
      return stopped();
    if (++unreadable_ < give_up_after)
      return {};
    return make_error(
      errc::io_failed, path_,
      "the video cannot be read on after frame " + std::to_string(device_id_) + ": "
        + words_of(got));
  }
  unreadable_ = 0;
  if (packet_->stream_index == film_.stream->index) {
    const int sent = avcodec_send_packet(decoder_.get(), packet_.get());
    refused_ = sent < 0 && sent != AVERROR(EAGAIN) && sent != AVERROR_EOF;
  }
  av_packet_unref(packet_.get());
  return {};
}

/// A frame that the decoder could make nothing of.
captured_frame video_camera::damaged() {
  captured_frame f;
  f.captured = stamp(AV_NOPTS_VALUE);
  f.device_id = device_id_++;
  f.flags = frame_corrupt;
  f.media = media_;
  if (!media_) {
    const auto& parameters = *film_.stream->codecpar;
    const auto direct = direct_format(static_cast<AVPixelFormat>(parameters.format));
    f.media = type_of(video_format::packed(
      direct.value_or(pixel_format::bgr24), static_cast<std::uint32_t>(parameters.width),
      static_cast<std::uint32_t>(parameters.height)));
  }
  ++in_pass_;
  return f;
}

/// What the decoder gave, in `frame_`, as a frame of the stream.
camera_event video_camera::picture() {
  captured_frame f;
  f.captured = stamp(frame_->best_effort_timestamp);
  f.device_id = device_id_++;
  if (frame_->key_frame)
    f.flags |= frame_key;
  if ((frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame_->decode_error_flags != 0)
    f.flags |= frame_corrupt;
  ++in_pass_;

  const auto pixels = static_cast<AVPixelFormat>(frame_->format);
  decoder_pool::picture p;
  try {
    p = pool_->find(*frame_);
    if (!p) {
      p = pool_->acquire(
        direct_format(pixels).value_or(pixel_format::bgr24), frame_->width, frame_->height);
      if (p && !convert(p)) {
        av_frame_unref(frame_.get());
        return make_error(
          errc::io_failed, path_,
          std::string{"pictures in pixel format "}
            + (av_get_pix_fmt_name(pixels) ? av_get_pix_fmt_name(pixels) : "?")
            + " cannot be converted");
      }
    }
  } catch (const failure& e) {
    return make_error(e.what_failed().code, stream_, e.what_failed().message);
  }
  set_colours(p.format, frame_->color_range, frame_->colorspace, pixels);
  f.media = media_ = type_of(p.format);
  av_frame_unref(frame_.get());
  if (p.slot && !(realtime_ && p.starved)) {
    f.buffer = std::move(p.slot);
  } else if (realtime_) {
    f.flags |= frame_no_buffer;
  } else {
    return make_error(
      errc::camera_failed, stream_,
      "asked for a frame while all " + std::to_string(pool_->slots())
        + " buffers of the camera are in use, although it is not live and was to be asked for "
          "what the graph can hold only; this is a defect of the runtime");
  }
  return f;
}

/// Copies or converts `frame_`. @returns false where FFmpeg knows no way.
bool video_camera::convert(const decoder_pool::picture& to) {
  std::array<std::uint8_t*, 4> data{};
  std::array<int, 4> strides{};
  for (std::size_t p = 0; p < to.format.plane_count(); ++p) {
    data[p] = reinterpret_cast<std::uint8_t*>(to.slot.data()) + to.format.planes[p].offset;
    strides[p] = static_cast<int>(to.format.planes[p].stride);
  }
  const auto pixels = static_cast<AVPixelFormat>(frame_->format);
  if (direct_format(pixels)) {
    av_image_copy(
      data.data(), strides.data(), const_cast<const std::uint8_t**>(frame_->data), frame_->linesize,
      pixels, frame_->width, frame_->height);
    return true;
  }
  const auto plain = without_range(pixels);
  scaler_.reset(sws_getCachedContext(
    scaler_.release(), frame_->width, frame_->height, plain, frame_->width, frame_->height,
    AV_PIX_FMT_BGR24, SWS_BILINEAR, nullptr, nullptr, nullptr));
  if (!scaler_)
    return false;
  const bool hd = frame_->colorspace == AVCOL_SPC_BT709
                  || (frame_->colorspace == AVCOL_SPC_UNSPECIFIED && frame_->height >= 720);
  const auto* matrix = sws_getCoefficients(hd ? SWS_CS_ITU709 : SWS_CS_ITU601);
  const int full = plain != pixels || frame_->color_range == AVCOL_RANGE_JPEG ? 1 : 0;
  sws_setColorspaceDetails(scaler_.get(), matrix, full, matrix, 1, 0, 1 << 16, 1 << 16);
  return sws_scale(
           scaler_.get(), frame_->data, frame_->linesize, 0, frame_->height, data.data(),
           strides.data())
         > 0;
}

/// The capture time for presentation time `ticks`; see the header.
capture_time video_camera::stamp(std::int64_t ticks) {
  const auto step = film_.frame_time();
  if (ticks == AV_NOPTS_VALUE) {
    last_ = last_ ? *last_ + step : capture_time{};
    return *last_;
  }
  const auto shown = in_time(ticks, film_.stream->time_base);
  if (in_pass_ == 0 && last_)
    shift_ = last_->time_since_epoch() + step - shown;
  capture_time t{shown + shift_};
  if (last_ && t <= *last_)
    t = *last_ + std::chrono::microseconds{1};
  last_ = t;
  return t;
}

media_type_ptr video_camera::type_of(video_format format) {
  if (media_ && same(media_->video, format))
    return media_;
  return make_video_type(format);
}

} // namespace

camera_description video_description() {
  using enum parameter_type;
  camera_description d;
  d.name = "video";
  d.summary = "Plays a video file with FFmpeg: every frame with its true time, as fast as it is "
              "taken or in real time.";
  d.parameters = {
    {.name = "path",
     .type = text,
     .help = "The video file.",
     .required = true,
     .existing_file = true},
    {.name = "realtime",
     .type = boolean,
     .help = "true: frames come at their times, as from a live camera, and are dropped where they "
             "do not fit; "
             "false: as fast as the graph takes them.",
     .initial = initial_value(false)},
    {.name = "loop",
     .type = boolean,
     .help = "Begins anew after the last frame; times go on rising.",
     .initial = initial_value(false)},
    {.name = "threads",
     .type = integer,
     .help = "Threads of the decoder; each takes one more buffer.",
     .initial = initial_value(std::int64_t{1}),
     .least = 1,
     .most = 64,
     .unit = "threads"},
  };
  d.make = [](const settings& config, const std::string& folder) -> std::unique_ptr<camera> {
    return std::make_unique<video_camera>(config, folder);
  };
  return d;
}

} // namespace hyperframes
