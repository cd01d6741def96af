#include "actors/infer/model.hpp"
#include "session_input.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace hyperframes;

namespace {

const std::string folder = HYPERFRAMES_TEST_DATA;

std::vector<std::string> network_backends() {
  std::vector<std::string> result;
  for (const auto& name : model_backends())
    if (name == "onnxruntime" || name == "opencv")
      result.push_back(name);
  return result;
}

bool has_onnxruntime() {
  return model_backends().front() == "onnxruntime";
}

model_ptr load(const settings& s) {
  auto loaded = load_model(s, folder);
  INFO((loaded ? std::string{} : loaded.error().to_string()));
  REQUIRE(loaded.has_value());
  return *loaded;
}

recycled_vector<inference_ptr> run(const model& m, const infer_input& input) {
  auto session = m.make_session();
  REQUIRE(session.has_value());
  auto results = (*session)->run(input);
  INFO((results ? std::string{} : results.error().to_string()));
  REQUIRE(results.has_value());
  REQUIRE(results->size() == input.slots);
  return *results;
}

std::vector<float> raw_values(const inference_ptr& i, std::size_t output = 0) {
  REQUIRE(i != nullptr);
  REQUIRE(i->raw.size() > output);
  const auto& t = i->raw[output];
  return {t.floats(), t.floats() + t.elements()};
}

std::string message(const settings& s) {
  const auto loaded = load_model(s, folder);
  REQUIRE(!loaded.has_value());
  CHECK(loaded.error().code == errc::model_failed);
  return loaded.error().message;
}

settings raw(settings s) {
  auto output = group();
  output->with("decode", std::string{"raw"});
  s.with("output", output);
  return s;
}

const std::vector<plain_slots::colour> five{{1, 2, 3}, {6, 4, 5}, {7, 9, 8}, {3, 2, 1}, {0, 5, 0}};
const std::vector<int> best_of_five{2, 0, 1, 0, 1};

} // namespace

TEST_CASE("classification: a dynamic and fixed batches give the same for every number of slots and "
          "every mask") {
  for (const auto& backend : network_backends())
    for (const char* name : {"means_dynamic", "means_batch4", "means_batch1"}) {
      const auto m = load(model_of(backend, name));
      CHECK(m->result_per_slot());
      CHECK(m->time_axis() == 0);
      auto session = m->make_session();
      REQUIRE(session.has_value());
      for (std::size_t slots = 1; slots <= five.size(); ++slots)
        for (unsigned mask = 0; mask < (1U << slots); ++mask) {
          std::vector<std::uint8_t> valid(slots);
          for (std::size_t i = 0; i < slots; ++i)
            valid[i] = (mask >> i) & 1U;
          plain_slots in(
            *m, {five.begin(), five.begin() + static_cast<std::ptrdiff_t>(slots)}, valid);
          const auto results = (*session)->run(in.input());
          REQUIRE(results.has_value());
          REQUIRE(results->size() == slots);
          for (std::size_t i = 0; i < slots; ++i) {
            REQUIRE(((*results)[i] != nullptr) == (valid[i] != 0));
            if (valid[i])
              CHECK((*results)[i]->classes.at(0).label == best_of_five[i]);
          }
        }
    }
}

TEST_CASE("scores are softmax over what the model gave, names come from its metadata") {
  for (const auto& backend : network_backends()) {
    auto output = group();
    output->with("top_k", std::int64_t{3});
    auto s = model_of(backend, "means_dynamic");
    s.with("output", output);
    const auto m = load(s);
    plain_slots in(*m, {{2, 3, 2}});
    const auto results = run(*m, in.input());
    const double e = std::exp(1.0);
    REQUIRE(results[0]->classes.size() == 3);
    CHECK(results[0]->classes[0].score == doctest::Approx(e / (e + 2)));
    CHECK(results[0]->classes[1].label == 0);
    CHECK(results[0]->classes[2].score == doctest::Approx(1 / (e + 2)));
    REQUIRE(m->labels());
    CHECK(*m->labels() == std::vector<std::string>{"red", "green", "blue"});
    CHECK(
      m->summary()
      == backend
           + " means_dynamic.onnx [N,3,8,8] float32 -> [N,3], decode classify, 3 labels from the "
             "model's metadata");
    CHECK(m->fixed_batch() == 0);
  }
}

