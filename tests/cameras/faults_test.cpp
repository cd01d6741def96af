#include "cameras/faults.hpp"
#include "cameras/push.hpp"
#include "cameras/synthetic.hpp"
#include "tests/cameras/play.hpp"

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

const camera_description about = with_faults(synthetic_description());
using lines = std::vector<std::string>;

settings entry(const char* kind) {
  return settings{}.with("kind", std::string{kind});
}

/// Ten small pictures a second, with faults.
settings ten_fps(std::vector<settings> faults) {
  auto s = defaults(about);
  s.with("fps", 10.0).with("size", pixel_size{32, 32}).with("scene", std::string{"counter"});
  setting::list list;
  for (auto& f : faults)
    list.push_back(object(std::move(f)));
  s.with("faults", std::move(list));
  return s;
}

std::unique_ptr<camera>
opened(const settings& s, std::uint64_t seed = 0, std::string stream = "cam1") {
  auto c = about.make(s, {});
  auto where = place(4, std::move(stream));
  where.seed = seed;
  REQUIRE(c->open(where).has_value());
  return c;
}

lines played(std::vector<settings> faults, double until_ms) {
  return play(*opened(ten_fps(std::move(faults))), at_ms(until_ms));
}

std::vector<std::string> sentences(std::vector<settings> faults) {
  std::vector<fault> found;
  about.check(ten_fps(std::move(faults)), {"graph.yaml", 4, 5}, found);
  std::vector<std::string> all;
  for (const auto& f : found)
    all.push_back(f.message);
  return all;
}

} // namespace

TEST_CASE("faults: without any a camera is as it was") {
  auto s = ten_fps({});
  CHECK(about.make(s, {})->injected() == nullptr);
  CHECK(play(*opened(s), at_ms(150)) == lines{"at 0: 0 of 0", "at 100: 1 of 100"});
}

TEST_CASE("faults: a gap loses frames in the device") {
  CHECK(
    played({entry("gap").with("at", integers({1, 5})).with("count", std::int64_t{2})}, 850)
    == lines{
      "at 0: 0 of 0", "at 300: 3 of 300 gap", "at 400: 4 of 400", "at 700: 7 of 700 gap",
      "at 800: 8 of 800"});
}

TEST_CASE("faults: a duplicate is the same frame again") {
  std::vector<const std::byte*> buffers;
  auto c =
    opened(ten_fps({entry("duplicate").with("at", integers({1})).with("count", std::int64_t{2})}));
  std::vector<captured_frame> kept;
  const auto all = play(*c, at_ms(200), [&](const captured_frame& f) { kept.push_back(f); });
  CHECK(
    all
    == lines{
      "at 0: 0 of 0", "at 100: 1 of 100", "at 100: 1 of 100 duplicate",
      "at 100: 1 of 100 duplicate", "at 200: 2 of 200"});
  CHECK(kept[1].buffer.data() == kept[3].buffer.data());
}

TEST_CASE("faults: clocks jump, and stay where they jumped to") {
  CHECK(
    played(
      {entry("jump_back").with("at", integers({2})).with("by", duration{150ms}),
       entry("jump_forward").with("at", integers({4})).with("by", duration{1s})},
      500)
    == lines{
      "at 0: 0 of 0", "at 100: 1 of 100", "at 200: 2 of 50", "at 300: 3 of 150",
      "at 400: 4 of 1250", "at 500: 5 of 1350"});
}

TEST_CASE("faults: skew is an offset and a drift, from the first frame or from a later one") {
  CHECK(
    played({entry("skew").with("by", duration{-5ms}).with("drift", 10000.0)}, 200)
    == lines{"at 0: 0 of -5", "at 100: 1 of 96", "at 200: 2 of 197"});
  CHECK(
    played({entry("skew").with("drift", 10000.0).with("at", integers({1}))}, 300)
    == lines{"at 0: 0 of 0", "at 100: 1 of 100", "at 200: 2 of 201", "at 300: 3 of 302"});
}

TEST_CASE("faults: a lying rate counts its own time, lost frames included") {
  CHECK(
    played(
      {entry("gap").with("at", integers({2})),
       entry("lying_rate").with("fps", 20.0).with("at", integers({1}))},
      400)
    == lines{"at 0: 0 of 0", "at 100: 1 of 100", "at 300: 3 of 200 gap", "at 400: 4 of 250"});
}

TEST_CASE("faults: corrupt frames are flagged and keep their content") {
  auto c =
    opened(ten_fps({entry("corrupt").with("at", integers({1})).with("count", std::int64_t{2})}));
  const auto all = play(*c, at_ms(300), [](const captured_frame& f) { CHECK(f.buffer); });
  CHECK(
    all
    == lines{
      "at 0: 0 of 0", "at 100: 1 of 100 corrupt", "at 200: 2 of 200 corrupt", "at 300: 3 of 300"});
}

