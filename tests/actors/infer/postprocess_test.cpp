#include "actors/infer/postprocess.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace hyperframes;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

template <class T>
tensor_view
view_of(const std::vector<T>& values, const std::vector<std::int64_t>& shape, data_type type) {
  return {"out", type, shape, reinterpret_cast<const std::byte*>(values.data())};
}

void check_box(
  const detection& d, float x, float y, float width, float height, float score, int label) {
  CHECK(d.x == doctest::Approx(x));
  CHECK(d.y == doctest::Approx(y));
  CHECK(d.width == doctest::Approx(width));
  CHECK(d.height == doctest::Approx(height));
  CHECK(d.score == doctest::Approx(score));
  CHECK(d.label == label);
}

} // namespace

TEST_CASE("classes: top k with softmax where scores are no probabilities") {
  struct row {
    std::vector<float> scores;
    softmax_rule rule;
    std::uint32_t k;
    std::vector<std::pair<int, double>> wanted;
  };
  const double e = std::exp(1.0);
  const row table[] = {
    {{1, 2}, softmax_rule::automatic, 2, {{1, e / (1 + e)}, {0, 1 / (1 + e)}}},
    {{0, 1}, softmax_rule::automatic, 1, {{1, 1}}}, // sums up to 1: taken as probabilities
    {{0.2F, 0.7F, 0.1F}, softmax_rule::automatic, 2, {{1, 0.7}, {0, 0.2}}},
    {{0.2F, 0.7F, 0.1F}, softmax_rule::always, 1, {{1, 0.46396343}}},
    {{0.9F, 0.8F}, softmax_rule::never, 2, {{0, 0.9}, {1, 0.8}}},
    {{0.9F, 0.8F}, softmax_rule::automatic, 1, {{0, 0.52497919}}},
    {{1000, 998}, softmax_rule::automatic, 1, {{0, 0.88079708}}}, // no overflow
    {{-1000, -1002}, softmax_rule::automatic, 1, {{0, 0.88079708}}},
    {{0.3F}, softmax_rule::automatic, 5, {{0, 0.3}}}, // one score: softmax would always say 1
    {{2, 2, 2},
     softmax_rule::automatic,
     2,
     {{0, 1.0 / 3}, {1, 1.0 / 3}}}, // equal: lower label first
  };
  for (const auto& r : table) {
    const auto found = top_classes(r.scores, r.rule, r.k);
    REQUIRE(found.has_value());
    REQUIRE(found->size() == r.wanted.size());
    for (std::size_t i = 0; i < r.wanted.size(); ++i) {
      CHECK((*found)[i].label == r.wanted[i].first);
      CHECK((*found)[i].score == doctest::Approx(r.wanted[i].second));
    }
  }
}

TEST_CASE("classes: scores that are no numbers fail the frame") {
  for (const auto& scores : {std::vector<float>{1, not_a_number}, {infinite, 0}, {-infinite, 0}}) {
    const auto found = top_classes(scores, softmax_rule::automatic, 1);
    REQUIRE(!found.has_value());
    CHECK(found.error().code == errc::model_failed);
    CHECK(
      found.error().message
      == "the model gave class scores that are not finite numbers (NaN or infinite)");
  }
  CHECK(top_classes({}, softmax_rule::automatic, 1).error().message == "there are no class scores");
}

TEST_CASE("yolov5: score is objectness times the best class") {
  const std::vector<float> rows{
    16,
    20,
    8,
    4,
    0.5F,
    0.2F,
    0.9F, // 0.45 of class 1
    1,
    1,
    2,
    2,
    0.2F,
    1.0F,
    0.0F, // 0.2: below 0.25
    5,
    5,
    2,
    2,
    not_a_number,
    1.0F,
    0.0F, // dropped
    5,
    5,
    2,
    2,
    1.0F,
    not_a_number,
    1.0F, // dropped
    5,
    5,
    2,
    2,
    1.0F,
    1.0F,
    not_a_number, // dropped
    not_a_number,
    5,
    2,
    2,
    1.0F,
    1.0F,
    0.0F, // dropped
    5,
    5,
    -2,
    2,
    1.0F,
    1.0F,
    0.0F, // dropped: turned inside out
  };
  const auto found = yolov5_boxes(rows, 7, 7, {});
  REQUIRE(found.has_value());
  REQUIRE(found->size() == 1);
  check_box(found->front(), 12, 18, 8, 4, 0.45F, 1);
}