TEST_CASE("what the model says of its input becomes the tensor's form") {
  for (const auto& backend : network_backends()) {
    const auto m = load(model_of(backend, "means_batch4"));
    CHECK(m->fixed_batch() == 4);
    const auto& p = m->input();
    CHECK(p.width == 8);
    CHECK(p.height == 8);
    CHECK(p.channels == channel_order::rgb);
    CHECK(p.layout == tensor_layout::nchw);
    CHECK(p.type == data_type::float32);
    CHECK(p.fit == fit_mode::stretch);
    CHECK(p.scale == doctest::Approx(1.0 / 255));
  }
}

TEST_CASE("settings of the input reach the tensor's form") {
  auto input = group();
  setting::list mean{initial_value(0.5), initial_value(0.25), initial_value(std::int64_t{1})};
  input->with("color", std::string{"bgr"})
    .with("fit", std::string{"crop"})
    .with("scale", 0.5)
    .with("mean", mean)
    .with("std", setting::list{initial_value(2.0)})
    .with("pad", std::int64_t{3})
    .with("size", pixel_size{8, 8});
  auto s = model_of("opencv", "means_dynamic");
  s.with("input", input);
  const auto m = load(s);
  const auto& p = m->input();
  CHECK(p.channels == channel_order::bgr);
  CHECK(p.fit == fit_mode::crop);
  CHECK(p.scale == 0.5F);
  CHECK(p.mean == std::array<float, 3>{0.5F, 0.25F, 1});
  CHECK(p.deviation == std::array<float, 3>{2, 2, 2});
  CHECK(p.pad_value == 3);
}

TEST_CASE("a model that takes any size takes the frames' own, or the one that is set") {
  for (const auto& backend : network_backends()) {
    const auto m = load(model_of(backend, "means_any_size"));
    CHECK(m->input().width == 0);
    CHECK(m->input().height == 0);
    for (auto [width, height] : {std::pair{8U, 8U}, {20U, 12U}}) {
      plain_slots in(*m, {{1, 2, 3}, {3, 2, 1}}, {}, width, height);
      const auto results = run(*m, in.input());
      CHECK(results[0]->classes.at(0).label == 2);
      CHECK(results[1]->classes.at(0).label == 0);
    }
    plain_slots in(*m, {{1, 2, 3}});
    in.input().width = 0;
    auto session = m->make_session();
    CHECK(
      (*session)->run(in.input()).error().message
      == "takes frames of any size, so a batch must say which size it has");

    auto input = group();
    input->with("size", pixel_size{16, 10});
    auto s = model_of(backend, "means_any_size");
    s.with("input", input);
    CHECK(load(s)->input().width == 16);
    CHECK(load(s)->input().height == 10);
  }
}

TEST_CASE("bytes, halves and one channel") {
  for (const auto& backend : network_backends()) {
    const auto gray = load(model_of(backend, "mean_gray"));
    CHECK(gray->input().channels == channel_order::gray);
    plain_slots in(*gray, {{0.25F, 0, 0}, {0.75F, 0, 0}});
    const auto results = run(*gray, in.input());
    CHECK(results[1]->classes.at(0).score == doctest::Approx(0.75));
  }
  if (!has_onnxruntime())
    return;
  const auto bytes = load(model_of("onnxruntime", "means_uint8_nhwc"));
  CHECK(bytes->input().type == data_type::uint8);
  CHECK(bytes->input().layout == tensor_layout::nhwc);
  CHECK(bytes->input().scale == 1);
  plain_slots in(*bytes, {{10, 200, 3}, {0, 1, 255}});
  const auto results = run(*bytes, in.input());
  CHECK(results[0]->classes.at(0).label == 1);
  CHECK(results[1]->classes.at(0).label == 2);

  const auto halves = load(raw(model_of("onnxruntime", "means_float16")));
  CHECK(halves->input().type == data_type::float16);
  plain_slots half_in(*halves, {{0.5F, 0.25F, -1}});
  const auto out = run(*halves, half_in.input());
  REQUIRE(out[0]->raw.at(0).type == data_type::float16);
  std::uint16_t value = 0;
  std::memcpy(&value, out[0]->raw[0].bytes.data() + 4, 2);
  CHECK(float_from_half(value) == -1);
}

