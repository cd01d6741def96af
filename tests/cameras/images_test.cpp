#include "cameras/images.hpp"
#include "runtime/pool_stats.hpp"
#include "tests/cameras/drive.hpp"

#include <opencv2/imgcodecs.hpp>

#include <sys/stat.h>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

const camera_description about = images_description();

void write_picture(const std::string& path, int width, int height, int value) {
  REQUIRE(cv::imwrite(path, cv::Mat{height, width, CV_8UC3, cv::Scalar::all(value)}));
}

settings of(const std::string& path) {
  auto s = defaults(about);
  s.with("path", path).with("fps", 10.0);
  return s;
}

std::unique_ptr<camera> opened(const settings& s, std::size_t frames_ahead = 4) {
  auto c = about.make(s, {});
  if (const auto done = c->open(place(frames_ahead)); done.has_error())
    FAIL(done.error().to_string());
  return c;
}

} // namespace

TEST_CASE("images: a folder's pictures in the order of their names") {
  const scratch_folder folder;
  for (const int i : {3, 1, 2})
    write_picture(folder / ("part" + std::to_string(i) + ".png"), 8, 6, 10 * i);
  write_file(folder / "notes.txt", "no picture");
  const auto s = of(folder.path());
  const auto info = about.make(s, {})->probe().value();
  CHECK(info.media.to_string() == "video bgr24 8x6");
  CHECK(info.fps == 10);
  CHECK_FALSE(info.live);
  CHECK(info.frame_count == 3);
  CHECK(info.length == 300ms);
  CHECK(info.frame_bytes == 8 * 6 * 3);
  CHECK(info.own_frames == 1);
  CHECK(info.blocks);

  auto c = opened(s);
  for (int i = 0; i < 3; ++i) {
    const auto f = frame_in(c->read(at_ms(0)));
    CHECK(f.captured.time_since_epoch() == i * 100ms);
    CHECK(f.device_id == static_cast<std::uint64_t>(i));
    CHECK(f.flags == frame_key);
    CHECK(pixels(f) == std::vector<std::byte>(8 * 6 * 3, static_cast<std::byte>(10 * (i + 1))));
  }
  CHECK(std::holds_alternative<end_of_stream>(c->read(at_ms(0))));
}

TEST_CASE("images: a glob, a single file, and paths relative to the graph's folder") {
  const scratch_folder folder;
  write_picture(folder / "a1.png", 8, 6, 1);
  write_picture(folder / "a2.png", 8, 6, 2);
  write_picture(folder / "b[1].png", 8, 6, 3);
  CHECK(read_all(*opened(of(folder / "a*.png"))).size() == 2);
  CHECK(read_all(*opened(of(folder / "b[1].png"))).size() == 1);
  auto s = of("a?.png");
  CHECK(about.make(s, folder.path())->probe().value().frame_count == 2);
}

TEST_CASE("images: a file that is no picture is a corrupt frame, the others come") {
  const scratch_folder folder;
  write_file(folder / "0.png", "");
  write_file(folder / "1.png", "this is no picture at all");
  write_picture(folder / "2.png", 8, 6, 20);
  write_file(folder / "3.jpg", std::string("\xff\xd8\xff\xe0", 4));
  write_picture(folder / "4.png", 8, 6, 40);
  const auto all = read_all(*opened(of(folder.path())));
  REQUIRE(all.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(((all[i].frame.flags & frame_corrupt) != 0) == (i != 2 && i != 4));
    CHECK((all[i].hash == 0) == (i != 2 && i != 4));
    CHECK(all[i].frame.captured.time_since_epoch() == i * 100ms);
  }
}

TEST_CASE("images: sizes may differ") {
  const scratch_folder folder;
  write_picture(folder / "1.png", 8, 6, 1);
  write_picture(folder / "2.png", 4, 3, 2);
  write_picture(folder / "3.png", 64, 48, 3);
  write_picture(folder / "4.png", 8, 6, 4);
  write_picture(folder / "5.png", 8, 6, 5);
  auto c = opened(of(folder.path()), 5);
  std::vector<captured_frame> held; // over the change of the pool
  for (int i = 0; i < 5; ++i)
    held.push_back(frame_in(c->read(at_ms(0))));
  const std::array names{
    "video bgr24 8x6", "video bgr24 4x3", "video bgr24 64x48", "video bgr24 8x6",
    "video bgr24 8x6"};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(held[i].media->to_string() == names[i]);
    const auto all = pixels(held[i]);
    CHECK(all == std::vector<std::byte>(all.size(), static_cast<std::byte>(i + 1)));
  }
  CHECK(held[3].media == held[4].media);
}

