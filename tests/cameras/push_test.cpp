#include "cameras/push.hpp"
#include "tests/cameras/drive.hpp"

#include <atomic>
#include <thread>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

const camera_description about = push_description();

settings small(bool live = true, std::int64_t queue = 2) {
  auto s = defaults(about);
  s.with("size", pixel_size{4, 2})
    .with("format", std::string{"gray8"})
    .with("live", live)
    .with("queue", queue);
  return s;
}

std::array<std::byte, 8> picture(int value) {
  std::array<std::byte, 8> p{};
  p.fill(static_cast<std::byte>(value));
  return p;
}

capture_time at(int ms) {
  return capture_time{std::chrono::milliseconds{ms}};
}

bool waits(const camera_event& e) {
  const auto* n = std::get_if<not_before>(&e);
  return n && n->due == never;
}

} // namespace

TEST_CASE("push: says what it gives") {
  const auto info = push_camera{small()}.probe().value();
  CHECK(info.media.to_string() == "video gray8 4x2");
  CHECK(info.live);
  CHECK(info.fps == 0);
  CHECK(info.frame_bytes == 8);
  CHECK(info.own_frames == 2);
  CHECK_FALSE(info.blocks);
  CHECK_FALSE(info.simulated);
  CHECK_FALSE(info.frame_count);
}

TEST_CASE("push: what is pushed comes out, in order, then the end") {
  push_camera c{small()};
  const auto port = c.port();
  CHECK(port->frame_bytes() == 0);
  CHECK(port->push(picture(1), at(1)) == push_result::not_open);
  REQUIRE(c.open(place(3)).has_value());
  CHECK(port->frame_bytes() == 8);
  int woken = 0;
  c.set_wake([&] { ++woken; });
  CHECK(waits(c.read({})));

  auto pixels_in = picture(7);
  CHECK(port->push(pixels_in, at(10)) == push_result::taken);
  pixels_in.fill(std::byte{99}); // it was copied
  CHECK(
    port->push(picture(8), at(20), {.device_id = 41, .flags = frame_corrupt, .truth = 3})
    == push_result::taken);
  CHECK(woken == 2);
  const auto first = frame_in(c.read({})), second = frame_in(c.read({}));
  CHECK(first.captured == at(10));
  CHECK(first.device_id == 0);
  CHECK(first.flags == 0);
  CHECK(first.truth == -1);
  CHECK(pixels(first) == std::vector<std::byte>(8, std::byte{7}));
  CHECK(second.device_id == 41);
  CHECK(second.flags == frame_corrupt);
  CHECK(second.truth == 3);
  CHECK(first.media == second.media);
  CHECK(waits(c.read({})));

  CHECK(port->push(picture(9), at(30)) == push_result::taken);
  port->close();
  CHECK(woken == 4);
  CHECK(port->push(picture(9), at(40)) == push_result::closed);
  CHECK(frame_in(c.read({})).device_id == 42); // one more than the last
  CHECK(std::holds_alternative<end_of_stream>(c.read({})));
  CHECK(std::holds_alternative<end_of_stream>(c.read({})));
}

TEST_CASE("push: a live stream counts what finds no room, in a bounded queue") {
  push_camera c{small(true, 2)};
  REQUIRE(c.open(place(4)).has_value());
  const auto port = c.port();
  for (int i = 0; i < 1002; ++i)
    CHECK(port->push(picture(i), at(10 * i)) == (i < 2 ? push_result::taken : push_result::full));
  CHECK(frame_in(c.read({})).buffer);
  CHECK(port->push(picture(1), at(10020)) == push_result::taken);
  CHECK(port->push(picture(1), at(10030)) == push_result::full);
  CHECK(frame_in(c.read({})).device_id == 1);
  for (std::uint64_t i = 2; i < 1002; ++i) {
    const auto f = frame_in(c.read({}));
    CHECK(f.device_id == i);
    CHECK(f.captured == at(static_cast<int>(10 * i)));
    CHECK(f.flags == frame_no_buffer);
    CHECK_FALSE(f.buffer);
    CHECK(f.media);
  }
  const auto kept = frame_in(c.read({}));
  CHECK(kept.device_id == 1002);
  CHECK(kept.buffer);
  CHECK(frame_in(c.read({})).flags == frame_no_buffer);
  CHECK(waits(c.read({})));
}

TEST_CASE("push: a live stream counts what finds no buffer") {
  push_camera c{small(true, 2)};
  REQUIRE(c.open(place(1)).has_value()); // three slots
  std::vector<captured_frame> held;
  for (int i = 0; i < 3; ++i) {
    CHECK(c.port()->push(picture(i), at(i)) == push_result::taken);
    held.push_back(frame_in(c.read({})));
  }
  CHECK(c.port()->push(picture(3), at(3)) == push_result::full);
  CHECK(frame_in(c.read({})).flags == frame_no_buffer);
  held.clear();
  CHECK(c.port()->push(picture(4), at(4)) == push_result::taken);
  CHECK(frame_in(c.read({})).device_id == 4);
}

