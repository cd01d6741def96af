#include "cameras/picture.hpp"
#include "cameras/video.hpp"
#include "runtime/pool_stats.hpp"
#include "tests/cameras/drive.hpp"
#include "tests/cameras/film_writer.hpp"
#include "tests/cameras/video_camera.hpp"

#include <opencv2/imgproc.hpp>

#include <array>
#include <cstdlib>
#include <deque>

#include <sys/stat.h>

#ifdef __SANITIZE_THREAD__
// FFmpeg's frame threads synchronise by atomics, and OpenCV's GDAL reader sets itself up with
// locks; neither was built with the sanitizer, which therefore sees their accesses without what
// orders them. Ours stay checked.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libavcodec.so\n"
         "called_from_lib:libavutil.so\n"
         "deadlock:libgdal.so\n";
}
#endif

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

const camera_description about = video_description();

settings of(const std::string& path) {
  auto s = defaults(about);
  s.with("path", path);
  return s;
}

cv::Mat shade(int width, int height, int value) {
  return {height, width, CV_8UC3, cv::Scalar::all(value)};
}

std::string wrong(const std::string& path) {
  const auto probed = about.make(of(path), {})->probe();
  REQUIRE(probed.has_error());
  const auto not_opened = about.make(of(path), {})->open(place(1));
  REQUIRE(not_opened.has_error());
  CHECK(not_opened.error().to_string() == probed.error().to_string());
  CHECK(probed.error().code == errc::io_failed);
  return probed.error().to_string();
}

} // namespace

TEST_CASE("video: real films run to their ends, with every frame, in time order, alike each time") {
  struct row {
    const char* name;
    std::size_t frames;
    const char* media;
    double fps;
    duration first, last, length;
  };
  // Megamind_bugy.avi stores its B-frames in a way that some decoders stumble over; FFmpeg decodes
  // every one. tree.avi has 444 places in time, of which 68 hold a picture.
  for (const auto& [name, frames, media, fps, first, last, length] :
       {row{"vtest.avi", 795, "video i420 768x576", 10, 0ms, 79400ms, 79500ms},
        row{
          "Megamind.avi", 270, "video i420 720x528", 23.976, 41708us, 11261us * 1000,
          11261us * 1000},
        row{"Megamind_bugy.avi", 270, "video i420 720x528", 30, 33333us, 9000ms, 9000ms},
        row{"tree.avi", 68, "video rgb24 320x240", 15, 0ms, 29533us * 1000, 29600ms}}) {
    CAPTURE(name);
    auto s = of(real_film(name));
    const auto info = about.make(s, {})->probe().value();
    CHECK(info.media.to_string() == media);
    CHECK(info.fps == doctest::Approx(fps).epsilon(0.001));
    CHECK(info.frame_count == frames);
    CHECK(in_seconds(info.length.value()) == doctest::Approx(in_seconds(length)).epsilon(0.001));
    CHECK_FALSE(info.live);
    CHECK(info.blocks);
    CHECK_FALSE(info.simulated);

    const auto all = read_all(*opened_video(s));
    REQUIRE(all.size() == frames);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].hash != 0);
      CHECK((all[i].frame.flags & frame_corrupt) == 0);
      CHECK(all[i].frame.device_id == i);
      CHECK(all[i].frame.media->to_string() == media);
      CHECK((i == 0 || all[i].frame.captured > all[i - 1].frame.captured));
    }
    CHECK((all[0].frame.flags & frame_key) != 0);
    CHECK(
      in_ms(all[0].frame.captured.time_since_epoch())
      == doctest::Approx(in_ms(first)).epsilon(0.01));
    CHECK(
      in_ms(all.back().frame.captured.time_since_epoch())
      == doctest::Approx(in_ms(last)).epsilon(0.001));

    s.with("threads", std::int64_t{3});
    const auto threaded = read_all(*opened_video(s));
    REQUIRE(threaded.size() == frames);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(threaded[i].hash == all[i].hash);
      CHECK(threaded[i].frame.captured == all[i].frame.captured);
    }
  }
}

TEST_CASE("video: frames that the graph holds are not written again") {
  for (const auto* name : {"vtest.avi", "tree.avi"}) {
    CAPTURE(name);
    const auto s = of(real_film(name));
    const auto expected = read_all(*opened_video(s), true, 60);
    constexpr std::size_t hold = 7;
    auto c = opened_video(s, hold);
    std::vector<captured_frame> held;
    for (std::size_t i = 0; i < 60; ++i) {
      if (held.size() == hold)
        held.erase(held.begin());
      held.push_back(frame_in(c->read({})));
      for (std::size_t k = 0; k < held.size(); ++k)
        CHECK(hash_of(held[k]) == expected[i + 1 - held.size() + k].hash);
    }
  }
}