TEST_CASE("yolov8: one column per box, score is the best class") {
  const std::vector<float> columns{
    16,   1,    5,            // centre x
    20,   1,    5,            // centre y
    8,    2,    2,            // width
    4,    2,    2,            // height
    0.1F, 0.2F, not_a_number, // class 0
    0.9F, 0.1F, 1,            // class 1
    0.3F, 0.0F, 0,            // class 2
  };
  const auto found = yolov8_boxes(columns, 7, 3, {});
  REQUIRE(found.has_value());
  REQUIRE(found->size() == 1);
  check_box(found->front(), 12, 18, 8, 4, 0.9F, 1);
}

TEST_CASE("ssd: boxes and scores, background and formats") {
  const std::vector<float> boxes{0.25F, 0.5F, 0.75F, 1.0F, 0, 0, 1, 1};
  const std::vector<float> scores{0.1F, 0.8F, 0.3F, 0.9F, 0.1F, 0.0F};
  ssd_rule rule;
  auto found = ssd_boxes(boxes, scores, 3, rule, {40, 20}, {});
  REQUIRE(found->size() == 1); // the second box is background
  check_box(found->front(), 10, 10, 20, 10, 0.8F, 1);

  rule.background = -1;
  CHECK(ssd_boxes(boxes, scores, 3, rule, {40, 20}, {})->size() == 2);

  rule = {box_format::corners_yx, true, 0};
  check_box(ssd_boxes(boxes, scores, 3, rule, {40, 20}, {})->front(), 20, 5, 20, 10, 0.8F, 1);

  rule = {box_format::centre, true, 0};
  check_box(ssd_boxes(boxes, scores, 3, rule, {40, 20}, {})->front(), -5, 0, 30, 20, 0.8F, 1);

  rule = {box_format::corners, false, 0};
  check_box(
    ssd_boxes(boxes, scores, 3, rule, {40, 20}, {})->front(), 0.25F, 0.5F, 0.5F, 0.5F, 0.8F, 1);
}

TEST_CASE("ssd rows: each names its picture") {
  const std::vector<float> rows{
    0,    1, 0.9F,
    0,    0, 0.5F,
    0.5F, //
    1,    2, 0.8F,
    0,    0, 1,
    1, // another picture
    0,    0, 0.9F,
    0,    0, 1,
    1, // background
    0,    3, 0.1F,
    0,    0, 1,
    1, // below the least score
    0,    1, not_a_number,
    0,    0, 1,
    1, // dropped
    -1,   0, 0,
    0,    0, 0,
    0, // unused
  };
  const auto first = ssd_rows(rows, 0, {}, {10, 10}, {});
  REQUIRE(first->size() == 1);
  check_box(first->front(), 0, 0, 5, 5, 0.9F, 1);
  const auto second = ssd_rows(rows, 1, {}, {10, 10}, {});
  REQUIRE(second->size() == 1);
  check_box(second->front(), 0, 0, 10, 10, 0.8F, 2);
  CHECK(ssd_rows(rows, 2, {}, {10, 10}, {})->empty());
  CHECK(ssd_rows({}, 0, {}, {10, 10}, {})->empty());
}