TEST_CASE("push: a stream that is not live refuses what finds no room and does not count it") {
  push_camera c{small(false, 2)};
  REQUIRE(c.open(place(4)).has_value());
  CHECK(c.port()->push(picture(0), at(0)) == push_result::taken);
  CHECK(c.port()->push(picture(1), at(1)) == push_result::taken);
  CHECK(c.port()->push(picture(2), at(2)) == push_result::full);
  CHECK(frame_in(c.read({})).device_id == 0);
  CHECK(c.port()->push(picture(2), at(2)) == push_result::taken);
  CHECK(frame_in(c.read({})).device_id == 1);
  CHECK(frame_in(c.read({})).device_id == 2);
  CHECK(waits(c.read({})));
}

TEST_CASE("push: a picture of the wrong size") {
  push_camera c{small()};
  REQUIRE(c.open(place(1)).has_value());
  const std::array<std::byte, 9> large{};
  CHECK_THROWS_WITH_AS(
    c.port()->push(large, at(0)),
    "cam1: a frame of 9 bytes was pushed, but video gray8 4x2 has 8; push tightly packed rows of "
    "the size and format that the stream declares",
    failure);
}

TEST_CASE("push: the port outlives cameras and serves the one that was opened last") {
  std::shared_ptr<push_port> port;
  {
    push_camera c{small()};
    port = c.port();
    REQUIRE(c.open(place(1)).has_value());
    CHECK(port->push(picture(0), at(0)) == push_result::taken);
  }
  CHECK(port->push(picture(0), at(0)) == push_result::not_open);
  CHECK(port->frame_bytes() == 0);

  auto old = std::make_unique<push_camera>(small());
  old->attach(port);
  REQUIRE(old->open(place(1)).has_value());
  push_camera fresh{small()};
  fresh.attach(port);
  REQUIRE(fresh.open(place(1)).has_value());
  old.reset(); // its end does not shut the other's opening
  CHECK(port->push(picture(5), at(0)) == push_result::taken);
  CHECK(frame_in(fresh.read({})).buffer);
}

TEST_CASE("push: frames outlive the camera") {
  captured_frame f;
  {
    push_camera c{small()};
    REQUIRE(c.open(place(1)).has_value());
    CHECK(c.port()->push(picture(3), at(0)) == push_result::taken);
    f = frame_in(c.read({}));
  }
  CHECK(pixels(f) == std::vector<std::byte>(8, std::byte{3}));
}

TEST_CASE("push: several threads push while one reads; every push is accounted for") {
  push_camera c{small(true, 4)};
  REQUIRE(c.open(place(4)).has_value());
  std::atomic<int> taken{0}, finished{0};
  std::vector<std::thread> pushers;
  for (int t = 0; t < 4; ++t)
    pushers.emplace_back([&, port = c.port()] {
      for (int i = 0; i < 2000; ++i)
        if (port->push(picture(i), at(i)) == push_result::taken)
          ++taken;
      if (++finished == 4)
        port->close();
    });
  int content = 0, without = 0;
  std::uint64_t next = 0;
  for (;;) {
    auto e = c.read({});
    if (std::holds_alternative<end_of_stream>(e))
      break;
    if (std::holds_alternative<not_before>(e)) {
      std::this_thread::yield();
      continue;
    }
    const auto f = frame_in(std::move(e));
    CHECK(f.device_id == next++);
    if (f.buffer) {
      ++content;
      const auto all = pixels(f);
      CHECK(std::count(all.begin(), all.end(), all[0]) == 8);
    } else {
      ++without;
    }
  }
  for (auto& t : pushers)
    t.join();
  CHECK(content == taken);
  CHECK(content + without == 8000);
}

TEST_CASE("push_for: waits for the camera to open and for room, and is woken by both") {
  push_camera c{small(false, 1)};
  std::vector<push_result> results;
  std::thread program{[&, port = c.port()] {
    for (int i = 0; i < 500; ++i)
      results.push_back(port->push_for(picture(i), at(i), 1h));
    port->close();
  }};
  REQUIRE(c.open(place(2)).has_value());
  std::uint64_t next = 0;
  for (;;) {
    auto e = c.read({});
    if (std::holds_alternative<end_of_stream>(e))
      break;
    if (waits(e))
      std::this_thread::yield();
    else
      CHECK(frame_in(std::move(e)).device_id == next++);
  }
  program.join();
  CHECK(next == 500);
  CHECK(results == std::vector<push_result>(500, push_result::taken));
}

