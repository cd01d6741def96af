#include "cameras/synthetic.hpp"
#include "tests/cameras/drive.hpp"

#include <algorithm>
#include <cmath>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

const camera_description about = synthetic_description();

settings small() {
  auto s = defaults(about);
  s.with("size", pixel_size{64, 48})
    .with("scene", std::string{"noise"})
    .with("seed", std::int64_t{5});
  return s;
}

std::unique_ptr<camera>
opened(const settings& s, std::size_t frames_ahead = 4, std::string stream = "cam1") {
  auto c = about.make(s, {});
  const auto done = c->open(place(frames_ahead, std::move(stream)));
  REQUIRE(done.has_value());
  return c;
}

} // namespace

TEST_CASE("synthetic: says what it gives") {
  auto s = defaults(about);
  auto info = about.make(s, {})->probe().value();
  CHECK(info.media.to_string() == "video bgr24 640x480");
  CHECK(info.fps == 30);
  CHECK(info.live);
  CHECK_FALSE(info.frame_count);
  CHECK_FALSE(info.length);
  CHECK(info.knows_truth);
  CHECK(info.truth_labels.size() == 4);
  CHECK(info.frame_bytes == 640 * 480 * 3);
  CHECK(info.simulated);
  CHECK_FALSE(info.blocks);

  s.with("scene", std::string{"counter"})
    .with("format", std::string{"nv12"})
    .with("frames", std::int64_t{60});
  s.with("realtime", false);
  info = about.make(s, {})->probe().value();
  CHECK(info.media.to_string() == "video nv12 640x480");
  CHECK(info.frame_bytes == 640 * 480 * 3 / 2);
  CHECK(info.frame_count == 60);
  CHECK(info.length == 2s);
  CHECK_FALSE(info.live);
  CHECK_FALSE(info.knows_truth);
}

TEST_CASE("synthetic: the same settings give the same bytes, times and losses") {
  for (const auto* scene : {"parts", "gradient", "noise", "counter"})
    for (const auto* format : {"bgr24", "rgb24", "i420", "nv12", "gray8"}) {
      CAPTURE(scene);
      CAPTURE(format);
      auto s = small();
      s.with("scene", std::string{scene})
        .with("format", std::string{format})
        .with("frames", std::int64_t{12});
      s.with("realtime", false).with("drop", 0.3).with("jitter", duration{5ms});
      const auto a = read_all(*opened(s)), b = read_all(*opened(s));
      REQUIRE(a.size() == 12);
      REQUIRE(b.size() == 12);
      bool moves = false;
      for (std::size_t i = 0; i < 12; ++i) {
        CHECK(a[i].hash != 0);
        CHECK(a[i].hash == b[i].hash);
        CHECK(a[i].frame.captured == b[i].frame.captured);
        CHECK(a[i].frame.device_id == b[i].frame.device_id);
        CHECK(a[i].frame.flags == b[i].frame.flags);
        CHECK(a[i].frame.truth == b[i].frame.truth);
        CHECK((a[i].frame.truth >= 0) == (std::string{scene} == "parts"));
        moves = moves || a[i].hash != a[0].hash;
      }
      CHECK(moves);
    }
}

TEST_CASE("synthetic: a picture does not depend on what was lost before it") {
  auto s = small();
  s.with("frames", std::int64_t{30}).with("realtime", false);
  const auto whole = read_all(*opened(s));
  s.with("drop", 0.5);
  for (const auto& f : read_all(*opened(s)))
    if (f.frame.device_id < 30) {
      CHECK(f.hash == whole[f.frame.device_id].hash);
      CHECK(f.frame.captured == whole[f.frame.device_id].frame.captured);
    }
}

TEST_CASE("synthetic: without a seed the stream's id decides what is shown") {
  auto s = small();
  s.set("seed", setting{});
  auto one = opened(s, 4, "cam1"), two = opened(s, 4, "cam2"), again = opened(s, 4, "cam1");
  const auto a = hash_of(frame_in(one->read(at_ms(0))));
  CHECK(a != hash_of(frame_in(two->read(at_ms(0)))));
  CHECK(a == hash_of(frame_in(again->read(at_ms(0)))));
}

TEST_CASE("synthetic: a live camera's frames are due at its start + n / fps, in step with others "
          "of its rate") {
  auto s = small();
  s.with("fps", 25.0);
  auto c = opened(s, 8);
  struct row {
    double now_ms;
    int device_id; ///< of the frame that is given, or -1
    double due_ms; ///< where none is given
  };
  for (const auto& [now, id, due] :
       {row{100, -1, 120}, row{120, 0, 0}, row{120, -1, 160}, row{159.999, -1, 160}, row{160, 1, 0},
        row{161, -1, 200}, row{239.999, 2, 0}, row{240, 3, 0}, row{241, -1, 280}}) {
    CAPTURE(now);
    const auto e = c->read(at_ms(now));
    if (id >= 0) {
      const auto f = frame_in(e);
      CHECK(f.device_id == static_cast<std::uint64_t>(id));
      CHECK(f.captured.time_since_epoch() == id * 40ms);
      CHECK(f.flags == 0);
    } else {
      REQUIRE(std::holds_alternative<not_before>(e));
      CHECK(std::get<not_before>(e).due == at_ms(due));
    }
  }
}