TEST_CASE("faults: a live camera's silence loses what it takes") {
  CHECK(
    played({entry("silence").with("at", integers({1})).with("for", duration{250ms})}, 500)
    == lines{"at 0: 0 of 0", "at 400: 4 of 400 gap", "at 500: 5 of 500"});
}

TEST_CASE("faults: a camera that is not live waits through a silence") {
  auto s = ten_fps({entry("silence").with("at", integers({1})).with("for", duration{250ms})});
  s.with("realtime", false).with("frames", std::int64_t{3});
  CHECK(
    play(*opened(s), at_ms(500))
    == lines{"at 0: 0 of 0", "at 250: 1 of 100", "at 250: 2 of 200", "end"});
}

TEST_CASE(
  "faults: jitter delays frames and keeps their order, in a live camera without losing any") {
  auto c = opened(ten_fps({entry("jitter").with("rate", 1.0).with("by", duration{350ms})}));
  CHECK(c->probe().value().own_frames == 1 + 5); // 350 ms at 10 fps, and the one that comes in
  std::uint64_t next = 0;
  graph_time last{};
  duration most{0};
  for (auto now = graph_time{}; next < 200;) {
    auto e = c->read(now);
    if (const auto* wait = std::get_if<not_before>(&e)) {
      now = wait->due;
      continue;
    }
    const auto f = frame_in(std::move(e));
    CHECK(f.device_id == next++);
    CHECK(f.flags == 0);
    const auto late = now.time_since_epoch() - f.captured.time_since_epoch();
    CHECK(late >= 0ms);
    CHECK(late < 350ms);
    most = std::max<duration>(most, late);
    CHECK((now >= last));
    last = now;
  }
  CHECK(most > 300ms);
}

TEST_CASE("faults: pictures change their size, for a while or from there on") {
  const auto sizes = [](settings what) {
    std::vector<std::string> all;
    auto s = ten_fps({std::move(what)});
    s.with("format", std::string{"nv12"});
    auto c = opened(s);
    CHECK(c->probe().value().frame_bytes == 32 * 32 * 3 / 2 + 64 * 16 * 3 / 2);
    play(*c, at_ms(400), [&](const captured_frame& f) {
      all.push_back(
        std::to_string(f.media->video.width) + 'x' + std::to_string(f.media->video.height));
      CHECK(f.buffer.size() >= f.media->video.size_bytes());
      CHECK(pixels(f).size() == f.media->video.size_bytes());
    });
    return all;
  };
  const auto to = pixel_size{64, 16};
  CHECK(
    sizes(entry("resize").with("at", integers({1})).with("size", to).with("count", std::int64_t{2}))
    == lines{"32x32", "64x16", "64x16", "32x32", "32x32"});
  CHECK(
    sizes(entry("resize").with("at", integers({3})).with("size", to))
    == lines{"32x32", "32x32", "32x32", "64x16", "64x16"});
}

TEST_CASE("faults: a resized picture shows the same") {
  auto c =
    opened(ten_fps({entry("resize").with("at", integers({1})).with("size", pixel_size{64, 64})}));
  auto plain = opened(ten_fps({}));
  plain->read(at_ms(0));
  c->read(at_ms(0));
  const auto small = pixels(frame_in(plain->read(at_ms(100))));
  const auto large = pixels(frame_in(c->read(at_ms(100))));
  REQUIRE(large.size() == small.size() * 4);
  for (std::size_t y = 0; y < 64; ++y)
    for (std::size_t x = 0; x < 64 * 3; ++x)
      if (large[y * 64 * 3 + x] != small[y / 2 * 32 * 3 + x / 6 * 3 + x % 3])
        FAIL("differs at ", x, ", ", y);
}