TEST_CASE("push_for: several that wait are all woken") {
  push_camera c{small(true, 1)};
  REQUIRE(c.open(place(2)).has_value());
  std::atomic<int> taken{0};
  std::vector<std::thread> programs;
  for (int t = 0; t < 4; ++t)
    programs.emplace_back([&, port = c.port()] {
      for (int i = 0; i < 100; ++i)
        taken += port->push_for(picture(i), at(i), 1h) == push_result::taken ? 1 : 0;
    });
  for (std::uint64_t next = 0; next < 400;) {
    auto e = c.read({});
    if (waits(e))
      std::this_thread::yield();
    else
      CHECK(frame_in(std::move(e)).device_id == next++);
  }
  for (auto& p : programs)
    p.join();
  CHECK(taken == 400);
}

TEST_CASE("push_for: gives up after its patience, as push does") {
  const auto waited = [](auto&& action) {
    const auto begun = std::chrono::steady_clock::now();
    const auto result = action();
    CHECK(std::chrono::steady_clock::now() - begun >= 2ms);
    return result;
  };
  push_camera file{small(false, 1)};
  const auto push = [&] { return file.port()->push_for(picture(1), at(1), 2ms); };
  CHECK(waited(push) == push_result::not_open);
  REQUIRE(file.open(place(2)).has_value());
  CHECK(push() == push_result::taken);
  CHECK(waited(push) == push_result::full);
  CHECK(frame_in(file.read({})).device_id == 0);
  CHECK(waits(file.read({}))); // not counted

  push_camera live{small(true, 1)};
  REQUIRE(live.open(place(2)).has_value());
  CHECK(live.port()->push(picture(1), at(1)) == push_result::taken);
  CHECK(waited([&] { return live.port()->push_for(picture(2), at(2), 2ms); }) == push_result::full);
  CHECK(frame_in(live.read({})).device_id == 0);
  CHECK(frame_in(live.read({})).flags == frame_no_buffer);
}

TEST_CASE("push_for: a picture of the wrong size is not waited for") {
  push_camera c{small(false, 1)};
  REQUIRE(c.open(place(1)).has_value());
  CHECK(c.port()->push(picture(0), at(0)) == push_result::taken);
  const std::array<std::byte, 9> large{};
  CHECK_THROWS_AS(c.port()->push_for(large, at(0), 1h), failure);
}

TEST_CASE("push: a graph that ends closes the port, and who waits is told") {
  const auto result_of = [](push_camera& c, auto&& end) {
    auto result = push_result::taken;
    std::thread program{[&, port = c.port()] { result = port->push_for(picture(1), at(1), 1h); }};
    end();
    program.join();
    return result;
  };
  SUBCASE("while the queue is full") {
    push_camera c{small(false, 1)};
    REQUIRE(c.open(place(2)).has_value());
    CHECK(c.port()->push(picture(0), at(0)) == push_result::taken);
    CHECK(result_of(c, [&] { c.interrupt(); }) == push_result::closed);
    CHECK(c.port()->push(picture(1), at(1)) == push_result::closed);
    CHECK(frame_in(c.read({})).device_id == 0); // what was taken is there to be read
    CHECK(std::holds_alternative<end_of_stream>(c.read({})));
  }
  SUBCASE("while it is not open, which it then never is") {
    push_camera c{small(false, 1)};
    CHECK(result_of(c, [&] { c.interrupt(); }) == push_result::closed);
    const auto failed = c.open(place(2));
    REQUIRE(failed.has_error());
    CHECK(failed.error().code == errc::stopped);
    CHECK(failed.error().to_string() == "cam1: the camera was stopped before it was opened");
  }
  SUBCASE("by the program") {
    push_camera c{small(false, 1)};
    REQUIRE(c.open(place(2)).has_value());
    CHECK(c.port()->push(picture(0), at(0)) == push_result::taken);
    CHECK(result_of(c, [&] { c.port()->close(); }) == push_result::closed);
  }
  SUBCASE("and stays so when the camera has gone, until another one takes the port") {
    auto c = std::make_unique<push_camera>(small());
    const auto port = c->port();
    REQUIRE(c->open(place(2)).has_value());
    c->interrupt();
    c.reset();
    CHECK(port->push(picture(0), at(0)) == push_result::closed);
    push_camera fresh{small()};
    fresh.attach(port);
    CHECK(port->push(picture(0), at(0)) == push_result::not_open);
    REQUIRE(fresh.open(place(2)).has_value());
    CHECK(port->push(picture(0), at(0)) == push_result::taken);
  }
  SUBCASE("but not where another camera has the port") {
    push_camera old{small()}, fresh{small()};
    fresh.attach(old.port());
    REQUIRE(fresh.open(place(2)).has_value());
    old.interrupt();
    CHECK(old.port()->push(picture(0), at(0)) == push_result::taken);
    CHECK(old.open(place(2)).has_error());
  }
}

TEST_CASE("push: a file's stream that cannot be opened closes the port") {
  auto s = small(false, 1);
  s.with("size", pixel_size{16384, 16384});
  push_camera c{s};
  CHECK(c.open(place(std::size_t{1} << 40)).has_error());
  CHECK(c.port()->push(picture(0), at(0)) == push_result::closed);
}