TEST_CASE("a frame whose scores are all NaN fails") {
  const std::vector<float> v5{1, 1, 1, 1, not_a_number, 1, 1, 1, 1, 1, 1, not_a_number};
  CHECK(yolov5_boxes(v5, 2, 6, {}).has_error());
  const std::vector<float> v8{1, 1, 1, 1, not_a_number};
  CHECK(
    yolov8_boxes(v8, 5, 1, {}).error().message
    == "the model gave box scores that are not finite numbers (NaN or infinite)");
  const std::vector<float> boxes{0, 0, 1, 1}, scores{0, not_a_number};
  CHECK(ssd_boxes(boxes, scores, 2, {}, {8, 8}, {}).has_error());
  const std::vector<float> rows{0, 1, not_a_number, 0, 0, 1, 1};
  CHECK(ssd_rows(rows, 0, {}, {8, 8}, {}).has_error());
}

TEST_CASE("suppression: per class, best first, by intersection over union") {
  const detection a{0, 0, 10, 10, 0.9F, 0};
  const detection same_place{0, 0, 10, 10, 0.8F, 0};
  const detection other_class{0, 0, 10, 10, 0.7F, 1};
  const detection third{5, 0, 10, 10, 0.6F, 0}; // 50 of 150 in common: 1/3
  const detection apart{50, 50, 10, 10, 0.95F, 0};
  struct row {
    float iou;
    std::uint32_t max;
    std::vector<float> scores;
  };
  const row table[] = {
    {0.45F, 300, {0.95F, 0.9F, 0.7F, 0.6F}},
    {0.30F, 300, {0.95F, 0.9F, 0.7F}},
    {1.0F, 300, {0.95F, 0.9F, 0.8F, 0.7F, 0.6F}},
    {0.45F, 2, {0.95F, 0.9F}},
  };
  for (const auto& r : table) {
    const auto kept = suppress({third, a, other_class, same_place, apart}, {0.25F, r.iou, r.max});
    std::vector<float> scores;
    for (const auto& d : kept)
      scores.push_back(d.score);
    CHECK(scores == r.scores);
  }
}

TEST_CASE("boxes go back to the frame's pixels and are clipped") {
  // 1280x720 letterboxed into 640x640: scale 0.5, 140 above and below.
  slot_geometry g{0.5F, 0.5F, 0, 140, 1280, 720};
  const auto boxes = in_frame(
    {
      {100, 240, 50, 60, 0.9F, 1},   // inside
      {-10, 130, 30, 30, 0.8F, 0},   // over the top left corner
      {600, 480, 100, 100, 0.7F, 0}, // over the bottom right corner
      {10, 10, 50, 50, 0.6F, 0},     // in the padding only
    },
    g);
  REQUIRE(boxes.size() == 3);
  check_box(boxes[0], 200, 200, 100, 120, 0.9F, 1);
  check_box(boxes[1], 0, 0, 40, 40, 0.8F, 0);
  check_box(boxes[2], 1200, 680, 80, 40, 0.7F, 0);
}

TEST_CASE("views: entries of the first axis, copies, other types as floats") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> shape{2, 3};
  const auto whole = view_of(values, shape, data_type::float32);
  const auto second = slice(whole, 1);
  CHECK(second.elements() == 3);
  const auto owned = copy_of(second);
  CHECK(owned.shape == std::vector<std::int64_t>{3});
  CHECK(owned.floats()[0] == 4);
  std::vector<float> scratch;
  CHECK(floats_of(second, scratch)[2] == 6);
  CHECK(scratch.empty()); // not copied
  CHECK(slice(second, 2).elements() == 1);

  const std::vector<std::int64_t> two{2};
  const std::vector<std::uint16_t> halves{0x3c00, 0xc000};
  CHECK(floats_of(view_of(halves, two, data_type::float16), scratch)[1] == -2);
  const std::vector<std::uint8_t> bytes{7, 255};
  CHECK(floats_of(view_of(bytes, two, data_type::uint8), scratch)[1] == 255);
  const std::vector<std::int32_t> ints{-3, 4};
  CHECK(floats_of(view_of(ints, two, data_type::int32), scratch)[0] == -3);
  const std::vector<std::int64_t> longs{-5, 6};
  CHECK(floats_of(view_of(longs, two, data_type::int64), scratch)[0] == -5);
}
