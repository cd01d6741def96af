#include "tests/actors/align_run.hpp"

#include <cstring>

using namespace hyperframes;

namespace {

media_type_ptr vectors(std::int64_t elements) {
  auto type = std::make_shared<media_type>();
  type->what = media_type::kind::tensor;
  type->tensor = {data_type::float32, {elements}};
  return type;
}

const auto images = make_video_type(video_format::packed(pixel_format::gray8, 4, 2));

align_options by(match_rule match) {
  align_options o;
  o.match = match;
  return o;
}

/// Two values: the place on the time line in ms, and minus that.
struct sensor_content {
  buffer_pool pool{64, 64};
  media_type_ptr type = vectors(2);
  void operator()(const arrival& a, frame& f) {
    f.buffer = pool.acquire();
    f.media = a.member == 0 ? images : type;
    const float values[2]{static_cast<float>(a.captured), static_cast<float>(-a.captured)};
    std::memcpy(f.buffer.data(), values, sizeof values);
  }
};

std::vector<float> values_of(const aligned_set_ptr& set, std::size_t member) {
  std::vector<float> v(2);
  std::memcpy(v.data(), set->members[member].item->buffer.data(), 2 * sizeof(float));
  return v;
}

/// An image at 0 and a sensor at 1.
const std::vector<align_member> image_and_sensor{{0, 30, false}, {1, 100, true}};

} // namespace

TEST_CASE("linear gives a sensor's value at the image's moment") {
  sensor_content content;
  align_run run{by(match_rule::linear), image_and_sensor};
  run.make = std::ref(content);
  // The sensor is faster; the image comes late. What lies between the images ends unmatched.
  const auto text = run(
    {arrival{0, 1, 0, 0}, arrival{10, 1, 1, 10}, arrival{20, 1, 2, 20}, arrival{30, 1, 3, 30},
     arrival{30, 0, 0, 14}, arrival{40, 1, 4, 40}, arrival{50, 1, 5, 50}, arrival{55, 0, 1, 47}});
  CHECK(
    text
    == "30: [0:0 1:1~]; 30: 1:0 dropped (unmatched); 55: [0:1 1:4~]; 55: 1:2 dropped (unmatched); "
       "55: 1:3 dropped (unmatched); ");
  CHECK(values_of(run.sets[0], 1) == std::vector<float>{14, -14});
  CHECK(values_of(run.sets[1], 1) == std::vector<float>{47, -47});
  CHECK(run.sets[1]->members[1].item->meta.timeline == ms(47));
  CHECK(run.sets[1]->moment == ms(47));
}

TEST_CASE("what linear waits for, and what it takes where a neighbour is missing") {
  struct row {
    const char* what;
    std::vector<happening> events;
    const char* expected;
  };
  const std::vector<row> rows{
    {"the neighbour behind the image",
     {arrival{0, 1, 0, 0}, arrival{5, 0, 0, 5}, arrival{20, 1, 1, 20}},
     "20: [0:0 1:0~]; "},
    {"a slow sensor's value is context in later sets",
     {arrival{0, 1, 0, 0}, arrival{5, 0, 0, 5}, arrival{8, 0, 1, 30}, arrival{10, 1, 1, 60}},
     "10: [0:0 1:0~]; 10: [0:1 (1:0~)]; "},
    {"at the same moment it is taken as it is",
     {arrival{0, 1, 0, 5}, arrival{6, 0, 0, 5}},
     "6: [0:0 1:0]; "},
    {"at the wait, the nearer one within the tolerance",
     {arrival{0, 1, 0, 0}, arrival{5, 0, 0, 5}, moment{100}},
     "40: 1:0 dropped (unmatched); 45: [0:0 (1:0)]; "},
    {"at the wait, none beyond the tolerance",
     {arrival{0, 1, 0, 0}, arrival{15, 0, 0, 15}, moment{100}},
     "40: 1:0 dropped (unmatched); 55: [0:0 -]; "},
    {"the first value lies behind the image",
     {arrival{10, 0, 0, 5}, arrival{11, 1, 0, 9}},
     "11: [0:0 1:0]; "},
    {"the sensor has ended",
     {arrival{0, 1, 0, 0}, ending{1, 1, 1}, arrival{5, 0, 0, 5}},
     "5: [0:0 1:0]; 5: end 1; "},
    {"the images have ended",
     {arrival{0, 1, 0, 0}, ending{1, 0, 0}},
     "1: end 0; 1: 1:0 dropped (unmatched); "},
    {"neighbours of two epochs are not mixed",
     {arrival{0, 1, 0, 0}, arrival{5, 0, 0, 6}, arrival{8, 1, 0, 9, 1}},
     "8: [0:0 1:0]; "},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    sensor_content content;
    align_run run{by(match_rule::linear), image_and_sensor};
    run.make = std::ref(content);
    CHECK(run(r.events) == r.expected);
  }
}