TEST_CASE("images: a picture that the graph's memory has no room for fails alone") {
  const scratch_folder folder;
  write_picture(folder / "1.png", 8, 6, 1);
  write_picture(folder / "2.png", 64, 48, 2);
  write_picture(folder / "3.png", 8, 6, 3);
  write_picture(folder / "4.png", 64, 48, 4);
  auto c = about.make(of(folder.path()), {});
  auto environment = place(3);
  constexpr std::size_t planned = 4 * 192, large = 4 * 64 * 48 * 3;
  environment.pool = std::make_shared<pool_stats>(
    "pool", "capture", planned, std::make_shared<memory_reserve>(large - planned));
  REQUIRE_FALSE(c->open(environment).has_error());
  auto held = frame_in(c->read(at_ms(0)));
  const auto refused = frame_in(c->read(at_ms(0)));
  CHECK(refused.flags == (frame_key | frame_no_memory));
  CHECK_FALSE(refused.buffer);
  CHECK(refused.device_id == 1);
  CHECK(refused.media->to_string() == "video bgr24 64x48");
  auto third = frame_in(c->read(at_ms(0)));
  CHECK(third.flags == frame_key);
  CHECK(third.media->to_string() == "video bgr24 8x6");
  CHECK(pixels(third) == std::vector<std::byte>(8 * 6 * 3, std::byte{3}));
  CHECK(pixels(held) == std::vector<std::byte>(8 * 6 * 3, std::byte{1}));
  held = third = {};
  CHECK(pixels(frame_in(c->read(at_ms(0)))) == std::vector<std::byte>(64 * 48 * 3, std::byte{4}));
  CHECK(environment.pool->now().peak_bytes == large);
}

TEST_CASE("images: in a loop times and counters go on rising") {
  const scratch_folder folder;
  write_picture(folder / "1.png", 8, 6, 1);
  write_picture(folder / "2.png", 8, 6, 2);
  auto s = of(folder.path());
  s.with("loop", true);
  CHECK_FALSE(about.make(s, {})->probe().value().frame_count);
  const auto all = read_all(*opened(s), true, 7);
  REQUIRE(all.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(all[i].frame.device_id == i);
    CHECK(all[i].frame.captured.time_since_epoch() == i * 100ms);
    CHECK(all[i].hash == all[i % 2].hash);
  }
}

TEST_CASE("images: in real time pictures are due at first read + n / fps and are dropped where "
          "they do not fit") {
  const scratch_folder folder;
  for (int i = 0; i < 4; ++i)
    write_picture(folder / (std::to_string(i) + ".png"), 8, 6, i);
  auto s = of(folder.path());
  s.with("realtime", true);
  CHECK(about.make(s, {})->probe().value().live);
  auto c = opened(s, 1);
  const auto first = frame_in(c->read(at_ms(500)));
  const auto early = c->read(at_ms(599));
  REQUIRE(std::holds_alternative<not_before>(early));
  CHECK(std::get<not_before>(early).due == at_ms(600));
  const auto second = frame_in(c->read(at_ms(600)));
  auto third = frame_in(c->read(at_ms(700)));
  CHECK(second.buffer);
  CHECK((third.flags & frame_no_buffer) != 0);
  CHECK_FALSE(third.buffer);
}

TEST_CASE("images: an empty pool of a camera that is not live is a defect") {
  const scratch_folder folder;
  for (int i = 0; i < 3; ++i)
    write_picture(folder / (std::to_string(i) + ".png"), 8, 6, i);
  auto c = opened(of(folder.path()), 1);
  const auto a = frame_in(c->read(at_ms(0))), b = frame_in(c->read(at_ms(0)));
  CHECK(
    sentence(c->read(at_ms(0)))
    == "cam1: asked for a frame while all 2 buffers of the camera are in use, although it is not "
       "live and was to "
       "be asked for what the graph can hold only; this is a defect of the runtime");
}

TEST_CASE("images: an interrupted read returns") {
  const scratch_folder folder;
  write_picture(folder / "1.png", 8, 6, 1);
  auto c = opened(of(folder.path()));
  c->interrupt();
  CHECK(sentence(c->read(at_ms(0))) == "cam1: reading " + folder.path() + " was interrupted");
}

TEST_CASE("images: an interruption that comes before the opening counts") {
  const scratch_folder folder;
  write_picture(folder / "1.png", 8, 6, 1);
  auto c = about.make(of(folder.path()), {});
  c->interrupt();
  const auto failed = c->open(place(3));
  REQUIRE(failed.has_error());
  CHECK(failed.error().code == errc::stopped);
  CHECK(failed.error().to_string() == "cam1: reading " + folder.path() + " was interrupted");
}

TEST_CASE("images: pipes and devices are refused before they are opened") {
  const scratch_folder folder;
  REQUIRE(::mkfifo((folder / "1.png").c_str(), 0600) == 0);
  for (const auto& [path, kind] :
       {std::pair{folder / "1.png", "a named pipe"},
        std::pair{std::string{"/dev/zero"}, "a device"}}) {
    const auto probed = about.make(of(path), {})->probe();
    REQUIRE(probed.has_error());
    CHECK(
      probed.error().to_string()
      == path + ": this is not a regular file but " + kind
           + ", which cannot be read twice: once to see what it holds, once to play it; save it to "
             "a file");
  }
}

TEST_CASE("images: what cannot be read at all") {
  const scratch_folder folder;
  const auto wrong = [](const std::string& path) {
    const auto probed = about.make(of(path), {})->probe();
    REQUIRE(probed.has_error());
    CHECK(probed.error().code == errc::io_failed);
    return probed.error().to_string();
  };
  CHECK(
    wrong(folder.path())
    == folder.path()
         + ": the folder has no pictures (.png, .jpg, .bmp, .tif, .webp and the like); name others "
           "by a "
           "glob such as "
         + folder.path() + "/*.dat");
  CHECK(
    wrong(folder / "none*.png")
    == (folder / "none*.png") + ": no file has this name or matches this glob");
  write_file(folder / "1.png", "no");
  write_file(folder / "2.png", "no");
  CHECK(
    wrong(folder.path())
    == folder.path()
         + ": none of the 2 files can be decoded as a picture; `path` names a folder or a glob of "
           "pictures");
}