TEST_CASE("synthetic: what a live camera is not asked for in time is lost, as in a device") {
  struct row {
    double now_ms;
    int device_id; ///< of the frame that is given, or -1
    bool gap;
  };
  const row table[] = {
    {0, 0, false},        {79.999, 1, false}, // less than a period late
    {80, 2, false},       {200, 5, true},     // 3 and 4 are gone, 5 is there
    {239.999, -1, false},                     // and is not given twice
    {240, 6, false},      {100'000, 2500, true}, {100'000, -1, false}, {100'040, 2501, false},
  };
  auto s = small();
  s.with("fps", 25.0);
  auto c = opened(s);
  for (const auto& [now, id, gap] : table) {
    CAPTURE(now);
    const auto e = c->read(at_ms(now));
    if (id < 0) {
      CHECK(std::holds_alternative<not_before>(e));
      continue;
    }
    const auto f = frame_in(e);
    CHECK(f.device_id == static_cast<std::uint64_t>(id));
    CHECK(f.captured.time_since_epoch() == id * 40ms);
    CHECK(((f.flags & frame_gap_before) != 0) == gap);
  }
}

TEST_CASE("synthetic: a late reader sees of a camera that loses frames what one in time sees") {
  auto s = small();
  s.with("fps", 100.0).with("drop", 0.4).with("jitter", duration{9ms});
  auto prompt = opened(s), late = opened(s);
  std::vector<captured_frame> all;
  for (int us = 0; us <= 2'000'000; us += 500) {
    auto e = prompt->read(at_ms(us / 1e3));
    if (auto* f = std::get_if<captured_frame>(&e)) {
      f->buffer = {};
      all.push_back(std::move(*f));
    }
  }
  std::size_t given = 0;
  for (int ms = 0; ms <= 2'000; ms += 35) {
    auto e = late->read(at_ms(ms));
    const auto* f = std::get_if<captured_frame>(&e);
    if (!f)
      continue;
    ++given;
    // The newest that was taken by now.
    const auto newest = std::find_if(all.rbegin(), all.rend(), [&](const captured_frame& seen) {
      return seen.captured.time_since_epoch() <= std::chrono::milliseconds{ms};
    });
    REQUIRE(newest != all.rend());
    CHECK(f->device_id == newest->device_id);
    CHECK(f->captured == newest->captured);
  }
  CHECK(given > 40);
  CHECK(given < all.size());
}

TEST_CASE("synthetic: what was lost does not count as one of `frames`") {
  auto s = small();
  s.with("fps", 100.0).with("frames", std::int64_t{3});
  auto c = opened(s);
  CHECK(frame_in(c->read(at_ms(0))).device_id == 0);
  CHECK(frame_in(c->read(at_ms(50))).device_id == 5);
  CHECK(frame_in(c->read(at_ms(90))).device_id == 9);
  CHECK(std::holds_alternative<end_of_stream>(c->read(at_ms(100))));
}

TEST_CASE("synthetic: ends after its frames, and stays at the end") {
  auto s = small();
  s.with("frames", std::int64_t{2}).with("fps", 1000.0);
  auto c = opened(s);
  frame_in(c->read(at_ms(0)));
  frame_in(c->read(at_ms(1)));
  CHECK(std::holds_alternative<end_of_stream>(c->read(at_ms(1))));
  CHECK(std::holds_alternative<end_of_stream>(c->read(at_ms(9))));
  REQUIRE(c->open(place(2)).has_value());
  CHECK(frame_in(c->read(at_ms(50))).device_id == 0);
}

TEST_CASE(
  "synthetic: a live camera with an empty pool gives frames without content, and recovers") {
  auto s = small();
  s.with("fps", 1000.0);
  auto c = opened(s, 2); // 2 for the graph and 1 of its own
  std::vector<captured_frame> held;
  for (int i = 0; i < 3; ++i)
    held.push_back(frame_in(c->read(at_ms(i))));
  for (const auto& f : held)
    CHECK(f.buffer);
  const auto missed = frame_in(c->read(at_ms(3)));
  CHECK_FALSE(missed.buffer);
  CHECK(missed.flags == frame_no_buffer);
  CHECK(missed.device_id == 3);
  CHECK(missed.media);
  held.pop_back();
  const auto next = frame_in(c->read(at_ms(4)));
  CHECK(next.buffer);
  CHECK(next.device_id == 4);
  CHECK(next.flags == 0);
}

TEST_CASE("synthetic: a camera that is not live calls an empty pool a defect") {
  auto s = small();
  s.with("realtime", false);
  auto c = opened(s, 1);
  const auto a = frame_in(c->read(at_ms(0))), b = frame_in(c->read(at_ms(0)));
  CHECK(
    sentence(c->read(at_ms(0)))
    == "cam1: asked for a frame while all 2 buffers of the camera are in use, although it is not "
       "live and was to "
       "be asked for what the graph can hold only; this is a defect of the runtime");
}

TEST_CASE("synthetic: offset, drift and jitter act on the camera's clock") {
  auto s = small();
  s.with("realtime", false)
    .with("fps", 10.0)
    .with("offset", duration{-250ms})
    .with("drift", 1000.0);
  s.with("frames", std::int64_t{50});
  const auto steady = read_all(*opened(s), false);
  for (std::size_t n = 0; n < steady.size(); ++n)
    CHECK(steady[n].frame.captured.time_since_epoch() == -250ms + n * (100ms + 100us));

  s.with("offset", duration{0}).with("drift", 0.0).with("jitter", duration{20ms});
  const auto shaken = read_all(*opened(s), false);
  duration least = 1h, most{0};
  for (std::size_t n = 0; n < shaken.size(); ++n) {
    const auto late = shaken[n].frame.captured.time_since_epoch() - n * 100ms;
    least = std::min<duration>(least, late);
    most = std::max<duration>(most, late);
  }
  CHECK(least >= 0ms);
  CHECK(least < 3ms);
  CHECK(most < 20ms);
  CHECK(most > 17ms);
}

TEST_CASE("synthetic: jitter moves when a frame is due, drift and offset do not") {
  auto s = small();
  s.with("fps", 10.0)
    .with("jitter", duration{20ms})
    .with("offset", duration{1h})
    .with("drift", 50000.0);
  auto live = opened(s);
  s.with("realtime", false).with("offset", duration{0}).with("drift", 0.0);
  auto file = opened(s);
  for (int n = 0; n < 20; ++n) {
    const auto taken = frame_in(file->read(at_ms(0))).captured.time_since_epoch();
    const auto due = at_ms(0) + taken;
    if (due > at_ms(0)) {
      auto early = live->read(n == 0 ? at_ms(0) : due - 1ns);
      REQUIRE(std::holds_alternative<not_before>(early));
      CHECK(std::get<not_before>(early).due == due);
    }
    frame_in(live->read(due));
  }
}

TEST_CASE("synthetic: lost frames show as jumps of the device's counter") {
  auto s = small();
  s.with("drop", 0.25).with("frames", std::int64_t{2000}).with("realtime", false);
  const auto all = read_all(*opened(s), false);
  REQUIRE(all.size() == 2000);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto step = all[i].frame.device_id - all[i - 1].frame.device_id;
    CHECK(step >= 1);
    CHECK(((all[i].frame.flags & frame_gap_before) != 0) == (step > 1));
    CHECK(all[i].frame.captured > all[i - 1].frame.captured);
  }
  const double lost = 1 - 2000.0 / static_cast<double>(all.back().frame.device_id + 1);
  CHECK(lost == doctest::Approx(0.25).epsilon(0.1));
}

