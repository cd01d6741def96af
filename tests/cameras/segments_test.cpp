#include "cameras/decoder_pool.hpp"
#include "cameras/segmented_player.hpp"
#include "cameras/video.hpp"
#include "tests/cameras/drive.hpp"
#include "tests/cameras/film_writer.hpp"
#include "tests/cameras/video_camera.hpp"

#include <opencv2/imgproc.hpp>

#include <random>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

const camera_description about = video_description();

settings of(const std::string& path, const std::string& segments) {
  auto s = defaults(about);
  s.with("path", path);
  s.with("segments", segments);
  return s;
}

film_index index_of(const std::string& path) {
  const std::atomic<bool> never_set{false};
  return film_index::of(open_film(path, {nullptr, nullptr}).value(), never_set);
}

/// An MPEG-2 film with open groups of pictures: B-frames before a key frame refer to it and to the
/// group before.
void write_open_groups(const std::string& path, int frames, int group) {
  const auto* codec = avcodec_find_encoder(AV_CODEC_ID_MPEG2VIDEO);
  REQUIRE(codec);
  const av_ptr<AVCodecContext> encoder{avcodec_alloc_context3(codec)};
  encoder->width = 64;
  encoder->height = 48;
  encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder->time_base = {1, 25};
  encoder->framerate = {25, 1};
  encoder->gop_size = group;
  encoder->max_b_frames = 2;
  REQUIRE(avcodec_open2(encoder.get(), codec, nullptr) >= 0);
  film_writer film{path, "matroska", AV_CODEC_ID_MPEG2VIDEO, 64, 48};
  const av_ptr<AVFrame> picture{av_frame_alloc()};
  picture->format = AV_PIX_FMT_YUV420P;
  picture->width = 64;
  picture->height = 48;
  REQUIRE(av_frame_get_buffer(picture.get(), 0) >= 0);
  const av_ptr<AVPacket> packet{av_packet_alloc()};
  for (int i = 0; i <= frames; ++i) {
    REQUIRE(av_frame_make_writable(picture.get()) >= 0);
    for (int p = 0; p < 3; ++p)
      for (int y = 0; y < (p ? 24 : 48); ++y)
        for (int x = 0; x < (p ? 32 : 64); ++x)
          picture->data[p][y * picture->linesize[p] + x] =
            static_cast<std::uint8_t>(3 * i + (p + 1) * x + y * y);
    picture->pts = i;
    REQUIRE(avcodec_send_frame(encoder.get(), i < frames ? picture.get() : nullptr) >= 0);
    while (avcodec_receive_packet(encoder.get(), packet.get()) >= 0) {
      film.add(
        {packet->data, packet->data + packet->size}, 40 * (packet->pts + 2), 40 * (packet->dts + 1),
        (packet->flags & AV_PKT_FLAG_KEY) != 0);
      av_packet_unref(packet.get());
    }
  }
}

void check_same(const std::vector<seen>& found, const std::vector<seen>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i].hash == expected[i].hash);
    CHECK(found[i].frame.captured == expected[i].frame.captured);
    CHECK(found[i].frame.device_id == expected[i].frame.device_id);
    CHECK(found[i].frame.flags == expected[i].frame.flags);
  }
}

} // namespace

TEST_CASE("segments: films are cut at their key frames, where their packets have times") {
  CHECK(index_of(real_film("vtest.avi")).pieces() == 4);
  CHECK(index_of(real_film("vtest.avi")).packets() == 795);
  CHECK(index_of(real_film("tree.avi")).pieces() == 3);
  CHECK(index_of(real_film("Megamind.avi")).pieces() == 1); // B-frames without times
}

TEST_CASE("segments: what is shown before a key frame belongs to the segment before it") {
  // In the order of decoding; B-frames may refer to the key frame that they are decoded after.
  const scratch_folder folder;
  struct packet {
    std::int64_t pts, dts;
    bool key;
  };
  const std::vector<packet> packets{{2, 0, true},  {0, 1, false}, {1, 2, false}, {5, 3, true},
                                    {3, 4, false}, {4, 5, false}, {8, 6, true},  {6, 7, false}};
  {
    film_writer film{folder / "film.mkv", "matroska", AV_CODEC_ID_MJPEG, 64, 48};
    for (const auto& p : packets)
      film.add(
        encoded(".jpg", cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(20))), 40 * (p.pts + 2),
        40 * p.dts, p.key);
  }
  const auto index = index_of(folder / "film.mkv");
  REQUIRE(index.pieces() == 3);
  const auto first = index.segment(0, 1), second = index.segment(1, 2), last = index.segment(2, 3);
  CHECK(first.packets == 6); // its own, the next key frame, and two that are shown before that
  CHECK(first.end_pts == second.first_pts);
  CHECK(second.packets == 5);
  CHECK(second.end_pts == last.first_pts);
  CHECK(last.packets == 2);
  CHECK(index.segment(0, 3).packets == packets.size());
}

