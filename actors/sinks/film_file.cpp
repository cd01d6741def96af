#include "actors/sinks/film_file.hpp"

#include "runtime/error.hpp"

#include <opencv2/core.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/error.h>
#include <libavutil/mathematics.h>
#include <libswscale/swscale.h>
}

namespace hyperframes {

namespace {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* p) const { Free(&p); }
};
using packet_ptr = std::unique_ptr<AVPacket, freed_by<av_packet_free>>;
using picture_ptr = std::unique_ptr<AVFrame, freed_by<av_frame_free>>;
using encoder_ptr = std::unique_ptr<AVCodecContext, freed_by<avcodec_free_context>>;

struct free_container {
  void operator()(AVFormatContext* c) const {
    avio_closep(&c->pb);
    avformat_free_context(c);
  }
};
using container_ptr = std::unique_ptr<AVFormatContext, free_container>;

struct free_scaler {
  void operator()(SwsContext* s) const { sws_freeContext(s); }
};

[[noreturn]] void fail(const std::string& path, const std::string& sentence) {
  throw failure(make_error(errc::io_failed, path, sentence));
}

void check(int code, const std::string& path, const char* doing) {
  if (code >= 0)
    return;
  char text[AV_ERROR_MAX_STRING_SIZE];
  av_strerror(code, text, sizeof text);
  fail(path, std::string{doing} + ": " + text);
}

struct codec_facts {
  const char* name;
  AVCodecID id;
  const char* preferred; ///< encoder; where it is missing, any that FFmpeg has for the id
  AVPixelFormat format;
  bool full_range; ///< of the format's values
  int most_ticks;  ///< per second that the encoder takes
};
/// `auto` takes the first one that the container takes and FFmpeg has.
constexpr codec_facts codecs[] = {
  {"mpeg4", AV_CODEC_ID_MPEG4, "mpeg4", AV_PIX_FMT_YUV420P, false, 60000},
  {"mjpeg", AV_CODEC_ID_MJPEG, "mjpeg", AV_PIX_FMT_YUV420P, true, 90000},
  {"h264", AV_CODEC_ID_H264, "libx264", AV_PIX_FMT_YUV420P, false, 90000},
  {"ffv1", AV_CODEC_ID_FFV1, "ffv1", AV_PIX_FMT_BGR0, true, 90000},
};

const AVCodec* encoder_of(const codec_facts& c) {
  const auto* preferred = avcodec_find_encoder_by_name(c.preferred);
  return preferred ? preferred : avcodec_find_encoder(c.id);
}

bool fits(const codec_facts& c, const AVOutputFormat& container) {
  return avformat_query_codec(&container, c.id, FF_COMPLIANCE_NORMAL) == 1;
}

const AVOutputFormat& container_of(const std::string& path) {
  const auto* format = av_guess_format(nullptr, path.c_str(), nullptr);
  if (!format || (format->flags & AVFMT_NOFILE) || format->video_codec == AV_CODEC_ID_NONE)
    fail(path, "its extension names no container for films; use .mkv, .mp4, .mov or .avi");
  return *format;
}

const codec_facts& codec_of(const film_options& o) {
  const auto& container = container_of(o.path);
  for (const auto& c : codecs) {
    if (o.codec == "auto" ? !(fits(c, container) && encoder_of(c)) : o.codec != c.name)
      continue;
    if (!encoder_of(c))
      fail(o.path, "FFmpeg was built without an encoder for " + o.codec
                     + "; take another `codec`, or leave it out");
    if (!fits(c, container))
      fail(o.path, o.codec + " does not go into a file of type " + container.name
                     + "; take another `codec`, or name a file that ends in .mkv");
    return c;
  }
  fail(o.path, o.codec == "auto"
                 ? std::string{"FFmpeg has no encoder for a file of type "} + container.name
                     + "; name a file that ends in .mkv"
                 : "codec " + o.codec + " is unknown");
}

} // namespace

// ---- the time line -------------------------------------------------------------------------------

film_clock::film_clock(int tick_numerator, int tick_denominator, bool live)
  : numerator_(tick_numerator), denominator_(tick_denominator), live_(live),
    distance_(std::chrono::milliseconds{40}) {}