TEST_CASE("a time axis: one result for each run of frames, on its last valid slot") {
  if (!has_onnxruntime())
    return;
  const auto m = load(model_of("onnxruntime", "brightest_of_3"));
  CHECK(m->time_axis() == 3);
  CHECK(m->fixed_batch() == 0);
  CHECK(!m->result_per_slot());
  const std::vector<plain_slots::colour> frames{{1, 1, 1}, {5, 5, 5}, {2, 2, 2},
                                                {9, 9, 9}, {3, 3, 3}, {4, 4, 4},
                                                {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  plain_slots in(*m, frames, {1, 1, 1, 1, 1, 0, 0, 0, 0});
  const auto results = run(*m, in.input());
  REQUIRE(results[2]);
  CHECK(results[2]->classes.at(0).label == 1);
  REQUIRE(results[4]);
  CHECK(results[4]->classes.at(0).label == 0);
  for (std::size_t i : {0, 1, 3, 5, 6, 7, 8})
    CHECK(!results[i]);

  plain_slots odd(*m, {{1, 1, 1}, {1, 1, 1}});
  auto session = m->make_session();
  CHECK((*session)->run(odd.input()).error().message == "takes runs of 3 frames, found 2 slots");

  auto input = group();
  input->with("time", std::int64_t{2});
  auto s = model_of("onnxruntime", "brightest_of_t");
  s.with("input", input);
  const auto open = load(s);
  CHECK(open->time_axis() == 2);
  plain_slots two(*open, {{1, 1, 1}, {5, 5, 5}});
  CHECK(run(*open, two.input())[1]->classes.at(0).label == 1);
}

TEST_CASE("several inputs and outputs") {
  if (has_onnxruntime()) { // OpenCV 4.6 takes several inputs only with fixed shapes
    auto s = raw(model_of("onnxruntime", "gain"));
    auto input = group();
    input->with("values", list_of({"gain=2"}));
    s.with("input", input);
    const auto m = load(s);
    plain_slots in(*m, {{1, 2, 3}, {4, 5, 6}});
    CHECK(raw_values(run(*m, in.input())[1], 1) == std::vector<float>{8, 10, 12});
  }
  for (const auto& backend : network_backends()) {
    auto s = raw(model_of(backend, "joined"));
    CHECK(
      message(s)
      == "has a further input more [2,2] that no frames go to: give it a value, `input: { values: "
         "[\"more=1\"] }`");
    auto input = group();
    input->with("values", list_of({"more=-1,10"}));
    s.with("input", input);
    const auto m = load(s);
    plain_slots in(*m, {{1, 2, 3}, {4, 5, 6}});
    const auto results = run(*m, in.input());
    REQUIRE(results[1]->raw.size() == 2);
    CHECK(results[1]->raw[0].name == "plain");
    CHECK(results[1]->raw[1].name == "all");
    CHECK(raw_values(results[1], 0) == std::vector<float>{4, 5, 6});
    CHECK(raw_values(results[1], 1) == std::vector<float>{4, 5, 6, -1, 10});
    CHECK(results[0]->raw[0].shape == std::vector<std::int64_t>{3});

    auto output = group();
    output->with("name", std::string{"all"});
    s.with("output", output);
    const auto one = load(s);
    CHECK(run(*one, in.input())[1]->classes.at(0).label == 4);
  }
}

TEST_CASE("an output without a slot axis: one result for the hyperframe, on its last valid slot") {
  if (!has_onnxruntime()) // OpenCV 4.6 computes means over the batch per sample
    return;
  const auto m = load(raw(model_of("onnxruntime", "means_of_all")));
  CHECK(!m->result_per_slot());
  plain_slots in(*m, {{1, 2, 3}, {100, 100, 100}, {3, 4, 9}, {0, 0, 0}}, {1, 0, 1, 0});
  const auto results = run(*m, in.input());
  CHECK(raw_values(results[2]) == std::vector<float>{2, 3, 6});
  for (std::size_t i : {0, 1, 3})
    CHECK(!results[i]);
}

TEST_CASE("yolo: decoded by shape, suppressed, in the frame's pixels, the same in both backends") {
  for (const auto& backend : network_backends())
    for (const char* name : {"yolov5", "yolov8", "yolov8_open"}) {
      const auto m = load(model_of(backend, name));
      CAPTURE(m->summary());
      CHECK(
        m->summary().find(std::string{"decode "} + std::string{name}.substr(0, 6))
        != std::string::npos);
      CHECK(m->input().fit == fit_mode::letterbox);
      plain_slots in(*m, {{1, 1, 1}, {0.5F, 0.5F, 0.5F}});
      in.geometry()[1] = {0.5F, 0.5F, 0, 4, 64, 48}; // 64x48 letterboxed into 32x32
      const auto results = run(*m, in.input());
      const auto& full = results[0]->boxes;
      REQUIRE(full.size() == 3);
      CHECK(full[0].score == doctest::Approx(0.9));
      CHECK(full[0].label == 0);
      CHECK(full[0].x == doctest::Approx(12));
      CHECK(full[0].y == doctest::Approx(10));
      CHECK(full[0].width == doctest::Approx(8));
      CHECK(full[0].height == doctest::Approx(12));
      CHECK(full[1].label == 1);
      CHECK(full[1].score == doctest::Approx(0.7));
      CHECK(full[2].x == doctest::Approx(0)); // reached out to -4
      CHECK(full[2].width == doctest::Approx(12));

      const auto& half = results[1]->boxes;
      REQUIRE(half.size() == 3);
      CHECK(half[0].score == doctest::Approx(0.45));
      CHECK(half[0].x == doctest::Approx(24));
      CHECK(half[0].y == doctest::Approx(12));
      CHECK(half[0].width == doctest::Approx(16));
      CHECK(half[2].y == doctest::Approx(0)); // the padding above is cut off
      CHECK(half[2].height == doctest::Approx(16));
    }
}

TEST_CASE("ssd: boxes and scores in two outputs, or rows that name their picture") {
  for (const auto& backend : network_backends()) {
    for (const char* name : {"ssd", "ssd_rows"}) {
      const auto m = load(model_of(backend, name));
      CAPTURE(m->summary());
      plain_slots in(*m, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {1, 0, 1});
      in.geometry()[2] = {0.1F, 0.1F, 0, 0, 80, 80};
      const auto results = run(*m, in.input());
      CHECK(!results[1]);
      REQUIRE(results[0]->boxes.size() == 2);
      CHECK(results[0]->boxes[0].label == 1);
      CHECK(results[0]->boxes[0].x == doctest::Approx(2));
      CHECK(results[0]->boxes[0].height == doctest::Approx(2));
      CHECK(results[0]->boxes[1].label == 2);
      REQUIRE(results[2]->boxes.size() == 2);
      CHECK(results[2]->boxes[0].x == doctest::Approx(20));
      CHECK(results[2]->boxes[0].width == doctest::Approx(40));
    }
  }
}

TEST_CASE("a model that fails for one frame fails its batch, and the session works on") {
  if (has_onnxruntime()) {
    const auto m = load(model_of("onnxruntime", "fails"));
    auto session = m->make_session();
    plain_slots bad(*m, {{0, 0, 0}, {9, 9, 9}});
    const auto failed = (*session)->run(bad.input());
    REQUIRE(!failed.has_value());
    CHECK(failed.error().code == errc::model_failed);
    CHECK(failed.error().message.find("the run failed: ") == 0);
    plain_slots good(*m, {{0, 0, 0}, {1, 1, 1}});
    const auto results = (*session)->run(good.input());
    REQUIRE(results.has_value());
    CHECK((*results)[1]->classes.at(0).label == 1);
    plain_slots masked(*m, {{0, 0, 0}, {9, 9, 9}, {1, 1, 1}}, {1, 0, 1});
    CHECK((*session)->run(masked.input()).has_value()); // what is masked is not computed
  }
  for (const auto& backend : network_backends()) {
    const auto m = load(model_of(backend, "divides"));
    auto session = m->make_session();
    plain_slots bad(*m, {{1, 2, 3}, {0, 0, 0}});
    const auto failed = (*session)->run(bad.input());
    REQUIRE(!failed.has_value());
    CHECK(
      failed.error().message
      == "slot 1: the model gave class scores that are not finite numbers (NaN or infinite)");
    plain_slots good(*m, {{1, 2, 3}});
    CHECK((*session)->run(good.input()).has_value());
  }
}

TEST_CASE("sessions are independent, and a batch of the wrong size is refused") {
  for (const auto& backend : network_backends()) {
    const auto m = load(model_of(backend, "means_dynamic"));
    auto a = m->make_session(), b = m->make_session();
    REQUIRE(a.has_value());
    REQUIRE(b.has_value());
    plain_slots in(*m, {{1, 2, 3}});
    CHECK((*a)->run(in.input()).value()[0]->classes.at(0).label == 2);
    CHECK((*b)->run(in.input()).value()[0]->classes.at(0).label == 2);
    in.input().slots = 2;
    CHECK(
      (*a)->run(in.input()).error().message
      == "expected 768 bytes for each of 2 slots, found 768 in all");
    in.input().slots = 1;
    in.input().geometry = {};
    CHECK(
      (*a)->run(in.input()).error().message
      == "expected a geometry and a mask for each of 1 slots");
    in.input().slots = 0;
    CHECK((*a)->run(in.input()).value().empty());
  }
}

TEST_CASE("labels from settings, from a file, and their number") {
  auto s = model_of("opencv", "means_dynamic");
  auto output = group();
  output->with("labels", list_of({"a", "b", "c"}));
  s.with("output", output);
  CHECK(*load(s)->labels() == std::vector<std::string>{"a", "b", "c"});
  output->with("labels", list_of({"models/three.txt"}));
  CHECK(*load(s)->labels() == std::vector<std::string>{"one", "two words", "three"});
  output->with("labels", list_of({}));
  CHECK(!load(s)->labels());
  output->with("labels", list_of({"a", "b"}));
  CHECK(message(s) == "`output.labels` has 2 names, the model has 3 classes");
  output->with("labels", list_of({"models/nowhere.txt"}));
  CHECK(message(s) == "the file '" + folder + "/models/nowhere.txt' does not exist");
}

TEST_CASE("what does not fit is a load error that says what was expected and found") {
  const auto with_input = [](const char* model, auto set) {
    auto s = model_of("auto", model);
    auto input = group();
    set(*input);
    s.with("input", input);
    return message(s);
  };
  const auto with_output = [](const char* model, auto set) {
    auto s = model_of("auto", model);
    auto output = group();
    set(*output);
    s.with("output", output);
    return message(s);
  };
  CHECK(
    message(model_of("auto", "nowhere"))
    == "the file '" + folder + "/models/nowhere.onnx' does not exist");
  settings none;
  CHECK(
    message(none)
    == "backend '" + model_backends().front() + "' needs `model`, the path of a file");
  settings directory;
  directory.with("model", std::string{"models"});
  CHECK(message(directory) == "'" + folder + "/models' is a folder, expected a file");
  CHECK(
    message(model_of("hog", "gain"))
    == "backend 'hog' holds its own model: remove `model`, or use backend cascade, opencv or "
       "onnxruntime");

  CHECK(
    with_input(
      "means_dynamic",
      [](settings& i) {
        i.with("size", pixel_size{16, 16});
      })
    == "`input.size` is 16x16 but the model takes image [N,3,8,8]: remove it, or export the model "
       "for that size");
  CHECK(
    with_input("means_dynamic", [](settings& i) { i.with("color", std::string{"gray"}); })
    == "input image [N,3,8,8] has 3 channels, `input.color` gives 1: set `input.color` or "
       "`input.layout`");
  CHECK(
    with_input("means_dynamic", [](settings& i) { i.with("layout", std::string{"nhwc"}); })
    == "input image [N,3,8,8] has 8 channels, `input.color` gives 3: set `input.color` or "
       "`input.layout`");
  CHECK(
    with_input("means_dynamic", [](settings& i) { i.with("name", std::string{"picture"}); })
    == "has no input named 'picture', found image [N,3,8,8]");
  CHECK(
    with_input("means_dynamic", [](settings& i) { i.with("time", std::int64_t{2}); })
    == "`input.time` is set but input image [N,3,8,8] has no time axis");
  CHECK(
    with_input(
      "means_dynamic",
      [](settings& i) {
        i.with("mean", setting::list{initial_value(1.0), initial_value(1.0)});
      })
    == "`mean` and `std` of `input` take one number, or one per channel, found 2");
  CHECK(
    with_input(
      "mean_gray",
      [](settings& i) {
        i.with("mean", setting::list{initial_value(1.0), initial_value(1.0), initial_value(1.0)});
      })
    == "`input.mean` and `input.std` have 3 numbers for 1 channels");
  CHECK(
    with_input(
      "means_dynamic",
      [](settings& i) { i.with("std", setting::list{initial_value(std::int64_t{0})}); })
    == "`input.std` must not be 0: pixels are divided by it");
  CHECK(
    with_input("means_dynamic", [](settings& i) { i.with("values", list_of({"gain=2"})); })
    == "`input.values` has 'gain=2' but the model's inputs are image [N,3,8,8]");
  CHECK(
    with_input("gain", [](settings& i) { i.with("values", list_of({"gain=two"})); })
    == "`input.values` has 'gain=two', expected numbers with commas between");
  CHECK(
    with_input("gain", [](settings& i) { i.with("values", list_of({"gain=1,2"})); })
    == "`input.values` has 2 numbers for input gain [1,3], expected 1 or 3");
  CHECK(
    message(model_of("auto", "five_channels"))
    == "input image [N,5,8,8] has neither 1 nor 3 channels, frames have");
  CHECK(
    message(model_of("auto", "no_picture"))
    == "has no input of the shape [N,C,H,W], [N,H,W,C] or [N,T,C,H,W], found words [N,7]");
  CHECK(
    with_output("means_dynamic", [](settings& o) { o.with("decode", std::string{"yolov8"}); })
    == "`output.decode: yolov8` expects an output [N,4+classes,boxes], found logits [N,3]: set "
       "`output.decode` to another, raw takes all");
  CHECK(
    with_output("yolov8", [](settings& o) { o.with("decode", std::string{"classify"}); })
    == "`output.decode: classify` expects an output [N,classes], found boxes [N,6,21]: set "
       "`output.decode` to another, raw takes all");
  CHECK(with_output("gain", [](settings&) {}).find("has a further input gain") == 0);
  CHECK(
    with_output(
      "means_dynamic",
      [](settings& o) {
        o.with("name", std::string{"boxes"}).with("decode", std::string{"classify"});
      })
    == "has no output named 'boxes', found logits [N,3]");
  if (has_onnxruntime()) {
    CHECK(
      message(model_of("auto", "brightest_of_t"))
      == "input clip [N,?,3,8,8] leaves its time axis open: set `input.time`");
    CHECK(
      with_input("brightest_of_3", [](settings& i) { i.with("time", std::int64_t{2}); })
      == "`input.time` is 2 but the model takes clip [N,3,3,8,8]: remove it, or export the model "
         "for that many frames");
    CHECK(
      message(model_of("auto", "channels_before_time"))
      == "input clip [N,3,5,8,8] has its time axis behind the channels, expected [N,T,C,H,W]: "
         "export the model with the two axes exchanged");
    CHECK(
      with_input("means_uint8_nhwc", [](settings& i) { i.with("scale", 0.5); })
      == "input image [N,8,8,3] is uint8 and takes pixels as they are: remove `scale`, `mean` and "
         "`std`");
    settings text = model_of("onnxruntime", "x");
    text.with("model", std::string{"models/three.txt"});
    CHECK(message(text).find("ONNX Runtime cannot read it: ") == 0);
  }
}

TEST_CASE("what OpenCV cannot read is a load error that says what to do") {
  settings s;
  s.with("backend", std::string{"opencv"}).with("model", std::string{"models/damaged.onnx"});
  const auto text = message(s);
  CHECK(text.find("OpenCV ") == 0);
  CHECK(text.find("cannot read this model (") != std::string::npos);
  CHECK(
    text.find(
      "): use backend onnxruntime, or export the model again, simplified or with an older opset")
    != std::string::npos);
}

TEST_CASE("a backend that is not in the build is named") {
  settings s = model_of("tensorrt", "means_dynamic");
  CHECK(
    message(s)
    == "backend 'tensorrt' is not in this build: use auto or opencv, or build with ONNX Runtime "
       "(tools/setup brings it)");
}

TEST_CASE(
  "every parameter of the model has a sentence of help, and defaults that the reader has too") {
  const auto check = [](const auto& self, const std::vector<parameter>& all) -> void {
    for (const auto& p : all) {
      CAPTURE(p.name);
      CHECK(p.help.size() > 10);
      CHECK(p.help.back() == '.');
      if (p.type == parameter_type::choice)
        CHECK(!p.choices.empty());
      self(self, p.fields);
    }
  };
  check(check, model_parameters());
}