TEST_CASE("segments: the frames are those of one pass, whatever the number of decoders") {
  for (const auto* name : {"vtest.avi", "tree.avi", "Megamind.avi"}) {
    CAPTURE(name);
    const auto path = real_film(name);
    const auto whole = read_all(*opened_video(of(path, "1")));
    for (const auto* segments : {"2", "3", "auto"}) {
      CAPTURE(segments);
      check_same(read_all(*opened_video(of(path, segments))), whole);
    }
  }
}

TEST_CASE("segments: open groups of pictures come out whole") {
  const scratch_folder folder;
  write_open_groups(folder / "film.mkv", 100, 9);
  const auto index = index_of(folder / "film.mkv");
  REQUIRE(index.pieces() >= 10);
  // The next key frame, and two that are decoded behind it and shown before it.
  CHECK(index.segment(0, 1).packets == index.packets_from(0) - index.packets_from(1) + 3);
  const auto whole = read_all(*opened_video(of(folder / "film.mkv", "1")));
  REQUIRE(whole.size() == 100);
  for (const auto* segments : {"2", "5"})
    check_same(read_all(*opened_video(of(folder / "film.mkv", segments))), whole);
}

TEST_CASE("segments: uneven parts, each frame a key frame or few, at a variable rate") {
  const scratch_folder folder;
  std::minstd_rand draw{11};
  for (int film_number = 0; film_number < 6; ++film_number) {
    CAPTURE(film_number);
    const auto path = folder / ("film" + std::to_string(film_number) + ".mkv");
    {
      film_writer film{path, "matroska", AV_CODEC_ID_MJPEG, 64, 48};
      std::int64_t at = 0;
      for (int i = 0; i < 90; ++i) {
        film.add(encoded(".jpg", cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(2 * i))), at);
        at += 1 + static_cast<std::int64_t>(draw() % 90);
      }
    }
    const auto whole = read_all(*opened_video(of(path, "1")));
    REQUIRE(whole.size() == 90);
    check_same(read_all(*opened_video(of(path, std::to_string(2 + film_number)))), whole);
  }
}

TEST_CASE("segments: a film in a loop goes on in order") {
  auto s = of(real_film("tree.avi"), "2");
  s.with("loop", true);
  auto c = opened_video(s);
  for (std::uint64_t i = 0; i < 3 * 68; ++i)
    REQUIRE(frame_in(c->read({})).device_id == i);
}

TEST_CASE("segments: frames that the graph holds stay, and so do frames behind the camera's end") {
  const auto whole = read_all(*opened_video(of(real_film("vtest.avi"), "1")));
  auto c = opened_video(of(real_film("vtest.avi"), "2"), 7);
  std::vector<captured_frame> held;
  for (std::size_t i = 0; i < 300; ++i) {
    if (held.size() == 7)
      held.erase(held.begin());
    held.push_back(frame_in(c->read({})));
  }
  c.reset(); // in the middle of the film: decoders are at work
  for (std::size_t k = 0; k < held.size(); ++k)
    CHECK(hash_of(held[k]) == whole[293 + k].hash);
}

TEST_CASE("segments: decoders rest where as many pictures wait as they said") {
  const scratch_folder folder;
  const auto path = folder / "long.mkv";
  write_open_groups(path, 800, 400);
  const std::atomic<bool> never_set{false};
  decoder_pool pool{1000, 0};
  segmented_player player{path, 2, 1, never_set};
  REQUIRE_FALSE(player.open().has_error());
  REQUIRE(player.ahead() == 256);
  REQUIRE(index_of(path).pieces() == 2);
  REQUIRE_FALSE(player.begin(pool).has_error());
  while (pool.peak_in_use() < 2 * player.ahead()) // nothing is read: both go on until they rest
    std::this_thread::yield();
  // Without the rule they would go on now; with it, this waits for nothing.
  for (auto peak = pool.peak_in_use(), turns = std::size_t{0}; turns < 10'000; ++turns) {
    std::this_thread::yield();
    if (const auto now = pool.peak_in_use(); now != peak) {
      peak = now;
      turns = 0;
    }
  }
  std::size_t pictures = 0;
  while (std::holds_alternative<film_player::picture>(player.next()))
    ++pictures;
  CHECK(pictures == 800);
  CHECK(pool.peak_in_use() <= player.decoder_frames());
  CHECK(pool.misses() == 0);
  player.close(); // before the pool goes
}

TEST_CASE("segments: an interrupted camera stops while its decoders wait for room") {
  auto c = opened_video(of(real_film("vtest.avi"), "2"));
  frame_in(c->read({}));
  c->interrupt();
  const auto event = c->read({});
  REQUIRE(std::holds_alternative<error>(event));
  CHECK(std::get<error>(event).code == errc::stopped);
}

TEST_CASE("segments: a number, or auto") {
  struct row {
    const char* written;
    bool right;
  };
  for (const auto& [written, right] :
       {row{"1", true}, row{"64", true}, row{"auto", true}, row{"0", false}, row{"65", false},
        row{"-1", false}, row{"2x", false}, row{"", false}}) {
    CAPTURE(written);
    std::vector<fault> faults;
    about.check(of("film", written), {}, faults);
    CHECK(faults.empty() == right);
  }
}
