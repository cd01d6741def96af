#include "cameras/timeline.hpp"
#include "tests/cameras/play.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include <algorithm>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

const camera_description about = timeline_description();
using lines = std::vector<std::string>;

/// A table in a folder of its own, played as stream "a".
struct tabled {
  scratch_folder folder;
  settings config = defaults(about);
  explicit tabled(const std::string& text) {
    write_file(folder / "table.csv", text);
    config.with("path", std::string{"table.csv"}).with("stream", std::string{"a"});
  }
  std::unique_ptr<camera> made() const { return about.make(config, folder.path()); }
  std::unique_ptr<camera> opened(std::size_t frames_ahead = 4) const {
    auto c = made();
    const auto done = c->open(place(frames_ahead));
    if (done.has_error())
      FAIL(done.error().to_string());
    return c;
  }
};

const std::string shaky = "stream,frame_id,capture_time,arrival_time,flags\n"
                          "a,0,0,10ms,\n"
                          "b,0,0,11ms,\n"
                          "a,1,33ms,45ms,\n"
                          "a,1,33ms,46ms,duplicate\n"
                          "a,5,165ms,170ms,gap_before\n"
                          "a,6,15ms,203ms,\n";

} // namespace

TEST_CASE("timeline: frames are due at their arrival times") {
  const tabled t{shaky};
  const auto info = t.made()->probe().value();
  CHECK(info.media.to_string() == "video gray8 64x48");
  CHECK(info.simulated);
  CHECK(info.live);
  CHECK_FALSE(info.blocks);
  CHECK(info.frame_count == 5);
  CHECK(info.length == 193ms);
  CHECK(info.fps == doctest::Approx(7.576).epsilon(0.001)); // the steps are 33 and 132 ms
  CHECK(
    play(*t.opened(), at_ms(1000))
    == lines{
      "at 10: 0 of 0", "at 45: 1 of 33", "at 46: 1 of 33 duplicate", "at 170: 5 of 165 gap",
      "at 203: 6 of 15", "end"});
}

TEST_CASE("timeline: what is read late comes late, all of it and in order") {
  const tabled t{shaky};
  auto c = t.opened(8);
  for (const int id : {0, 1, 1, 5, 6}) {
    const auto e = c->read(id == 0 ? at_ms(0) : at_ms(900));
    if (id == 0) {
      CHECK((std::get<not_before>(e).due == at_ms(10)));
      CHECK(frame_in(c->read(at_ms(900))).device_id == 0);
    } else {
      CHECK(frame_in(e).device_id == static_cast<std::uint64_t>(id));
    }
  }
  CHECK(std::holds_alternative<end_of_stream>(c->read(at_ms(900))));
}

TEST_CASE(
  "timeline: a camera that starts later begins with a whole second; the origin is taken off") {
  tabled t{shaky};
  t.config.with("origin", std::string{"0.005"});
  auto c = t.opened();
  CHECK((std::get<not_before>(c->read(at_ms(1234))).due == at_ms(2005)));
  CHECK(frame_in(c->read(at_ms(2005))).device_id == 0);
}

TEST_CASE("timeline: not in real time, as fast as it is asked") {
  tabled t{shaky};
  t.config.with("realtime", false).with("fps", 25.0);
  CHECK_FALSE(t.made()->probe().value().live);
  CHECK(t.made()->probe().value().fps == 25);
  CHECK(read_all(*t.opened()).size() == 5);
}

TEST_CASE("timeline: drawn pictures show the frame's number, the same each time") {
  const tabled t{"frame_id,arrival_time\n3,0\n4,1\n3,2\n"};
  std::vector<std::uint64_t> first, second;
  play(*t.opened(), at_ms(5000), [&](const captured_frame& f) { first.push_back(hash_of(f)); });
  play(*t.opened(), at_ms(5000), [&](const captured_frame& f) { second.push_back(hash_of(f)); });
  REQUIRE(first.size() == 3);
  CHECK(first == second);
  CHECK(first[0] == first[2]);
  CHECK(first[0] != first[1]);
}

TEST_CASE("timeline: values are vectors of float32") {
  const tabled t{"arrival_time,value\n0,1.5 -2\n10ms,3 4\n"};
  const auto info = t.made()->probe().value();
  CHECK(info.media.what == media_type::kind::tensor);
  CHECK(info.media.tensor.shape == std::vector<std::int64_t>{2});
  CHECK(info.media.tensor.type == data_type::float32);
  CHECK(info.frame_bytes == 8);
  const auto f = frame_in(t.opened()->read(at_ms(0)));
  const auto* values = reinterpret_cast<const float*>(f.buffer.data());
  CHECK(values[0] == 1.5F);
  CHECK(values[1] == -2.0F);
}