TEST_CASE("synthetic: the counter scene can be read back") {
  auto s = small();
  s.with("scene", std::string{"counter"}).with("frames", std::int64_t{300}).with("realtime", false);
  auto c = opened(s);
  for (std::uint64_t n = 0; n < 300; ++n) {
    const auto f = frame_in(c->read(at_ms(0)));
    std::uint64_t value = 0;
    for (std::size_t bit = 0; bit < 32; ++bit) // squares of 2 x 6 pixels
      value |= std::uint64_t{f.buffer.data()[2 * bit * 3] == std::byte{255}} << bit;
    CHECK(value == n);
  }
}

TEST_CASE("synthetic: rules between parameters") {
  auto s = small();
  std::vector<fault> faults;
  s.with("fps", 30.0).with("jitter", duration{33ms});
  about.check(s, {}, faults);
  CHECK(faults.empty());
  s.with("jitter", duration{34ms});
  s.with("format", std::string{"i420"}).with("size", pixel_size{64, 47});
  about.check(s, {}, faults);
  REQUIRE(faults.size() == 2);
  CHECK(
    faults[0].message
    == "jitter must not exceed the time between two frames, 33.333333 ms at this fps, or frames "
       "would overtake "
       "each other");
  CHECK(
    faults[1].message
    == "format i420 halves its colour planes: both sides of size 64x47 must be even");
}

TEST_CASE("synthetic: a pool that does not fit into memory is an error, not a crash") {
  auto s = small();
  s.with("size", pixel_size{16384, 16384});
  const auto failed = about.make(s, {})->open(place(std::size_t{1} << 40));
  REQUIRE(failed.has_error());
  CHECK(failed.error().code == errc::out_of_memory);
  CHECK(failed.error().to_string().find("cam1: ") == 0);
  CHECK(
    failed.error().to_string().find("cannot be had; use fewer streams or smaller frames")
    != std::string::npos);
}