TEST_CASE("video: frames outlive the camera") {
  auto c = opened_video(of(real_film("vtest.avi")));
  const auto f = frame_in(c->read({}));
  const auto hash = hash_of(f);
  c.reset();
  CHECK(hash_of(f) == hash);
}

TEST_CASE(
  "video: a damaged film runs to its end, and what the decoder calls damaged is a corrupt frame") {
  const scratch_folder folder;
  std::ifstream in{real_film("Megamind.avi"), std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  for (std::size_t i = bytes.size() / 10; i + 100000 < bytes.size(); i += 20011)
    for (std::size_t k = 0; k < 24; ++k)
      bytes[i + k] = static_cast<char>(bytes[i + k] ^ static_cast<char>(0x5a + k));
  write_file(folder / "damaged.avi", bytes);
  const auto all = read_all(*opened_video(of(folder / "damaged.avi")));
  CHECK(all.size() >= 250);
  CHECK(all.size() <= 300);
  const auto corrupt = std::count_if(
    all.begin(), all.end(), [](const seen& s) { return (s.frame.flags & frame_corrupt) != 0; });
  CHECK(corrupt > 0);
  CHECK(corrupt < static_cast<long>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK((i == 0 || all[i].frame.captured > all[i - 1].frame.captured));
    CHECK(all[i].frame.media);
    CHECK((all[i].hash != 0 || (all[i].frame.flags & frame_corrupt) != 0));
  }
}

TEST_CASE("video: a film that was cut off ends there") {
  const scratch_folder folder;
  std::ifstream in{real_film("vtest.avi"), std::ios::binary};
  std::string bytes(1'000'000, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  write_file(folder / "cut.avi", bytes);
  const auto all = read_all(*opened_video(of(folder / "cut.avi")), false);
  CHECK(all.size() > 50);
  CHECK(all.size() < 400);
}

TEST_CASE("video: times are the film's own, at a variable rate too") {
  const scratch_folder folder;
  const std::vector<std::int64_t> times{0, 40, 80, 90, 400, 2000, 2001, 5000};
  {
    film_writer film{folder / "film.mkv", "matroska", AV_CODEC_ID_MJPEG, 64, 48};
    for (std::size_t i = 0; i < times.size(); ++i)
      film.add(encoded(".jpg", shade(64, 48, static_cast<int>(20 * i))), times[i]);
  }
  auto s = of(folder / "film.mkv");
  const auto info = about.make(s, {})->probe().value();
  CHECK_FALSE(info.frame_count);
  CHECK(info.media.to_string() == "video i420 64x48");
  CHECK(info.media.video.full_range);
  CHECK_FALSE(info.media.video.bt709);
  const auto all = read_all(*opened_video(s));
  REQUIRE(all.size() == times.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(all[i].frame.captured.time_since_epoch() == std::chrono::milliseconds{times[i]});

  s.with("realtime", true);
  CHECK(about.make(s, {})->probe().value().live);
  auto c = opened_video(s);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto due = at_ms(static_cast<double>(7000 + times[i]));
    if (i > 0) {
      const auto early = c->read(due - 1ns);
      REQUIRE(std::holds_alternative<not_before>(early));
      CHECK(std::get<not_before>(early).due == due);
    }
    CHECK(
      frame_in(c->read(due)).captured.time_since_epoch() == std::chrono::milliseconds{times[i]});
  }
  CHECK(std::holds_alternative<end_of_stream>(c->read(at_ms(99999))));
}

TEST_CASE(
  "video: pictures that change their size in mid-stream are right, within the graph's memory") {
  const scratch_folder folder;
  const std::array sides{64, 64, 256, 128, 64, 512, 64, 256, 512, 64};
  {
    film_writer film{folder / "film.mkv", "matroska", AV_CODEC_ID_MJPEG, 64, 64};
    for (std::size_t i = 0; i < sides.size(); ++i)
      film.add(
        encoded(".jpg", shade(sides[i], sides[i], static_cast<int>(20 * i))),
        static_cast<std::int64_t>(40 * i));
  }
  const auto s = of(folder / "film.mkv");
  const auto info = about.make(s, {})->probe().value();
  for (const bool enough : {true, false}) {
    CAPTURE(enough);
    auto environment = place(3);
    const auto slots = environment.frames_ahead + info.own_frames;
    const auto planned = slots * info.frame_bytes;
    const auto room = slots * info.frame_bytes * (enough ? 100 : 17); // of 256x256, not of 512x512
    environment.pool = std::make_shared<pool_stats>(
      "pool", "capture", planned, std::make_shared<memory_reserve>(room));
    auto c = about.make(s, {});
    REQUIRE_FALSE(c->open(environment).has_error());
    std::deque<captured_frame> held;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      CAPTURE(i);
      held.push_back(frame_in(c->read({})));
      if (held.size() > 3)
        held.pop_front();
      const auto& f = held.back();
      CHECK(f.device_id == i);
      CHECK(f.media->video.width == static_cast<std::uint32_t>(sides[i]));
      CHECK(f.media->video.height == static_cast<std::uint32_t>(sides[i]));
      CHECK(((f.flags & frame_no_memory) != 0) == (!enough && sides[i] == 512));
      CHECK(static_cast<bool>(f.buffer) == ((f.flags & frame_no_memory) == 0));
      if (f.buffer) {
        const auto luma = static_cast<int>(f.buffer.data()[f.media->video.planes[0].offset + 9]);
        CHECK(std::abs(luma - 20 * static_cast<int>(i)) <= 3);
      }
      CHECK(environment.pool->now().bytes <= planned + room);
    }
    CHECK(std::holds_alternative<end_of_stream>(c->read({})));
    held.clear();
    c.reset();
    CHECK(environment.pool->now().bytes == 0);
    CHECK(environment.pool->now().peak_bytes > planned);
  }
}

TEST_CASE("video: times that do not rise are put behind their predecessors") {
  const scratch_folder folder;
  {
    film_writer film{folder / "film.mkv", "matroska", AV_CODEC_ID_MJPEG, 64, 48};
    for (const int ms : {0, 100, 100, 200})
      film.add(encoded(".jpg", shade(64, 48, ms)), ms);
  }
  const auto all = read_all(*opened_video(of(folder / "film.mkv")), false);
  REQUIRE(all.size() == 4);
  CHECK(all[1].frame.captured.time_since_epoch() == 100ms);
  CHECK(all[2].frame.captured.time_since_epoch() == 100ms + 1us);
  CHECK(all[3].frame.captured.time_since_epoch() == 200ms);
}

TEST_CASE(
  "video: a change of size brings a new media type; frames of the old size stay what they were") {
  const scratch_folder folder;
  {
    film_writer film{folder / "film.mkv", "matroska", AV_CODEC_ID_MJPEG, 64, 48};
    for (int i = 0; i < 9; ++i) // 64x48, 128x96, 32x24 and again
      film.add(
        encoded(
          ".jpg", shade(
                    i % 3 == 1   ? 128
                    : i % 3 == 2 ? 32
                                 : 64,
                    i % 3 == 1   ? 96
                    : i % 3 == 2 ? 24
                                 : 48,
                    25 * i)),
        40 * i);
  }
  auto c = opened_video(of(folder / "film.mkv"), 9);
  std::vector<captured_frame> held;
  for (int i = 0; i < 9; ++i)
    held.push_back(frame_in(c->read({})));
  CHECK(std::holds_alternative<end_of_stream>(c->read({})));
  const std::array names{"video i420 64x48", "video i420 128x96", "video i420 32x24"};
  for (std::size_t i = 0; i < held.size(); ++i) {
    CHECK(held[i].media->to_string() == names[i % 3]);
    const auto all = pixels(held[i]);
    const auto luma = all.size() * 2 / 3;
    for (const auto at : {std::size_t{0}, luma / 2, luma - 1})
      CHECK(std::abs(static_cast<int>(all[at]) - static_cast<int>(25 * i)) <= 2);
    for (const auto at : {luma, all.size() - 1})
      CHECK(std::abs(static_cast<int>(all[at]) - 128) <= 2);
  }
}

TEST_CASE("video: pixel formats that pass as they are, and those that are converted") {
  const scratch_folder folder;
  cv::Mat colours(48, 66, CV_8UC3); // an odd half width
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 66; ++x)
      colours.at<cv::Vec3b>(y, x) = {
        static_cast<std::uint8_t>(3 * x), static_cast<std::uint8_t>(5 * y), 77};
  cv::Mat gray, wide, alpha;
  cv::cvtColor(colours, gray, cv::COLOR_BGR2GRAY);
  colours.convertTo(wide, CV_16UC3, 257);
  cv::cvtColor(colours, alpha, cv::COLOR_BGR2BGRA);

  struct row {
    const char* name;
    cv::Mat picture;
    const char* media;
  };
  for (const auto& [name, picture, media] :
       {row{"rgb.mkv", colours, "video rgb24 66x48"}, row{"gray.mkv", gray, "video gray8 66x48"},
        row{"rgb48.mkv", wide, "video bgr24 66x48"}, row{"rgba.mkv", alpha, "video bgr24 66x48"}}) {
    CAPTURE(name);
    {
      film_writer film{folder / name, "matroska", AV_CODEC_ID_PNG, 66, 48};
      for (int i = 0; i < 5; ++i)
        film.add(encoded(".png", picture), 40 * i);
    }
    auto s = of(folder / name);
    CHECK(about.make(s, {})->probe().value().media.to_string() == media);
    auto c = opened_video(s, 2);
    for (int i = 0; i < 5; ++i) {
      const auto f = frame_in(c->read({}));
      CHECK(f.media->to_string() == media);
      const auto all = pixels(f);
      const auto& v = f.media->video;
      for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 66; ++x) {
          const auto at = static_cast<std::size_t>(y * 66 + x);
          if (v.format == pixel_format::gray8) {
            REQUIRE(static_cast<int>(all[at]) == gray.at<std::uint8_t>(y, x));
            continue;
          }
          const auto& bgr = colours.at<cv::Vec3b>(y, x);
          for (std::size_t k = 0; k < 3; ++k) {
            const auto channel = static_cast<int>(v.format == pixel_format::rgb24 ? 2 - k : k);
            REQUIRE(std::abs(static_cast<int>(all[3 * at + k]) - bgr[channel]) <= 1);
          }
        }
    }
    CHECK(std::holds_alternative<end_of_stream>(c->read({})));
  }
}

