#include "tests/actors/align_run.hpp"

using namespace hyperframes;

namespace {

/// Frames of `member` at a period of `period` ms, in [from, to).
void give(
  std::vector<happening>& events, std::uint32_t member, int from, int to, int period,
  int late = 0) {
  for (int at = from; at < to; at += period)
    events.push_back(arrival{at + late, member, static_cast<std::uint64_t>(at / period), at});
}

std::vector<happening> in_order(std::vector<happening> events) {
  std::ranges::stable_sort(events, {}, [](const happening& h) {
    return std::visit([](const auto& e) { return e.at; }, h);
  });
  return events;
}

} // namespace

TEST_CASE("a mute stream is silent after the grace time, is not waited for, and rejoins at once") {
  std::vector<happening> events;
  give(events, 0, 0, 2000, 100);
  give(events, 1, 0, 200, 100, 5);
  give(events, 1, 1600, 2000, 100, 5);
  const auto text = align_run{{}}(in_order(events));
  CHECK(
    text
    == "5: [0:0 1:0]; 105: [0:1 1:1]; "
       "240: [0:2 -]; 340: [0:3 -]; 440: [0:4 -]; 540: [0:5 -]; 640: [0:6 -]; 740: [0:7 -]; "
       "840: [0:8 -]; 940: [0:9 -]; 1040: [0:10 -]; 1140: [0:11 -]; "
       // Missed since 200, when the other went on without it.
       "1200: [0:12 -]; 1200: 1 silent since 105; 1300: [0:13 -]; 1400: [0:14 -]; 1500: [0:15 -]; "
       "1600: [0:16 -]; 1605: [- 1:16]; 1605: 1 back; "
       "1705: [0:17 1:17]; 1805: [0:18 1:18]; 1905: [0:19 1:19]; ");
}

TEST_CASE("who is silent, and from when") {
  struct row {
    const char* what;
    duration silent_after;
    double fps; ///< declared by the second member
    std::vector<happening> events;
    std::vector<std::string> told;
  };
  std::vector<happening> never_came, slow, undeclared, all, ended;
  give(never_came, 0, 0, 2000, 100);
  give(slow, 0, 0, 4000, 100);
  slow.push_back(arrival{0, 1, 0, 0});
  give(undeclared, 0, 0, 12000, 100);
  give(undeclared, 1, 0, 12000, 1500);
  give(all, 0, 0, 500, 100);
  give(all, 1, 0, 500, 100);
  give(all, 0, 9000, 9500, 100);
  give(all, 1, 9100, 9500, 100);
  ended = {arrival{0, 0, 0, 0}, arrival{0, 1, 0, 0}, ending{10, 1, 1}};
  give(ended, 0, 100, 3000, 100);
  const std::vector<row> rows{
    {"one that never came", 1s, 30, never_came, {"1000: 1 silent"}},
    {"a shorter grace", 300ms, 30, never_came, {"300: 1 silent"}},
    {"three periods of a slow stream", 1s, 1, slow, {"3100: 1 silent since 0"}},
    {"an undeclared slow one is known after four gaps",
     1s,
     0,
     undeclared,
     {"1100: 1 silent since 0", "1500: 1 back", "2600: 1 silent since 1500", "3000: 1 back",
      "4100: 1 silent since 3000", "4500: 1 back", "5600: 1 silent since 4500", "6000: 1 back"}},
    {"nobody, while the whole group pauses", 1s, 30, all, {}},
    {"not one that has ended", 1s, 30, ended, {}},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    align_options o;
    o.silent_after = r.silent_after;
    std::istringstream text{align_run{o, {{0, 30}, {1, r.fps}}}(in_order(r.events))};
    std::vector<std::string> told;
    for (std::string part; std::getline(text, part, ';');)
      if (part.find("silent") != part.npos || part.find("back") != part.npos)
        told.push_back(part.substr(part.find_first_not_of(' ')));
    CHECK(told == r.told);
  }
}

TEST_CASE("who has no camera is not waited for until a frame comes, and nobody calls it silent") {
  struct row {
    const char* what;
    bool live;
    std::vector<happening> events;
    const char* expected;
  };
  const ending goes{1, 1, 1, false, 0, true};
  const std::vector<row> rows{
    {"its camera goes, and comes again after a long time",
     true,
     {arrival{0, 0, 0, 0}, arrival{0, 1, 0, 0}, goes, arrival{100, 0, 1, 100}, arrival{3000, 0, 2, 3000},
      arrival{3100, 1, 0, 3100, 1}, arrival{3101, 0, 3, 3100}, arrival{3200, 0, 4, 3200}, moment{3300}},
     "0: [0:0 1:0]; 1: end 1; 100: [0:1 -]; 3000: [0:2 -]; 3101: [0:3 1:0]; 3240: [0:4 -]; "},
    {"what it gave before still finds its partners",
     true,
     {arrival{0, 1, 0, 0}, goes, arrival{5, 0, 0, 0}},
     "5: [0:0 1:0]; 5: end 1; "},
    {"a file beside it goes on",
     false,
     {arrival{0, 0, 0, 0}, arrival{0, 1, 0, 0}, goes, arrival{2, 0, 1, 33}, arrival{3, 0, 2, 66}},
     "0: [0:0 1:0]; 1: end 1; 2: [0:1 -]; 3: [0:2 -]; "},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    align_options o;
    o.live = r.live;
    CHECK(align_run{o}(r.events) == r.expected);
  }
  // From the start.
  align_options o;
  align_run run{o, {{0, 30}, {.stream = 1, .fps = 30, .attached = false}}};
  CHECK(
    run({arrival{0, 0, 0, 0}, arrival{2000, 0, 1, 2000}, arrival{2100, 1, 0, 2100}, arrival{2101, 0, 2, 2100}})
    == "0: [0:0 -]; 2000: [0:1 -]; 2101: [0:2 1:0]; ");
}

TEST_CASE("files are never silent") {
  align_options o;
  o.live = false;
  align_run run{o};
  CHECK(run({arrival{0, 0, 0, 0}, moment{100'000}}).empty());
  CHECK(run.tested().due() == never);
}

TEST_CASE("a new epoch of one member releases at most one set early, and others do not notice") {
  const auto run = [](std::vector<happening> second) {
    std::vector<happening> events;
    give(events, 0, 0, 400, 33);
    give(events, 2, 0, 400, 33, 2);
    events.insert(events.end(), second.begin(), second.end());
    return align_run{{}, 3}(in_order(events));
  };
  std::vector<happening> same, other;
  give(same, 1, 0, 400, 33, 1);
  for (std::size_t i = 0; i < same.size(); ++i) {
    auto a = std::get<arrival>(same[i]);
    if (i == 6)
      other.push_back(ending{a.at, 1, 6, false});
    if (i >= 6)
      a = {a.at, 1, a.id - 6, a.captured + 1, 1}; // its clock model has to learn anew
    other.push_back(a);
  }
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
      ++n;
    return n;
  };
  CHECK(count(run(same), "-") == 0);
  const auto text = run(other);
  CHECK(count(text, "-") == 0);
  CHECK(count(text, "dropped") == 0);
  CHECK(count(text, "[") == same.size());
  CHECK(text.find("end 1") < text.find("[0:6 1:0 2:6]"));
}