TEST_CASE("linear does not bridge a gap beyond max_age") {
  auto o = by(match_rule::linear);
  o.max_age = 100ms;
  sensor_content content;
  align_run run{o, image_and_sensor};
  run.make = std::ref(content);
  CHECK(
    run(
      {arrival{0, 1, 0, 0}, arrival{80, 0, 0, 80}, arrival{100, 1, 1, 100}, arrival{350, 0, 1, 350},
       arrival{370, 1, 2, 370}})
    == "40: 1:0 dropped (unmatched); 100: [0:0 (1:0~)]; 140: 1:1 dropped (unmatched); 370: [0:1 "
       "-]; ");
}

TEST_CASE("linear matches images with each other as nearest does") {
  align_run run{by(match_rule::linear), {{0, 30, false}, {1, 30, false}, {2, 100, true}}};
  sensor_content content;
  run.make = [&](const arrival& a, frame& f) {
    if (a.member == 2)
      content(a, f);
  };
  CHECK(
    run(
      {arrival{0, 2, 0, 0}, arrival{4, 1, 0, 4}, arrival{5, 0, 0, 2}, arrival{10, 2, 1, 10},
       arrival{50, 0, 1, 40}, moment{100}})
    == "10: [0:0 1:0 2:0~]; 50: 2:1 dropped (unmatched); 90: [0:1 - -]; ");
}

TEST_CASE("linear without images is paced by the fastest sensor") {
  sensor_content content;
  align_run run{by(match_rule::linear), {{0, 10, true}, {1, 100, true}}};
  run.make = [&](const arrival& a, frame& f) {
    content(a, f);
    f.media = content.type;
  };
  CHECK(
    run({arrival{0, 0, 0, 0}, arrival{10, 1, 0, 10}, arrival{20, 1, 1, 20}, arrival{40, 0, 1, 40}})
    == "40: [0:0~ 1:0]; 40: [(0:0~) 1:1]; ");
  CHECK(values_of(run.sets[1], 0) == std::vector<float>{20, -20});
}

TEST_CASE("without a free slot linear takes the nearer neighbour") {
  vector_interpolator two{2};
  sensor_content content;
  frame a = make_frame({0, 1, 0, 0}), b = make_frame({0, 1, 1, 10});
  content({0, 1, 0, 0}, a);
  content({0, 1, 1, 10}, b);
  const auto first = two.between(a, b, 0.25), second = two.between(a, b, 0.5);
  REQUIRE(first);
  CHECK(second);
  CHECK_FALSE(two.between(a, b, 0.5));
  CHECK((first->meta.flags & frame_interpolated) != 0);
  CHECK(first->meta.frame_id == 0);
  b.meta.flags = frame_corrupt;
  CHECK_FALSE(vector_interpolator{2}.between(a, b, 0.5));
  b.meta.flags = 0;
  b.media = vectors(3);
  CHECK_FALSE(vector_interpolator{2}.between(a, b, 0.5));
  b.media = images;
  CHECK_FALSE(vector_interpolator{2}.between(a, b, 0.5));
}

