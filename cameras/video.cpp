#include "cameras/video.hpp"

#include "cameras/av_picture.hpp"
#include "cameras/decoder_pool.hpp"
#include "cameras/empty_pool.hpp"
#include "cameras/segmented_player.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <thread>
#include <utility>

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace hyperframes {

namespace {

constexpr std::uint32_t most_segments = 64;
/// Beyond that, taking the pictures costs more than decoding them for most films.
constexpr std::uint32_t most_automatic_segments = 4;

/// `segments` as written. @returns 0 where it is neither `auto` nor a number from 1 to 64.
std::uint32_t segments_of(const std::string& written) {
  if (written == "auto")
    return std::clamp<std::uint32_t>(
      std::thread::hardware_concurrency(), 1, most_automatic_segments);
  std::uint32_t count = 0;
  const auto* end = written.data() + written.size();
  const auto [stopped, wrong] = std::from_chars(written.data(), end, count);
  return wrong == std::errc{} && stopped == end && count <= most_segments ? count : 0;
}

class video_camera final : public camera {
public:
  video_camera(const settings& config, const std::string& folder)
    : path_((std::filesystem::path{folder} / config.text("path")).string()),
      realtime_(config.flag("realtime")),
      loop_(config.flag("loop")),
      player_(
        path_, segments_of(config.text("segments")), static_cast<int>(config.integer("threads")),
        interrupted_),
      threads_(static_cast<int>(config.integer("threads"))) {}

  expected<camera_info> probe() override;
  expected<void> open(const camera_environment& environment) override;
  camera_event read(graph_time now) override;
  void interrupt() noexcept override {
    interrupted_ = true;
    player_.interrupt();
  }

private:
  camera_event next();
  captured_frame damaged();
  camera_event picture(AVFrame& decoded);
  expected<decoder_pool::picture> place_of(const AVFrame& decoded);
  capture_time stamp(std::int64_t ticks);
  error explained(error e) const;
  media_type_ptr type_of(video_format format);

  std::string path_;
  bool realtime_, loop_;
  std::atomic<bool> interrupted_{false};

  std::string stream_;
  std::unique_ptr<decoder_pool> pool_; ///< outlives the decoder
  segmented_player player_;
  int threads_;
  av_picture_writer writer_;
  media_type_ptr media_;                  ///< of the last frame
  duration shift_{};                      ///< of this pass
  std::optional<capture_time> last_;      ///< frame
  std::optional<captured_frame> pending_; ///< not due yet
  std::optional<graph_time> start_;
  capture_time first_{};
};

/// An interrupted call says so in one sentence, wherever it was.
error video_camera::explained(error e) const {
  if (e.code != errc::stopped)
    return e;
  return make_error(errc::stopped, stream_, "reading " + path_ + " was interrupted");
}

expected<camera_info> video_camera::probe() {
  if (auto opened = player_.open(); opened.has_error())
    return explained(opened.error());
  const auto& film = player_.source();
  auto decoder = make_decoder(film, threads_, path_);
  if (decoder.has_error())
    return decoder.error();
  const auto& parameters = *film.stream->codecpar;
  const auto pixels = static_cast<AVPixelFormat>(parameters.format);
  const auto direct = direct_format(pixels);

  camera_info info;
  info.media.video = declared_format(parameters);
  info.fps = film.fps();
  info.live = realtime_;
  info.frame_bytes = decoder_pool::slot_bytes(
    direct ? decoder.value().get() : nullptr, direct ? pixels : AV_PIX_FMT_BGR24, parameters.width,
    parameters.height);
  info.own_frames = player_.decoder_frames();
  info.blocks = true;
  if (!loop_) {
    info.frame_count = film.frame_count();
    info.length = film.length();
  }
  decoder.value().reset();
  player_.close();
  return info;
}

expected<void> video_camera::open(const camera_environment& environment) {
  stream_ = environment.stream;
  player_.close();
  pool_.reset();
  pending_.reset();
  start_.reset();
  last_.reset();
  shift_ = {};
  media_.reset();
  if (auto opened = player_.open(); opened.has_error())
    return explained(opened.error());
  pool_ = std::make_unique<decoder_pool>(
    environment.frames_ahead, player_.decoder_frames(), environment.pool);
  return player_.begin(*pool_);
}

camera_event video_camera::read(graph_time now) {
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
    auto event = player_.next();
    if (auto* p = std::get_if<film_player::picture>(&event))
      return p->content ? picture(*p->content) : damaged();
    if (auto* e = std::get_if<error>(&event))
      return explained(std::move(*e));
    if (!loop_)
      return end_of_stream{};
    if (player_.pictures_of_pass() == 0)
      return make_error(errc::io_failed, path_, "the video has not one frame to loop over");
    if (auto begun = player_.begin_again(*pool_); begun.has_error())
      return explained(begun.error());
  }
}

/// A frame that the decoder could make nothing of.
captured_frame video_camera::damaged() {
  captured_frame f;
  f.captured = stamp(AV_NOPTS_VALUE);
  f.device_id = player_.pictures() - 1;
  f.flags = frame_corrupt;
  f.media = media_ ? media_ : type_of(declared_format(*player_.source().stream->codecpar));
  return f;
}

/// What the decoder gave as a frame of the stream.
camera_event video_camera::picture(AVFrame& decoded) {
  captured_frame f;
  f.captured = stamp(decoded.best_effort_timestamp);
  f.device_id = player_.pictures() - 1;
  if (decoded.key_frame)
    f.flags |= frame_key;
  if ((decoded.flags & AV_FRAME_FLAG_CORRUPT) != 0 || decoded.decode_error_flags != 0)
    f.flags |= frame_corrupt;
  auto place = place_of(decoded);
  if (place.has_error()) {
    av_frame_unref(&decoded);
    return place.error();
  }
  auto& p = place.value();
  set_colours(
    p.format, decoded.color_range, decoded.colorspace,
    static_cast<AVPixelFormat>(decoded.format));
  f.media = media_ = type_of(p.format);
  av_frame_unref(&decoded);
  if (p.slot && !(realtime_ && p.starved)) {
    f.buffer = std::move(p.slot);
  } else if (p.refused) {
    f.flags |= frame_no_memory;
  } else if (realtime_) {
    f.flags |= frame_no_buffer;
  } else {
    return empty_pool(stream_, pool_->slots());
  }
  return f;
}

/// Where the picture lies in the pool: where the decoder wrote it, or where it was copied to.
expected<decoder_pool::picture> video_camera::place_of(const AVFrame& decoded) try {
  auto p = pool_->find(decoded);
  if (p)
    return p;
  const auto pixels = static_cast<AVPixelFormat>(decoded.format);
  p = pool_->acquire(
    direct_format(pixels).value_or(pixel_format::bgr24), decoded.width, decoded.height);
  if (p && !writer_.write(decoded, p.format, p.slot.data()))
    return make_error(
      errc::io_failed, path_,
      std::string{"pictures in pixel format "}
        + (av_get_pix_fmt_name(pixels) ? av_get_pix_fmt_name(pixels) : "?")
        + " cannot be converted");
  return p;
} catch (const failure& e) {
  return make_error(e.what_failed().code, stream_, e.what_failed().message);
}

/// The capture time for presentation time `ticks`; see the header.
capture_time video_camera::stamp(std::int64_t ticks) {
  const auto step = player_.source().frame_time();
  if (ticks == AV_NOPTS_VALUE) {
    last_ = last_ ? *last_ + step : capture_time{};
    return *last_;
  }
  const auto shown = in_time(ticks, player_.source().stream->time_base);
  if (player_.pictures_of_pass() == 1 && last_)
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
    {.name = "segments",
     .type = text,
     .help = "Cuts the film at key frames and decodes so many parts side by side, each with up to "
             "256 MiB of pictures that wait for their turn; `auto`: one per core, at most 4. A film "
             "whose packets carry no presentation times is not cut.",
     .initial = initial_value(std::string{"1"})},
  };
  d.check = [](const settings& config, const source_mark& mark, std::vector<fault>& faults) {
    if (const auto& written = config.text("segments"); segments_of(written) == 0)
      faults.push_back(
        {mark, "segments: expected auto, or a number from 1 to 64, found '" + written + "'"});
  };
  d.make = [](const settings& config, const std::string& folder) -> std::unique_ptr<camera> {
    return std::make_unique<video_camera>(config, folder);
  };
  return d;
}

} // namespace hyperframes