TEST_CASE("video: the pool that was announced is enough, and is used") {
  for (const auto* name : {"vtest.avi", "Megamind_bugy.avi", "tree.avi"}) {
    CAPTURE(name);
    const auto s = of(real_film(name));
    const auto info = about.make(s, {})->probe().value();
    CHECK(info.own_frames >= 1);
    CHECK(info.own_frames <= 24);
    auto c = opened_video(s, 3);
    std::vector<captured_frame> held;
    std::size_t slot = 0;
    for (;;) {
      if (held.size() == 3)
        held.erase(held.begin());
      auto e = c->read({});
      if (std::holds_alternative<end_of_stream>(e))
        break;
      held.push_back(frame_in(std::move(e)));
      slot = held.back().buffer.size();
    }
    CHECK(slot == info.frame_bytes);
  }
}

TEST_CASE("video: a file whose graph holds too much is a defect of the runtime") {
  auto c = opened_video(of(real_film("vtest.avi")), 1);
  std::vector<captured_frame> held;
  std::string why;
  for (int i = 0; i < 100 && why.empty(); ++i) {
    auto e = c->read({});
    why = sentence(e);
    if (why.empty())
      held.push_back(frame_in(std::move(e)));
  }
  CHECK(why.find("cam1: asked for a frame while all ") == 0);
  CHECK(why.find("this is a defect of the runtime") != std::string::npos);
}