TEST_CASE("faults: a rate hits the same frames each time, other ones with another seed or stream") {
  const auto gaps = [](double rate, std::uint64_t seed, std::string stream, std::int64_t own = -1) {
    auto e = entry("corrupt").with("rate", rate);
    if (own >= 0)
      e.with("seed", own);
    return play(*opened(ten_fps({std::move(e)}), seed, std::move(stream)), at_ms(50'000));
  };
  const auto first = gaps(0.2, 1, "cam1");
  CHECK(first == gaps(0.2, 1, "cam1"));
  CHECK(first != gaps(0.2, 2, "cam1"));
  CHECK(first != gaps(0.2, 1, "cam2"));
  CHECK(first == gaps(0.2, 7, "cam1", 1));
  const auto hit = std::count_if(first.begin(), first.end(), [](const std::string& l) {
    return l.find("corrupt") != std::string::npos;
  });
  CHECK(hit > 75);
  CHECK(hit < 125);
  for (const auto& l : gaps(0, 1, "cam1"))
    CHECK(l.find("corrupt") == std::string::npos);
}

TEST_CASE("faults: what happened is counted, for longer than the camera lives") {
  auto c = opened(ten_fps(
    {entry("gap").with("at", integers({1, 6})).with("count", std::int64_t{3}),
     entry("skew").with("by", duration{1s}),
     entry("silence").with("at", integers({10})).with("for", duration{1s})}));
  const auto counts = c->injected();
  REQUIRE(counts);
  CHECK(counts->of(fault_kind::gap) == 0);
  play(*c, at_ms(3000));
  c.reset();
  CHECK(counts->of(fault_kind::gap) == 2);
  CHECK(counts->of(fault_kind::skew) == 1);
  CHECK(counts->of(fault_kind::silence) == 1);
  CHECK(counts->of(fault_kind::jitter) == 0);
}

TEST_CASE("faults: opened again, a camera begins anew") {
  auto c = opened(ten_fps({entry("gap").with("at", integers({1}))}));
  const auto first = play(*c, at_ms(500));
  REQUIRE(c->open(place(4)).has_value());
  CHECK(play(*c, at_ms(500)) == first);
}

TEST_CASE("faults: a pushed frame comes through them too, and the port is found inside") {
  const auto push = with_faults(push_description());
  auto s = defaults(push);
  s.with("size", pixel_size{4, 4});
  s.with("faults", setting::list{object(entry("corrupt").with("at", integers({0})))});
  auto c = push.make(s, {});
  auto port = dynamic_cast<push_camera&>(c->innermost()).port();
  REQUIRE(c->open(place(2)).has_value());
  auto e = c->read(at_ms(0));
  REQUIRE(std::holds_alternative<not_before>(e));
  CHECK((std::get<not_before>(e).due == never));
  const std::vector<std::byte> picture(4 * 4 * 3);
  CHECK(port->push(picture, capture_time{}) == push_result::taken);
  CHECK(frame_in(c->read(at_ms(1))).flags == frame_corrupt);
  port->close();
  CHECK(std::holds_alternative<end_of_stream>(c->read(at_ms(2))));
  CHECK(std::holds_alternative<end_of_stream>(c->read(at_ms(3))));
}

TEST_CASE("faults: rules between the fields of an entry are sentences") {
  struct row {
    settings what;
    lines expected;
  };
  const auto at = integers({3});
  const row table[] = {
    {entry("gap").with("at", at), {}},
    {entry("gap"),
     {"camera.faults.0, a gap, says not when: it needs 'at' (frames, by the device's counter) or "
      "'rate' "
      "(share of the frames)"}},
    {entry("gap").with("at", at).with("rate", 0.5),
     {"camera.faults.0, a gap, has both 'at' and 'rate': keep one of them"}},
    {entry("gap").with("at", setting::list{}),
     {"camera.faults.0, a gap, has no frame in 'at': name one, or leave the key out"}},
    {entry("gap").with("rate", 1.0),
     {"camera.faults.0, a gap, has a rate above 0.99, which leaves next to nothing: lower it, or "
      "use "
      "silence"}},
    {entry("gap").with("at", at).with("by", duration{1s}),
     {"camera.faults.0, a gap, has no 'by': remove it"}},
    {entry("jitter").with("rate", 0.5), {"camera.faults.0, a jitter, needs 'by'"}},
    {entry("jump_back").with("at", at).with("by", duration{-1s}),
     {"camera.faults.0, a jump_back, needs 'by' above 0"}},
    {entry("silence").with("at", at), {"camera.faults.0, a silence, needs 'for'"}},
    {entry("resize").with("at", at), {"camera.faults.0, a resize, needs 'size'"}},
    {entry("lying_rate").with("rate", 0.5).with("fps", 5.0),
     {"camera.faults.0, a lying_rate, has no 'rate': it begins at one frame ('at') or with the "
      "first and "
      "stays"}},
    {entry("skew").with("at", integers({1, 2})).with("by", duration{-1s}),
     {"camera.faults.0, a skew, begins once and stays: name one frame in 'at'"}},
    {entry("skew"),
     {"camera.faults.0, a skew, needs 'by' (how far off the clock is), 'drift' (how much too fast "
      "it "
      "runs), or both"}},
  };
  for (const auto& r : table)
    CHECK(sentences({r.what}) == r.expected);
  CHECK(sentences({entry("gap").with("at", at), entry("jitter")}).size() == 2);
}

TEST_CASE("faults: sizes that the pixel format cannot have are refused") {
  auto s = ten_fps({entry("resize").with("at", integers({1})).with("size", pixel_size{63, 32})});
  s.with("format", std::string{"i420"});
  const auto probed = about.make(s, {})->probe();
  REQUIRE(probed.has_error());
  CHECK(
    probed.error().message
    == "the fault resize has size 63x32, but i420 halves its colour planes: both sides must be "
       "even");
}
