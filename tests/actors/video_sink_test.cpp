#include "actors/sinks/annotate.hpp"
#include "actors/sinks/film_file.hpp"
#include "actors/sinks/to_bgr.hpp"
#include "tests/actors/sink_context.hpp"

#include <opencv2/core.hpp>

#include <cmath>
#include <limits>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

/// A frame of one colour; `luma`, `u` and `v` for YUV formats, B, G and R otherwise.
frame frame_of(pixel_format format, std::uint32_t width, std::uint32_t height, int a, int b, int c) {
  const auto v = video_format::packed(format, width, height, 16);
  frame f;
  f.media = make_video_type(v);
  f.buffer = buffer_pool{1, v.size_bytes()}.acquire();
  auto* bytes = reinterpret_cast<std::uint8_t*>(f.buffer.data());
  const int values[] = {a, b, c};
  for (std::size_t p = 0; p < v.plane_count(); ++p)
    for (std::size_t y = 0; y < v.plane_rows(p); ++y)
      for (std::size_t x = 0; x < v.row_bytes(p); ++x) {
        const auto channel = format == pixel_format::i420                 ? p
                             : format == pixel_format::nv12               ? (p == 0 ? 0 : 1 + x % 2)
                             : format == pixel_format::gray8              ? 0
                             : format == pixel_format::rgb24              ? 2 - x % 3
                                                                          : x % 3;
        bytes[v.planes[p].offset + y * v.planes[p].stride + x] = static_cast<std::uint8_t>(values[channel]);
      }
  return f;
}

bool near(const cv::Vec3b& pixel, int b, int g, int r, int by = 2) {
  return std::abs(pixel[0] - b) <= by && std::abs(pixel[1] - g) <= by && std::abs(pixel[2] - r) <= by;
}

struct read_film {
  std::vector<std::int64_t> times_ns; ///< of each picture
  std::int64_t tick_ns = 0;           ///< rounded up
  std::vector<cv::Mat> pictures;
  std::string codec;
};