TEST_CASE("hold_last makes a set of each frame of the fastest stream") {
  buffer_pool pool{64, 64};
  struct row {
    const char* what;
    std::vector<happening> events;
    const char* expected;
  };
  const std::vector<row> rows{
    {"the last of the other is own once, and context afterwards",
     {arrival{0, 1, 0, 0}, arrival{5, 0, 0, 5}, arrival{38, 0, 1, 38}},
     "5: [0:0 1:0]; 38: [0:1 (1:0)]; "},
    {"nobody is waited for",
     {arrival{0, 0, 0, 0}, arrival{1, 1, 0, 0}, arrival{33, 0, 1, 33}},
     "0: [0:0 -]; 33: [0:1 1:0]; "},
    {"the newest is taken, the others have found no set",
     {arrival{0, 1, 0, 0}, arrival{4, 1, 1, 4}, arrival{5, 0, 0, 5}},
     "5: [0:0 1:1]; 5: 1:0 dropped (unmatched); "},
    {"one that no set has used within the wait",
     {arrival{0, 1, 0, 0}, moment{50}},
     "40: 1:0 dropped (unmatched); "},
    {"beyond its age the member is absent",
     {arrival{0, 1, 0, 0}, arrival{0, 0, 0, 0}, arrival{1000, 0, 1, 1000},
      arrival{1001, 0, 2, 1001}},
     "0: [0:0 1:0]; 1000: [0:1 (1:0)]; 1001: [0:2 -]; "},
    {"where the fastest has ended the next one paces",
     {arrival{0, 0, 0, 0}, arrival{1, 1, 0, 1}, ending{2, 0, 1}, arrival{500, 1, 1, 500}},
     "0: [0:0 -]; 2: [- 1:0]; 2: end 0; 500: [- 1:1]; "},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    align_run run{by(match_rule::hold_last), {{0, 30, false}, {1, 10, false}}};
    run.make = [&](const arrival&, frame& f) { f.buffer = pool.acquire(); };
    CHECK(run(r.events) == r.expected);
  }
}

TEST_CASE("while the fastest stream is silent the next one paces") {
  align_run run{by(match_rule::hold_last), {{0, 30, false}, {1, 10, false}}};
  buffer_pool pool{64, 64};
  run.make = [&](const arrival&, frame& f) { f.buffer = pool.acquire(); };
  CHECK(
    run(
      {arrival{0, 0, 0, 0}, arrival{100, 1, 0, 100}, arrival{1090, 1, 1, 1090},
       arrival{1200, 1, 2, 1200}, arrival{1300, 0, 1, 1300}, arrival{1310, 1, 3, 1310},
       arrival{1333, 0, 2, 1333}})
    == "0: [0:0 -]; 140: 1:0 dropped (unmatched); 1130: 1:1 dropped (unmatched); "
       "1200: [- 1:2]; 1200: 0 silent since 0; 1300: [0:1 (1:2)]; 1300: 0 back; 1333: [0:2 1:3]; ");
}

TEST_CASE("files that ride are waited for, so that sets do not depend on the machine's speed") {
  for (const auto match : {match_rule::linear, match_rule::hold_last}) {
    CAPTURE(static_cast<int>(match));
    auto o = by(match);
    o.live = false;
    o.depth = 1;
    align_run run{o, image_and_sensor};
    if (match == match_rule::hold_last)
      run.tested() = aligner{o, 5, {{0, 30, false}, {1, 10, false}}};
    sensor_content content;
    run.make = std::ref(content);
    run({arrival{0, 1, 0, 0}, arrival{1, 0, 0, 5}, moment{10'000}});
    CHECK(run.sets.empty());
    CHECK_FALSE(run.tested().takes(0));
    CHECK(run.tested().takes(1)); // it has to show what lies behind
    run({arrival{10'001, 1, 1, 20}});
    CHECK(run.sets.size() == 1);
    CHECK(run.sets[0]->members[1].own);
    CHECK(run.tested().held_frames() == 1);
    CHECK_FALSE(run.tested().takes(1));
    CHECK(run.tested().takes(0));
  }
}