TEST_CASE("video: in real time a full graph costs frames, never the decoder") {
  auto s = of(real_film("vtest.avi"));
  const auto expected = read_all(*opened_video(s), true, 100);
  s.with("realtime", true);
  auto c = opened_video(s, 2);
  std::vector<captured_frame> held;
  for (std::size_t i = 0; i < 100; ++i) {
    auto f = frame_in(c->read(at_ms(i == 0 ? 0 : 100000)));
    CHECK(f.device_id == i);
    if (i < 50) {
      held.push_back(std::move(f));
    } else {
      if (i == 50)
        held.clear();
      if (f.buffer)
        CHECK(hash_of(f) == expected[i].hash);
      CHECK((f.buffer || i == 50));
    }
  }
}

TEST_CASE("video: in a loop times and counters go on rising") {
  const scratch_folder folder;
  {
    film_writer film{folder / "film.mkv", "matroska", AV_CODEC_ID_MJPEG, 64, 48};
    for (int i = 0; i < 5; ++i)
      film.add(encoded(".jpg", shade(64, 48, 40 * i)), 40 * i);
  }
  auto s = of(folder / "film.mkv");
  s.with("loop", true);
  const auto info = about.make(s, {})->probe().value();
  CHECK_FALSE(info.frame_count);
  CHECK_FALSE(info.length);
  CHECK(info.fps == 25);
  const auto all = read_all(*opened_video(s), true, 17);
  REQUIRE(all.size() == 17);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].frame.device_id == i);
    CHECK(all[i].frame.captured.time_since_epoch() == i * 40ms);
    CHECK(all[i].hash == all[i % 5].hash);
  }
}