/// Reads a film with nothing of ours.
read_film read_back(const std::string& path) {
  av_log_set_level(AV_LOG_ERROR);
  read_film film;
  AVFormatContext* in = nullptr;
  REQUIRE(avformat_open_input(&in, path.c_str(), nullptr, nullptr) == 0);
  REQUIRE(avformat_find_stream_info(in, nullptr) >= 0);
  REQUIRE(in->nb_streams == 1);
  const auto& s = *in->streams[0];
  const auto* codec = avcodec_find_decoder(s.codecpar->codec_id);
  film.codec = codec->name;
  film.tick_ns = (1'000'000'000LL * s.time_base.num + s.time_base.den - 1) / s.time_base.den;
  auto* decoder = avcodec_alloc_context3(codec);
  avcodec_parameters_to_context(decoder, s.codecpar);
  REQUIRE(avcodec_open2(decoder, codec, nullptr) == 0);
  auto* packet = av_packet_alloc();
  auto* picture = av_frame_alloc();
  const auto decode = [&](AVPacket* p) {
    avcodec_send_packet(decoder, p);
    while (avcodec_receive_frame(decoder, picture) == 0) {
      film.times_ns.push_back(av_rescale_q(picture->best_effort_timestamp, s.time_base, {1, 1'000'000'000}));
      cv::Mat bgr(picture->height, picture->width, CV_8UC3);
      auto* scaler = sws_getContext(picture->width, picture->height, static_cast<AVPixelFormat>(picture->format),
                                    picture->width, picture->height, AV_PIX_FMT_BGR24, SWS_BILINEAR, nullptr,
                                    nullptr, nullptr);
      std::uint8_t* rows[] = {bgr.data};
      const int stride[] = {static_cast<int>(bgr.step[0])};
      sws_scale(scaler, picture->data, picture->linesize, 0, picture->height, rows, stride);
      sws_freeContext(scaler);
      film.pictures.push_back(bgr);
    }
  };
  while (av_read_frame(in, packet) == 0) {
    if (packet->size > 0) // AVI fills time with packets that hold nothing
      decode(packet);
    av_packet_unref(packet);
  }
  decode(nullptr);
  av_frame_free(&picture);
  av_packet_free(&packet);
  avcodec_free_context(&decoder);
  avformat_close_input(&in);
  return film;
}

cv::Mat plain(int width, int height, const cv::Scalar& colour) {
  return {height, width, CV_8UC3, colour};
}

capture_time at_us(std::int64_t us) {
  return capture_time{std::chrono::microseconds{us}};
}

/// A result with a picture.
std::shared_ptr<frame_result> pictured(std::uint64_t id, stream_index stream = 0) {
  auto r = result_of(id, stream);
  r->content = frame_of(pixel_format::bgr24, 64, 48, 200, 100, 50);
  r->content->meta = r->meta;
  return r;
}

struct video_run {
  explicit video_run(const settings& own, std::vector<stream_index> streams = {0})
    : kind(describe_video()), sink(kind.make(plan_for(kind, own, std::move(streams)))) {}
  void work_off() {
    while (!context.work.empty())
      context.work_once(*sink);
  }
  stage_description kind;
  std::unique_ptr<stage> sink;
  sink_context context;
};

} // namespace

TEST_CASE("Every pixel format becomes B, G, R") {
  bgr_converter convert;
  for (const auto width : {16U, 15U}) {
    CAPTURE(width);
    const auto pixel = [&](const frame& f) {
      const auto picture = convert.convert(f);
      CHECK(picture.cols == static_cast<int>(width));
      CHECK(picture.rows == 9);
      CHECK(picture.isContinuous());
      return picture.at<cv::Vec3b>(8, picture.cols - 1);
    };
    CHECK(near(pixel(frame_of(pixel_format::bgr24, width, 9, 1, 2, 250)), 1, 2, 250, 0));
    CHECK(near(pixel(frame_of(pixel_format::rgb24, width, 9, 1, 2, 250)), 1, 2, 250, 0));
    CHECK(near(pixel(frame_of(pixel_format::gray8, width, 9, 77, 0, 0)), 77, 77, 77, 0));
    // Pure red of BT.601, limited range, is Y 81, U 90, V 240.
    CHECK(near(pixel(frame_of(pixel_format::i420, width, 9, 81, 90, 240)), 0, 0, 255));
    CHECK(near(pixel(frame_of(pixel_format::nv12, width, 9, 81, 90, 240)), 0, 0, 255));
  }
}

TEST_CASE("What is no picture cannot be drawn, and the sentence says why") {
  bgr_converter convert;
  auto sound = std::make_shared<media_type>();
  sound->what = media_type::kind::audio;
  sound->audio.rate = 48000;
  sound->audio.channels = 2;
  frame f;
  f.media = sound;
  CHECK(failure_of([&] { convert.convert(f); })
        == "a frame without a picture cannot be drawn: it holds audio float32 48000 Hz, 2 channels");
  CHECK(failure_of([&] { convert.convert(frame{}); })
        == "a frame without a picture cannot be drawn: it holds nothing");
}

TEST_CASE("Captions") {
  auto r = result_of(12);
  CHECK(caption_of(*r, "cam1") == "cam1 12 delivered");
  r->why = reason::late;
  r->meta.epoch = 2;
  CHECK(caption_of(*r, "cam1") == "cam1 2/12 delivered (late)");
  r->what = outcome::failed;
  r->why = reason::inference;
  r->meta.epoch = 0;
  r->refers_to = 7;
  CHECK(caption_of(*r, "cam1") == "cam1 12 failed (inference), result at slot 7");
}

TEST_CASE("Boxes are drawn where they are, and no box can do harm") {
  auto picture = plain(320, 240, {0, 0, 0});
  auto r = result_of(1);
  auto found = std::make_shared<inference>();
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto inf = std::numeric_limits<float>::infinity();
  found->boxes = {{100, 120, 60, 50, 0.9F, 3}, {nan, 0, 1, 1, 1, 0},         {0, 0, inf, 1, 1, 0},
                  {-1e30F, -1e30F, 2e30F, 2e30F, 1, -1}, {300, 230, 400, 400, 1, 1000}, {5, 5, -3, -3, 0, 0}};
  found->classes = {{0, 0.5F}};
  r->inferred = found;
  annotate(picture, *r, "cam1");
  const cv::Vec3b black{0, 0, 0};
  CHECK(picture.at<cv::Vec3b>(150, 100) != black); // left edge
  CHECK(picture.at<cv::Vec3b>(170, 130) != black); // lower edge
  CHECK(picture.at<cv::Vec3b>(145, 130) == black); // inside
  CHECK(picture.at<cv::Vec3b>(2, 2) != black);     // the caption's bar
}

TEST_CASE("A film's time line") {
  struct picture {
    std::uint32_t epoch;
    std::int64_t us;
    std::int64_t tick;
  };
  const struct {
    const char* name;
    int per_second;
    bool live;
    std::vector<picture> pictures;
  } rows[] = {
    {"a file keeps its times", 1000, false, {{0, 40000, 40}, {0, 80000, 80}, {0, 133400, 133}}},
    {"a live camera starts at 0", 1000, true, {{0, 5000000, 0}, {0, 5040000, 40}}},
    {"times that no file has start at 0", 1000, false, {{0, 1700000000000000, 0}, {0, 1700000000500000, 500}}},
    {"before zero", 1000, false, {{0, -30000, 0}, {0, 10000, 40}}},
    {"rounded to the nearest", 90000, false, {{0, 0, 0}, {0, 33333, 3000}, {0, 66667, 6000}}},
    {"never the same tick twice", 1000, false, {{0, 0, 0}, {0, 100, 1}, {0, 100, 2}, {0, 50, 3}, {0, 9000, 9}}},
    {"an epoch follows at the last distance", 1000, false,
     {{0, 0, 0}, {0, 25000, 25}, {1, 0, 50}, {1, 25000, 75}, {2, 7000000, 100}, {2, 7050000, 150}}},
    {"an epoch behind a single picture", 1000, true, {{0, 7000, 0}, {1, 0, 40}, {1, 20000, 60}}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    film_clock clock{1, row.per_second, row.live};
    for (const auto& p : row.pictures)
      CHECK(clock.tick(p.epoch, at_us(p.us)) == p.tick);
  }
}

TEST_CASE("Time stamps come back within a tick, at a variable frame rate") {
  // Distances from 4 to 700 ms, and none a whole number of ticks.
  std::vector<std::int64_t> times{20011, 53345, 86678, 93791, 97803, 250007, 950119, 983451, 1016784, 1500003};
  const struct {
    const char* extension;
    const char* codec;
    const char* got;
    std::int64_t tick_ns;
  } rows[] = {
    {"mkv", "auto", "mpeg4", 1000000}, {"mkv", "mjpeg", "mjpeg", 1000000}, {"mkv", "ffv1", "ffv1", 1000000},
    {"mkv", "h264", "h264", 1000000},  {"mp4", "auto", "mpeg4", 11112},    {"mp4", "h264", "h264", 11112},
    {"mov", "mjpeg", "mjpeg", 11112},  {"avi", "auto", "mpeg4", 1000000},  {"avi", "mjpeg", "mjpeg", 1000000},
  };
  scratch_folder folder;
  for (const auto& row : rows) {
    CAPTURE(row.extension);
    CAPTURE(row.codec);
    if (std::string{row.codec} == "h264" && !avcodec_find_encoder(AV_CODEC_ID_H264)) {
      MESSAGE("this FFmpeg has no encoder for h264: left out");
      continue;
    }
    const auto path = folder / "film." + row.extension;
    film_file f{{path, row.codec, 90, false}};
    for (std::size_t i = 0; i < times.size(); ++i)
      f.add(plain(64, 48, cv::Scalar::all(20.0 * static_cast<double>(i))), 0, at_us(times[i]));
    f.close();
    const auto back = read_back(path);
    CHECK(back.codec == row.got);
    CHECK(back.tick_ns <= row.tick_ns);
    REQUIRE(back.times_ns.size() == times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      CAPTURE(i);
      const auto begin = std::string{row.extension} == "avi" ? times[0] : 0; // AVI begins at 0
      CHECK(std::abs(back.times_ns[i] - (times[i] - begin) * 1000) <= back.tick_ns);
      CHECK(std::abs(back.pictures[i].at<cv::Vec3b>(24, 32)[1] - 20 * static_cast<int>(i)) <= 6);
    }
  }
}

TEST_CASE("ffv1 loses nothing") {
  scratch_folder folder;
  cv::Mat noise(48, 64, CV_8UC3);
  cv::RNG{7}.fill(noise, cv::RNG::UNIFORM, 0, 256);
  film_file f{{folder / "film.mkv", "ffv1"}};
  f.add(noise, 0, at_us(0));
  f.close();
  const auto back = read_back(folder / "film.mkv");
  REQUIRE(back.pictures.size() == 1);
  CHECK(cv::norm(back.pictures[0], noise, cv::NORM_INF) == 0);
}

TEST_CASE("Pictures of another size are scaled to the first one's; odd sizes get a line more") {
  scratch_folder folder;
  film_file f{{folder / "film.mkv"}};
  const int sizes[][2] = {{63, 47}, {128, 96}, {64, 48}, {31, 90}, {63, 47}};
  std::int64_t us = 0;
  for (const auto& s : sizes)
    f.add(plain(s[0], s[1], {40, 90, 200}), 0, at_us(us += 40000));
  f.close();
  const auto back = read_back(folder / "film.mkv");
  REQUIRE(back.pictures.size() == 5);
  for (const auto& p : back.pictures) {
    CHECK(p.cols == 64);
    CHECK(p.rows == 48);
    CHECK(near(p.at<cv::Vec3b>(47, 63), 40, 90, 200, 6));
  }
}

TEST_CASE("A film that cannot be written says so") {
  scratch_folder folder;
  const auto sentence = [](const std::string& path, const std::string& codec = "auto") {
    return failure_of([&] { film_file{{path, codec}}; });
  };
  CHECK(sentence(folder / "film.txt")
        == folder / "film.txt" + ": its extension names no container for films; use .mkv, .mp4, .mov or .avi");
  CHECK(sentence(folder / "film")
        == folder / "film" + ": its extension names no container for films; use .mkv, .mp4, .mov or .avi");
  CHECK(sentence(folder / "film.mp4", "ffv1")
        == folder / "film.mp4"
             + ": ffv1 does not go into a file of type mp4; take another `codec`, or name a file that ends in .mkv");
  CHECK(sentence(folder / "none/film.mkv")
        == folder / "none/film.mkv" + ": cannot be opened: the folder " + folder / "none"
             + " does not exist; make it, or name another `path`");
  std::filesystem::create_directory(folder / "folder.mkv");
  film_file directory{{folder / "folder.mkv"}};
  CHECK(failure_of([&] { directory.add(plain(64, 48, {}), 0, at_us(0)); })
        == folder / "folder.mkv" + ": cannot be opened: Is a directory");
}

TEST_CASE("A full disk fails the film") {
  scratch_folder folder;
  std::filesystem::create_symlink("/dev/full", folder / "film.mkv");
  film_file f{{folder / "film.mkv"}};
  const auto sentence = failure_of([&] {
    for (int i = 0; i < 10; ++i)
      f.add(plain(64, 48, cv::Scalar::all(20.0 * i)), 0, at_us(i * 40000));
    f.close();
  });
  CHECK(sentence.find(folder / "film.mkv: ") == 0);
  CHECK(sentence.find("No space left on device") != std::string::npos);
}

TEST_CASE("A film that nobody closed can still be watched") {
  scratch_folder folder;
  {
    film_file f{{folder / "film.mp4"}};
    f.add(plain(64, 48, {}), 0, at_us(0));
    f.add(plain(64, 48, {}), 0, at_us(40000));
  }
  CHECK(read_back(folder / "film.mp4").times_ns.size() == 2);
}

TEST_CASE("The stage films every frame that has a picture, and leaves the others out") {
  scratch_folder folder;
  video_run run{settings{}.with("path", folder / "film.mkv")};
  CHECK(run.sink->start(run.context));
  for (std::uint64_t id = 0; id < 6; ++id) {
    auto r = pictured(id);
    if (id == 2) { // dropped: never seen
      r->content.reset();
      r->what = outcome::dropped;
    }
    if (id == 4) // failed, but there is a picture
      r->what = outcome::failed;
    run.sink->on_item(as_item(r), run.context);
  }
  CHECK(run.sink->held_frames() == 0);
  run.sink->on_end({0, 0, 6}, run.context);
  CHECK_FALSE(run.context.is_done);
  // One is being encoded at a time; the others wait with their credit, the gap's went back at once.
  CHECK(run.context.work.size() == 1);
  CHECK(run.context.released == 2);
  run.work_off();
  CHECK(run.context.released == 6);
  CHECK(run.context.is_done);
  CHECK(run.context.bytes_copied == 5 * 64 * 48 * 3);
  const auto back = read_back(folder / "film.mkv");
  CHECK(back.times_ns == std::vector<std::int64_t>{0, 40000000, 120000000, 160000000, 200000000});
}

TEST_CASE("A film for each stream, or for one of them") {
  scratch_folder folder;
  video_run both{settings{}.with("path", folder / "{stream}.mkv"), {0, 1}};
  for (std::uint64_t id = 0; id < 3; ++id) {
    both.sink->on_item(as_item(pictured(id, 0)), both.context);
    both.sink->on_item(as_item(pictured(id, 1)), both.context);
  }
  CHECK(both.context.work.size() == 2); // side by side
  both.sink->on_end({0, 0, 3}, both.context);
  both.work_off();
  CHECK_FALSE(both.context.is_done);
  both.sink->on_end({1, 0, 3}, both.context);
  both.work_off();
  CHECK(both.context.is_done);
  CHECK(read_back(folder / "cam1.mkv").times_ns.size() == 3);
  CHECK(read_back(folder / "cam2.mkv").times_ns.size() == 3);

  video_run one{settings{}.with("path", folder / "one.mkv").with("stream", std::string{"cam2"}), {0, 1}};
  one.sink->on_item(as_item(result_of(0, 0)), one.context); // not filmed: needs no picture
  one.sink->on_item(as_item(pictured(0, 1)), one.context);
  one.sink->on_end({0, 0, 1}, one.context);
  one.sink->on_end({1, 0, 1}, one.context);
  one.work_off();
  CHECK(one.context.is_done);
  CHECK(one.context.released == 2);
  CHECK(read_back(folder / "one.mkv").times_ns.size() == 1);
}

TEST_CASE("A dropping edge takes the oldest that waits, never the one that is encoded") {
  scratch_folder folder;
  video_run run{settings{}.with("path", folder / "film.mkv")};
  for (std::uint64_t id = 0; id < 3; ++id)
    run.sink->on_item(as_item(pictured(id)), run.context);
  const auto dropped = run.sink->evict(overflow_policy::drop_oldest);
  REQUIRE(dropped);
  CHECK(std::get<frame_result_ptr>(*dropped)->meta.frame_id == 1);
  run.sink->on_end({0, 0, 3}, run.context);
  run.work_off();
  CHECK(run.context.is_done);
  CHECK(read_back(folder / "film.mkv").times_ns == std::vector<std::int64_t>{0, 80000000});
}

TEST_CASE("What is wrong with a video stage is said in a sentence") {
  scratch_folder folder;
  const auto path = settings{}.with("path", folder / "film.mkv");
  CHECK(failure_of([&] { video_run(path, {0, 1}); })
        == "results: several streams pass here (cam1, cam2): name one in `stream`, or put {stream} into `path` for "
           "a film of each");
  CHECK(failure_of([&] { video_run(settings{path}.with("stream", std::string{"cam9"}), {0, 1}); })
        == "results: stream cam9 does not pass here; those that do: cam1, cam2");
  video_run run{path};
  CHECK(failure_of([&] { run.sink->on_item(as_item(result_of(0)), run.context); })
        == "results: the results that come here hold no pictures: set `keep_frames: true` at the bundle stage above");

  std::filesystem::create_symlink("/dev/full", folder / "full.mkv");
  video_run full{settings{}.with("path", folder / "full.mkv")};
  full.sink->on_item(as_item(pictured(0)), full.context);
  full.sink->on_end({0, 0, 1}, full.context);
  CHECK(failure_of([&] { full.work_off(); }).find("No space left on device") != std::string::npos);
  CHECK_FALSE(full.context.is_done);
}

TEST_CASE("Work that outlives its stage does no harm") {
  scratch_folder folder;
  video_run run{settings{}.with("path", folder / "film.mkv")};
  run.sink->on_item(as_item(pictured(0)), run.context);
  outcome_batch none;
  run.sink->give_up(outcome::failed, reason::stage_failed, none);
  CHECK(none.empty());
  run.sink.reset();
  run.context.work.front().run();
  run.context.work.clear();
  CHECK(read_back(folder / "film.mkv").times_ns.size() == 1);
}
