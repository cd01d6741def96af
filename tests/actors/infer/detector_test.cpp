#include "actors/infer/model.hpp"
#include "actors/pack.hpp"
#include "session_input.hpp"

#include <doctest/doctest.h>
#include <opencv2/imgproc.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace hyperframes;

namespace {

/// A standing figure on a light ground, dark enough for HOG to see.
cv::Mat figure(int width, int height, int x, int y) {
  cv::Mat picture(height, width, CV_8UC3, cv::Scalar(200, 205, 210));
  const cv::Scalar dark(50, 45, 40);
  cv::circle(picture, {x, y}, 9, dark, cv::FILLED, cv::LINE_AA);
  cv::ellipse(picture, {x, y + 36}, {15, 28}, 0, 0, 360, dark, cv::FILLED, cv::LINE_AA);
  cv::line(picture, {x - 6, y + 55}, {x - 10, y + 104}, dark, 10, cv::LINE_AA);
  cv::line(picture, {x + 6, y + 55}, {x + 10, y + 104}, dark, 10, cv::LINE_AA);
  return picture;
}

frame frame_of(const cv::Mat& picture) {
  const auto format = video_format::packed(
    pixel_format::bgr24, static_cast<std::uint32_t>(picture.cols),
    static_cast<std::uint32_t>(picture.rows));
  buffer_pool pool(1, format.size_bytes());
  frame f;
  f.media = make_video_type(format);
  f.buffer = pool.acquire();
  std::memcpy(f.buffer.data(), picture.data, format.size_bytes());
  return f;
}

recycled_vector<detection> found_in(const model& m, const cv::Mat& picture) {
  auto spec = m.input();
  if (spec.width == 0) {
    spec.width = static_cast<std::uint32_t>(picture.cols);
    spec.height = static_cast<std::uint32_t>(picture.rows);
  }
  std::vector<std::byte> data(spec.slot_bytes() * 2);
  packer pack(spec);
  const auto geometry =
    pack.pack(frame_of(picture), std::span{data}.first(spec.slot_bytes())).value();
  pack.fill(std::span{data}.subspan(spec.slot_bytes()));
  const std::vector<slot_geometry> geometries{geometry, {}};
  const std::vector<std::uint8_t> valid{1, 0};
  infer_input input{data, 2, geometries, valid, spec.width, spec.height};
  auto session = m.make_session();
  REQUIRE(session.has_value());
  auto results = (*session)->run(input);
  REQUIRE(results.has_value());
  CHECK(!(*results)[1]);
  REQUIRE((*results)[0]);
  return (*results)[0]->boxes;
}

const std::string cascade = "/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml";

} // namespace

TEST_CASE("hog finds a figure, in the frame's pixels whatever size is looked at") {
  settings s;
  s.with("backend", std::string{"hog"});
  auto detector = group();
  detector->with("threshold", -0.5).with("group", std::int64_t{1});
  s.with("detector", detector);
  for (bool smaller : {false, true}) {
    if (smaller) {
      auto input = group();
      input->with("size", pixel_size{240, 180});
      s.with("input", input);
    }
    const auto m = load_model(s, "").value();
    CHECK(m->input().type == data_type::uint8);
    CHECK(m->input().layout == tensor_layout::nhwc);
    CHECK(
      m->summary()
      == (smaller ? "hog people, bgr frames as 240x180" : "hog people, bgr frames at their own size"));
    CHECK(*m->labels() == std::vector<std::string>{"person"});
    const int scale = smaller ? 2 : 1;
    cv::Mat picture = figure(320, 240, 200, 70);
    if (smaller)
      cv::resize(picture, picture, {480 * scale / 2, 360 * scale / 2});
    const auto boxes = found_in(*m, picture);
    REQUIRE(!boxes.empty());
    const double x = boxes[0].x + boxes[0].width / 2, y = boxes[0].y + boxes[0].height / 2;
    CHECK(x == doctest::Approx(200.0 * picture.cols / 320).epsilon(0.08));
    CHECK(y == doctest::Approx(122.0 * picture.rows / 240).epsilon(0.12));
    for (std::size_t i = 1; i < boxes.size(); ++i)
      CHECK(boxes[i - 1].score >= boxes[i].score);
  }
  const auto m = load_model(s, "").value();
  CHECK(found_in(*m, cv::Mat(180, 240, CV_8UC3, cv::Scalar(90, 90, 90))).empty());
}

TEST_CASE("a picture smaller than hog's window has nobody in it") {
  settings s;
  s.with("backend", std::string{"hog"});
  const auto m = load_model(s, "").value();
  CHECK(found_in(*m, cv::Mat(20, 20, CV_8UC3, cv::Scalar(1, 2, 3))).empty());
}

TEST_CASE("a cascade reads its file and looks at gray pictures") {
  if (!std::filesystem::exists(cascade))
    return;
  settings s;
  s.with("backend", std::string{"cascade"}).with("model", cascade);
  const auto m = load_model(s, "").value();
  CHECK(m->input().channels == channel_order::gray);
  CHECK(
    m->summary() == "cascade haarcascade_frontalface_default.xml, gray frames at their own size");
  CHECK(found_in(*m, cv::Mat(60, 60, CV_8UC3, cv::Scalar(90, 90, 90))).empty());
}

TEST_CASE("detectors: what does not fit is a load error") {
  const auto message = [](const settings& s) {
    const auto loaded = load_model(s, HYPERFRAMES_TEST_DATA);
    REQUIRE(!loaded.has_value());
    CHECK(loaded.error().code == errc::model_failed);
    return loaded.error().to_string();
  };
  settings bad;
  bad.with("backend", std::string{"cascade"}).with("model", std::string{"models/three.txt"});
  CHECK(
    message(bad).find("is not a cascade that OpenCV can read, expected an XML file")
    != std::string::npos);

  const auto with = [&](const std::string& backend, const char* name, auto value) {
    settings s;
    s.with("backend", backend);
    if (backend != "hog")
      s.with("model", std::string{"models/means_dynamic.onnx"});
    auto detector = group();
    detector->with(name, value);
    s.with("detector", detector);
    return message(s);
  };
  CHECK(
    with("hog", "neighbours", std::int64_t{1})
    == "model: `detector.neighbours` is for backend cascade, found backend hog");
  CHECK(
    with("opencv", "stride", std::int64_t{8})
    == "model: `detector.stride` is for backend hog, found backend opencv");
  CHECK(
    with("opencv", "scale", 1.2)
    == "model: `detector.scale` is for the backends hog and cascade, found backend opencv");
  CHECK(
    with("hog", "stride", std::int64_t{12})
    == "model: `detector.stride` must be a multiple of 8, found 12");

  settings scaled;
  auto input = group();
  input->with("scale", 0.5);
  scaled.with("backend", std::string{"hog"}).with("input", input);
  CHECK(
    message(scaled)
    == "hog people: takes pictures as they are: only `size`, `color`, `fit` and `pad` of `input` "
       "can be set");

  settings decoded;
  auto output = group();
  output->with("labels", list_of({"pedestrian"})).with("max", std::int64_t{3});
  decoded.with("backend", std::string{"hog"}).with("output", output);
  CHECK(*load_model(decoded, "").value()->labels() == std::vector<std::string>{"pedestrian"});
  output->with("score", 0.5);
  CHECK(
    message(decoded)
    == "model: `output.score` has no meaning for backend hog, only `labels` and `max` of `output` "
       "have");
}