TEST_CASE("video: an interrupted read returns, and nothing takes the interruption back") {
  const auto sentence_of_it = "cam1: reading " + real_film("vtest.avi") + " was interrupted";
  auto c = opened_video(of(real_film("vtest.avi")));
  frame_in(c->read({}));
  c->interrupt();
  CHECK(sentence(c->read({})) == sentence_of_it);
  const auto again = c->open(place(3));
  REQUIRE(again.has_error());
  CHECK(again.error().to_string() == sentence_of_it);
}

TEST_CASE("video: an interruption that comes before the opening counts") {
  auto c = about.make(of(real_film("vtest.avi")), {});
  c->interrupt();
  const auto failed = c->open(place(3));
  REQUIRE(failed.has_error());
  CHECK(failed.error().code == errc::stopped);
  CHECK(
    failed.error().to_string() == "cam1: reading " + real_film("vtest.avi") + " was interrupted");
}

TEST_CASE("video: after an error it can be opened again, from the beginning") {
  auto c = opened_video(of(real_film("vtest.avi")));
  for (int i = 0; i < 3; ++i)
    frame_in(c->read({}));
  REQUIRE(c->open(place(3)).has_value());
  const auto first = frame_in(c->read({}));
  CHECK(first.device_id == 0);
  CHECK(first.captured.time_since_epoch() == 0ms);
}

TEST_CASE("video: pipes, devices and sockets are refused before they are opened") {
  const scratch_folder folder;
  REQUIRE(::mkfifo((folder / "pipe.avi").c_str(), 0600) == 0);
  CHECK(
    wrong(folder / "pipe.avi")
    == (folder / "pipe.avi")
         + ": this is not a regular file but a named pipe, which cannot be read twice: once to see "
           "what it holds, once to play it; save it to a file");
  CHECK(
    wrong("/dev/zero")
    == "/dev/zero: this is not a regular file but a device, which cannot be read twice: once to "
       "see "
       "what it holds, once to play it; save it to a file");
  std::filesystem::create_symlink(folder / "pipe.avi", folder / "link.avi");
  CHECK(wrong(folder / "link.avi").find("a named pipe") != std::string::npos);
}

TEST_CASE("video: what cannot be played, in sentences") {
  const scratch_folder folder;
  CHECK(wrong(folder / "none.avi") == (folder / "none.avi") + ": there is no such file");
  CHECK(
    wrong(folder.path())
    == folder.path()
         + ": a video file is needed, but this is a folder; camera images reads folders of "
           "pictures");
  write_file(folder / "empty.avi", "");
  CHECK(wrong(folder / "empty.avi").find("empty.avi: ") != std::string::npos);
  write_file(folder / "noise.avi", std::string(4000, 'x'));
  CHECK(
    wrong(folder / "noise.avi")
    == (folder / "noise.avi") + ": this is not a video in a format that FFmpeg knows");
  write_file(folder / "words.txt", "Nobody would play this.\n");
  CHECK(
    wrong(folder / "words.txt")
    == (folder / "words.txt") + ": this is not a video in a format that FFmpeg knows");

  std::string sound(
    "RIFF\x24\x08\0\0WAVEfmt "
    "\x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\x08\0\0",
    44);
  sound.resize(44 + 2048);
  write_file(folder / "sound.wav", sound);
  CHECK(wrong(folder / "sound.wav") == (folder / "sound.wav") + ": the file has no video stream");

  std::ifstream in{real_film("vtest.avi"), std::ios::binary};
  std::string bytes(200'000, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (auto at = bytes.find("div3"); at < 4096; at = bytes.find("div3"))
    bytes.replace(at, 4, "HFRM");
  write_file(folder / "codec.avi", bytes);
  CHECK(
    wrong(folder / "codec.avi")
    == (folder / "codec.avi") + ": this build of FFmpeg has no decoder for the video's codec HFRM");
}

TEST_CASE("video: relative paths start from the graph's folder") {
  const auto s = of("vtest.avi");
  CHECK(about.make(s, std::filesystem::path{real_film("vtest.avi")}.parent_path())
          ->probe()
          .has_value());
}