std::int64_t film_clock::tick(std::uint32_t epoch, capture_time t) {
  const auto captured = t.time_since_epoch();
  if (!begun_) {
    const bool of_a_file = captured >= duration::zero() && captured <= std::chrono::hours{24};
    shift_ = live_ || !of_a_file ? -captured : duration::zero();
  } else if (epoch != epoch_) {
    shift_ = last_ + distance_ - captured;
  }
  const auto place = captured + shift_;
  if (begun_ && place > last_)
    distance_ = place - last_;
  begun_ = true;
  epoch_ = epoch;
  last_ = std::max(place, last_);
  const auto exact = av_rescale_q(place.count(), {1, 1'000'000'000}, {numerator_, denominator_});
  last_tick_ = std::max(exact, last_tick_ + 1);
  return last_tick_;
}

// ---- the file ------------------------------------------------------------------------------------

struct film_file::writer {
  writer(const film_options& o, int width, int height);

  void add(const cv::Mat& picture, std::uint32_t epoch, capture_time t);
  void take_packets();
  void finish();

  std::string path;
  container_ptr container;
  encoder_ptr encoder;
  AVStream* stream = nullptr; ///< the container's
  std::unique_ptr<SwsContext, free_scaler> scaler;
  picture_ptr encoded;
  packet_ptr packet;
  std::optional<film_clock> clock;
  /// Ticks of the pictures inside the encoder. An encoder may count in coarser ticks than the
  /// container does; as it does not reorder, its packets get the exact ones back in turn.
  std::deque<std::int64_t> ticks;
  std::int64_t encoder_tick = -1;
  std::int64_t last_tick = -1;
};

film_file::writer::writer(const film_options& o, int width, int height) : path(o.path) {
  const auto& facts = codec_of(o);
  const auto* codec = encoder_of(facts);
  AVFormatContext* raw = nullptr;
  check(avformat_alloc_output_context2(&raw, &container_of(path), nullptr, path.c_str()), path,
        "cannot be prepared");
  container.reset(raw);
  stream = avformat_new_stream(raw, nullptr);
  encoder.reset(avcodec_alloc_context3(codec));
  encoded.reset(av_frame_alloc());
  packet.reset(av_packet_alloc());
  if (!stream || !encoder || !encoded || !packet)
    fail(path, "there is no memory for its encoder");

  const std::string name = raw->oformat->name;
  const int ticks = name == "avi" || name == "matroska" ? 1000 : 90000;
  auto& e = *encoder;
  e.width = (width + 1) / 2 * 2;
  e.height = (height + 1) / 2 * 2;
  e.pix_fmt = facts.format;
  e.color_range = facts.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  e.colorspace = facts.format == AV_PIX_FMT_BGR0 ? AVCOL_SPC_RGB : AVCOL_SPC_SMPTE170M; // as swscale makes it
  e.time_base = {1, std::min(ticks, facts.most_ticks)};
  e.gop_size = 30;
  e.max_b_frames = 0;
  e.thread_count = 1;
  e.log_level_offset = AV_LOG_DEBUG - AV_LOG_INFO; // x264 tells about each film
  if (raw->oformat->flags & AVFMT_GLOBALHEADER)
    e.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  AVDictionary* extra = nullptr;
  if (facts.id == AV_CODEC_ID_H264) {
    av_dict_set(&extra, "crf", std::to_string(51 - o.quality * 44 / 100).c_str(), 0);
    av_dict_set(&extra, "preset", "veryfast", 0);
  } else if (facts.id != AV_CODEC_ID_FFV1) {
    e.flags |= AV_CODEC_FLAG_QSCALE;
    e.global_quality = FF_QP2LAMBDA * (31 - (o.quality - 1) * 29 / 99);
  }
  const int opened = avcodec_open2(&e, codec, &extra);
  av_dict_free(&extra);
  check(opened, path, "its encoder cannot be opened");

  encoded->format = e.pix_fmt;
  encoded->width = e.width;
  encoded->height = e.height;
  check(av_frame_get_buffer(encoded.get(), 0), path, "there is no memory for its pictures");
  stream->time_base = {1, ticks};
  check(avcodec_parameters_from_context(stream->codecpar, &e), path, "cannot be prepared");
  check(avio_open(&raw->pb, path.c_str(), AVIO_FLAG_WRITE), path, "cannot be opened");
  AVDictionary* options = nullptr;
  av_dict_set(&options, "movie_timescale", "90000", 0); // of mp4 and mov: where the film begins
  const int begun = avformat_write_header(raw, &options);
  av_dict_free(&options);
  check(begun, path, "cannot be written");
  // AVI's first picture stands at 0, whatever its time stamp says.
  clock.emplace(stream->time_base.num, stream->time_base.den, o.live || name == "avi");
}

void film_file::writer::add(const cv::Mat& picture, std::uint32_t epoch, capture_time t) {
  auto& e = *encoder;
  // The picture is drawn into the even size by scaling only where it does not have the film's size.
  cv::Mat source = picture;
  if ((picture.cols + 1) / 2 * 2 == e.width && (picture.rows + 1) / 2 * 2 == e.height)
    cv::copyMakeBorder(picture, source, 0, e.height - picture.rows, 0, e.width - picture.cols,
                       cv::BORDER_REPLICATE);
  scaler.reset(sws_getCachedContext(scaler.release(), source.cols, source.rows, AV_PIX_FMT_BGR24,
                                    e.width, e.height, e.pix_fmt, SWS_BILINEAR | SWS_ACCURATE_RND,
                                    nullptr, nullptr, nullptr));
  if (!scaler)
    fail(path, "its pictures cannot be scaled");
  const int* bt601 = sws_getCoefficients(SWS_CS_ITU601);
  sws_setColorspaceDetails(scaler.get(), bt601, 1, bt601, e.color_range == AVCOL_RANGE_JPEG, 0, 1 << 16, 1 << 16);
  check(av_frame_make_writable(encoded.get()), path, "there is no memory for its pictures");
  const std::uint8_t* planes[] = {source.data};
  const int strides[] = {static_cast<int>(source.step[0])};
  sws_scale(scaler.get(), planes, strides, 0, source.rows, encoded->data, encoded->linesize);

  const auto tick = clock->tick(epoch, t);
  encoder_tick = std::max(av_rescale_q(tick, stream->time_base, e.time_base), encoder_tick + 1);
  encoded->pts = encoder_tick;
  if (e.flags & AV_CODEC_FLAG_QSCALE)
    encoded->quality = e.global_quality;
  ticks.push_back(tick);
  check(avcodec_send_frame(&e, encoded.get()), path, "a picture cannot be encoded");
  take_packets();
}

void film_file::writer::take_packets() {
  for (;;) {
    const int got = avcodec_receive_packet(encoder.get(), packet.get());
    if (got == AVERROR(EAGAIN) || got == AVERROR_EOF)
      return;
    check(got, path, "a picture cannot be encoded");
    if (ticks.empty())
      fail(path, "its encoder gave more pictures than it got");
    packet->stream_index = stream->index;
    packet->pts = packet->dts = ticks.front();
    packet->duration = last_tick < 0 ? 1 : ticks.front() - last_tick;
    last_tick = ticks.front();
    ticks.pop_front();
    check(av_write_frame(container.get(), packet.get()), path, "cannot be written");
    av_packet_unref(packet.get());
  }
}

void film_file::writer::finish() {
  check(avcodec_send_frame(encoder.get(), nullptr), path, "its last pictures cannot be encoded");
  take_packets();
  check(av_write_trailer(container.get()), path, "its end cannot be written");
  avio_flush(container->pb);
  check(container->pb->error, path, "its end cannot be written");
  check(avio_closep(&container->pb), path, "cannot be closed");
}

void check_codec(const film_options& options) {
  codec_of(options);
}

film_file::film_file(film_options options) : options_(std::move(options)) {
  check_codec(options_);
  const auto folder = std::filesystem::path{options_.path}.parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    fail(options_.path, "cannot be opened: the folder " + folder.string()
                          + " does not exist; make it, or name another `path`");
}

film_file::~film_file() {
  if (!writer_)
    return;
  try {
    writer_->finish();
  } catch (const failure&) { // whoever wants to know calls `close`
  }
}

void film_file::add(const cv::Mat& picture, std::uint32_t epoch, capture_time t) {
  if (!writer_)
    writer_ = std::make_unique<writer>(options_, picture.cols, picture.rows);
  writer_->add(picture, epoch, t);
}

void film_file::close() {
  if (const auto w = std::move(writer_))
    w->finish();
}

} // namespace hyperframes