TEST_CASE("timeline: images stand beside the table; what cannot be decoded is a corrupt frame") {
  const tabled t{"arrival_time,image,flags\n0,a.png,\n10ms,b.png,\n20ms,c.png,\n30ms,,corrupt\n"};
  cv::imwrite(t.folder / "a.png", cv::Mat{4, 6, CV_8UC3, cv::Scalar{1, 2, 3}});
  cv::imwrite(t.folder / "b.png", cv::Mat{40, 60, CV_8UC3, cv::Scalar{7, 8, 9}});
  write_file(t.folder / "c.png", "no picture");
  CHECK(t.made()->probe().value().media.to_string() == "video bgr24 6x4");
  CHECK(t.made()->probe().value().blocks);
  std::vector<std::string> seen;
  const auto all = play(*t.opened(), at_ms(100), [&](const captured_frame& f) {
    seen.push_back(
      f.buffer ? std::to_string(f.media->video.width) + ' '
                   + std::to_string(std::to_integer<int>(pixels(f)[0]))
               : "none");
  });
  CHECK(seen == lines{"6 1", "60 7", "none", "none"});
  CHECK(
    all
    == lines{
      "at 0: 0 of 0", "at 10: 1 of 10", "at 20: 2 of 20 corrupt", "at 30: 3 of 30 corrupt", "end"});
}

TEST_CASE("timeline: faults of the table are told with file and line, all of them") {
  const tabled t{"arrival_time,image\n0,a.png\n1,b.png\n"};
  const auto table = t.folder / "table.csv";
  CHECK(
    t.made()->probe().error().to_string()
    == table + ":2:1: there is no image " + (t.folder / "a.png") + "\n  " + table
         + ":3:1: there is no image " + (t.folder / "b.png"));
  tabled missing{""};
  missing.config.with("path", std::string{"other.csv"});
  CHECK(
    missing.made()->probe().error().message
    == (missing.folder / "other.csv") + " cannot be read: name a table of frames");
}

TEST_CASE("timeline: an empty pool gives frames without content to a live stream") {
  const tabled t{"arrival_time\n0\n0\n0\n"};
  auto c = t.opened(1);
  const auto a = frame_in(c->read(at_ms(0))), b = frame_in(c->read(at_ms(0)));
  CHECK(frame_in(c->read(at_ms(0))).flags == frame_no_buffer);
}

TEST_CASE("timeline: rows may stand in the graph file; rules between the parameters") {
  auto s = defaults(about);
  settings row;
  row.with("arrival_time", std::string{"20ms"})
    .with("flags", setting::list{initial_value(std::string{"key"})});
  s.with("rows", setting::list{object(row)});
  std::vector<fault> faults;
  about.check(s, {}, faults);
  CHECK(faults.empty());
  about.complete(s, "cam1");
  CHECK(s.text("stream") == "cam1");
  auto c = about.make(s, {});
  REQUIRE(c->open(place(2)).has_value());
  CHECK(play(*c, at_ms(100)) == lines{"at 20: 0 of 20 key", "end"});

  const auto sentences = [](const settings& of) {
    std::vector<fault> found;
    about.check(of, {"g.yaml", 3, 4}, found);
    lines all;
    for (const auto& f : found)
      all.push_back(f.where.to_string() + ": " + f.message);
    return all;
  };
  CHECK(
    sentences(defaults(about))
    == lines{"g.yaml:3:4: the camera needs path (a table of frames) or rows (the same in the graph "
             "file)"});
  auto both = s;
  both.with("path", std::string{"t.csv"});
  CHECK(
    sentences(both) == lines{"g.yaml:3:4: the camera has both path and rows: keep one of them"});
  auto bad = s;
  bad.with(
    "rows", setting::list{
              object(settings{}.with("flags", setting::list{initial_value(std::string{"odd"})}))});
  CHECK(sentences(bad).size() == 2);
  auto origin = s;
  origin.with("origin", std::string{"noon"});
  REQUIRE(sentences(origin).size() == 1);
  CHECK(sentences(origin)[0].find("camera.origin is 'noon': expected a time") != std::string::npos);
}
