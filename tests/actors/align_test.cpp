#include "tests/actors/align_run.hpp"

using namespace hyperframes;

TEST_CASE("a set leaves as soon as it is the best that can come") {
  struct row {
    const char* what;
    std::vector<happening> events;
    const char* expected;
  };
  const std::vector<row> rows{
    {"with its last member", {arrival{0, 0, 0, 0}, arrival{3, 1, 0, 2}}, "3: [0:0 1:0]; "},
    {"at the edge of the tolerance", {arrival{0, 0, 0, 0}, arrival{3, 1, 0, 10}}, "3: [0:0 1:0]; "},
    {"when a member shows that it is past",
     {arrival{0, 0, 0, 0}, arrival{12, 1, 0, 11}},
     "12: [0:0 -]; "},
    {"when a member has ended", {arrival{0, 0, 0, 0}, ending{5, 1, 0}}, "5: [0:0 -]; 5: end 1; "},
    {"at once when it ended before",
     {ending{0, 1, 0}, arrival{5, 0, 0, 5}},
     "0: end 1; 5: [0:0 -]; "},
    {"at its wait", {arrival{0, 0, 0, 0}, moment{39}, moment{40}}, "40: [0:0 -]; "},
    {"an arrival comes before the timer of its time",
     {arrival{0, 0, 0, 0}, arrival{40, 1, 0, 0}},
     "40: [0:0 1:0]; "},
    {"the anchor is the earliest capture, not the first arrival",
     {arrival{0, 1, 0, 4}, arrival{2, 0, 0, 0}},
     "2: [0:0 1:0]; "},
    {"no frame waits longer for an anchor that came late",
     {arrival{0, 1, 0, 20}, arrival{30, 0, 0, 0}, arrival{31, 1, 1, 53}, moment{100}},
     "30: [0:0 -]; 40: [- 1:0]; 71: [- 1:1]; "},
    {"a lost frame costs no period",
     {arrival{0, 0, 0, 0}, arrival{0, 1, 0, 0}, arrival{33, 0, 1, 33}, arrival{66, 1, 1, 66},
      arrival{67, 0, 2, 66}},
     "0: [0:0 1:0]; 66: [0:1 -]; 67: [0:2 1:1]; "},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    CHECK(align_run{{}}(r.events) == r.expected);
  }
}

TEST_CASE("what came behind its set is stale, and everything leaves in order") {
  CHECK(
    align_run{{}}(
      {arrival{0, 0, 0, 0}, moment{50}, arrival{55, 1, 0, 2}, arrival{60, 1, 1, 60},
       arrival{61, 0, 1, 61}})
    == "40: [0:0 -]; 55: 1:0 dropped (stale); 61: [0:1 1:1]; ");
  // A frame in front of an anchor that left; its own stream had been in that set.
  CHECK(
    align_run{{}}({arrival{0, 0, 0, 20}, arrival{1, 1, 0, 20}, arrival{2, 0, 1, 12, 1}})
    == "1: [0:0 1:0]; 2: 0:1 dropped (stale); ");
}

TEST_CASE("a clock model that is still learning does not turn frames round") {
  CHECK(
    align_run{{}}(
      {arrival{0, 0, 0, 20}, arrival{1, 0, 1, 19}, arrival{2, 1, 0, 20}, arrival{3, 1, 1, 21}})
    == "2: [0:0 1:0]; 3: [0:1 1:1]; ");
}

TEST_CASE("matching by the device's counter") {
  align_options o;
  o.match = match_rule::frame_id;
  CHECK(
    align_run{o}(
      {arrival{0, 0, 0, 0, 0, 10}, arrival{5, 1, 0, 90, 0, 10}, arrival{6, 0, 1, 33, 0, 11},
       arrival{7, 1, 1, 120, 0, 12}, arrival{8, 0, 2, 66, 0, 12}, arrival{9, 1, 2, 9, 0, 11}})
    == "5: [0:0 1:0]; 7: [0:1 -]; 8: [0:2 1:1]; 9: 1:2 dropped (stale); ");
  // A device that counts anew is not stale for ever.
  CHECK(
    align_run{o}(
      {arrival{0, 0, 0, 0, 0, 10}, arrival{1, 1, 0, 0, 0, 10}, arrival{2, 0, 0, 33, 1, 0},
       arrival{3, 1, 0, 33, 1, 0}})
    == "1: [0:0 1:0]; 3: [0:0 1:0]; ");
}

TEST_CASE("ends leave behind their stream's frames") {
  CHECK(
    align_run{{}}({arrival{0, 0, 0, 0}, ending{1, 0, 1}, arrival{2, 1, 0, 0}, ending{3, 1, 1}})
    == "2: [0:0 1:0]; 2: end 0; 3: end 1; ");
  // An epoch's end is passed on, and the stream goes on being waited for.
  CHECK(
    align_run{{}}(
      {arrival{0, 0, 0, 0}, ending{1, 0, 1, false}, arrival{2, 1, 0, 0}, arrival{33, 1, 1, 33},
       arrival{35, 0, 0, 33, 1}})
    == "2: [0:0 1:0]; 2: end 0; 35: [0:0 1:1]; ");
  // A mute partner holds an end no longer than a frame.
  CHECK(
    align_run{{}}({arrival{0, 0, 0, 0}, ending{1, 0, 1}, moment{40}})
    == "40: [0:0 -]; 40: end 0; ");
}

TEST_CASE("beyond its depth a live stream forces the oldest set out") {
  align_options o;
  o.depth = 2;
  o.wait = 10s;
  CHECK(
    align_run{o}({arrival{0, 0, 0, 0}, arrival{33, 0, 1, 33}, arrival{66, 0, 2, 66}})
    == "66: [0:0 -]; ");
}

TEST_CASE("files are waited for, and the one that is ahead is held back") {
  align_options o;
  o.live = false;
  o.depth = 2;
  align_run run{o};
  CHECK(run({arrival{0, 0, 0, 0}, moment{5000}}).empty());
  CHECK(run.tested().due() == never);
  CHECK(run.tested().takes(0));
  CHECK(run({arrival{5001, 0, 1, 33}}).empty());
  CHECK_FALSE(run.tested().takes(0));
  CHECK(run.tested().takes(1));
  CHECK(run({arrival{9000, 1, 0, 0}}) == "9000: [0:0 1:0]; ");
  CHECK(run.tested().takes(0));
}
