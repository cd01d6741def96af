#include "tests/actors/align_run.hpp"

using namespace hyperframes;

namespace {

align_options within(duration tolerance) {
  align_options o;
  o.tolerance = tolerance;
  return o;
}

/// What ROS's approximate-time policy sends, by the description on
/// http://wiki.ros.org/message_filters/ApproximateTime, without age penalty or rate bounds: of the
/// complete sets that contain the pivot, the latest of the first frames, the one with the smallest
/// span, as soon as no frame to come can make a smaller one. In words, such as "5: 0:1 1:0; ".
class approximate_time {
public:
  approximate_time(std::uint32_t streams, int max_interval)
    : queues_(streams), most_(max_interval) {}

  std::string operator()(const std::vector<happening>& events) {
    for (const auto& e : events)
      if (const auto* a = std::get_if<arrival>(&e)) {
        queues_[a->member].push_back(*a);
        while (step(a->at))
          ;
      }
    return text_;
  }

private:
  using set = std::vector<std::size_t>; ///< an index into each queue
  int at(std::size_t stream, const set& s) const { return queues_[stream][s[stream]].captured; }
  std::pair<int, int> ends(const set& s) const {
    auto first = at(0, s), last = first;
    for (std::size_t i = 1; i < s.size(); ++i) {
      first = std::min(first, at(i, s));
      last = std::max(last, at(i, s));
    }
    return {first, last};
  }
  std::size_t first_of(const set& s) const {
    std::size_t stream = 0;
    for (std::size_t i = 1; i < s.size(); ++i)
      if (at(i, s) < at(stream, s))
        stream = i;
    return stream;
  }
  bool step(int now) {
    if (std::ranges::any_of(queues_, [](const auto& q) { return q.empty(); }))
      return false;
    set now_at(queues_.size(), 0);
    if (const auto [first, last] = ends(now_at); last - first > most_) {
      queues_[first_of(now_at)].pop_front();
      return true;
    }
    const auto pivot = ends(now_at).second;
    auto best = now_at;
    for (;;) {
      const auto [first, last] = ends(now_at);
      const auto [best_first, best_last] = ends(best);
      if (last - first < best_last - best_first)
        best = now_at;
      const auto smallest = ends(best).second - ends(best).first;
      if (first == pivot || last - pivot >= smallest)
        break;
      const auto moving = first_of(now_at);
      if (++now_at[moving] == queues_[moving].size())
        return false; // it has to see the next frame of that stream
    }
    text_ += std::to_string(now) + ":";
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      text_ += ' ' + std::to_string(i) + ':' + std::to_string(queues_[i][best[i]].id);
      queues_[i].erase(
        queues_[i].begin(), queues_[i].begin() + static_cast<std::ptrdiff_t>(best[i]) + 1);
    }
    text_ += "; ";
    return true;
  }

  std::vector<std::deque<arrival>> queues_;
  int most_;
  std::string text_;
};

/// Two streams of one rate, and when their frames come.
arrival both(std::uint32_t member, std::uint64_t id, int captured) {
  return {captured, member, id, captured};
}

} // namespace

TEST_CASE("the nearest frames, against ROS's approximate-time policy") {
  struct row {
    const char* what;
    int tolerance;
    std::uint32_t streams;
    std::vector<happening> events;
    const char* ours;
    const char* ros;
  };
  const std::vector<row> rows{
    {"in step: ours goes at once, ROS waits for a frame more",
     10,
     2,
     {both(0, 0, 0), both(1, 0, 2), both(0, 1, 33), both(1, 1, 35)},
     "2: [0:0 1:0]; 35: [0:1 1:1]; ",
     "33: 0:0 1:0; "},
    {"a fast stream beside a slow one: the nearest of the fast frames",
     20,
     2,
     {both(0, 0, 0), both(0, 1, 10), both(0, 2, 20), both(0, 3, 30), both(0, 4, 40), both(1, 0, 48),
      both(0, 5, 50)},
     "40: [0:0 -]; 48: [0:1 -]; 48: [0:2 -]; 50: [0:3 -]; 50: [0:4 -]; 50: [0:5 1:0]; ",
     "50: 0:5 1:0; "},
    {"the nearest lies before",
     20,
     2,
     {both(0, 0, 0), both(0, 1, 10), both(1, 0, 13), both(0, 2, 20), moment{60}},
     "13: [0:0 -]; 13: [0:1 1:0]; 60: [0:2 -]; ",
     "20: 0:1 1:0; "},
    {"more streams come before a smaller span",
     10,
     3,
     {both(0, 0, 0), both(1, 0, 8), both(0, 1, 12), both(2, 0, 15), moment{50}},
     "15: [0:0 - -]; 15: [0:1 1:0 2:0]; ",
     ""},
    {"a lost frame",
     10,
     2,
     {both(0, 0, 0), both(1, 0, 0), both(0, 1, 33), both(0, 2, 66), both(1, 2, 66), both(0, 3, 99),
      both(1, 3, 99)},
     "0: [0:0 1:0]; 66: [0:1 -]; 66: [0:2 1:2]; 99: [0:3 1:3]; ",
     "0: 0:0 1:0; 66: 0:2 1:2; 99: 0:3 1:3; "},
    {"too far apart",
     10,
     2,
     {both(0, 0, 0), both(1, 0, 15), both(0, 1, 33), both(1, 1, 48), moment{99}},
     "15: [0:0 -]; 33: [- 1:0]; 48: [0:1 -]; 88: [- 1:1]; ",
     ""},
    {"a third that is absent: ROS sends nothing",
     10,
     3,
     {both(0, 0, 0), both(1, 0, 1), moment{50}},
     "40: [0:0 1:0 -]; ",
     ""},
  };
  for (const auto& r : rows) {
    CAPTURE(std::string{r.what});
    CHECK(align_run{within(std::chrono::milliseconds{r.tolerance}), r.streams}(r.events) == r.ours);
    CHECK(approximate_time{r.streams, r.tolerance}(r.events) == r.ros);
  }
}

TEST_CASE("a slow stream paces no fast one") {
  // 30 frames per second beside 10: between the slow one's frames the fast one's leave at once.
  std::vector<happening> events;
  for (int i = 0; i <= 17; ++i) {
    events.push_back(arrival{i * 33, 0, static_cast<std::uint64_t>(i), i * 33});
    if (i % 3 == 0)
      events.push_back(arrival{i * 33 + 1, 1, static_cast<std::uint64_t>(i / 3), i * 33});
  }
  CHECK(
    align_run{{}}(events)
    == "1: [0:0 1:0]; 73: [0:1 -]; 100: [0:2 -]; 100: [0:3 1:1]; 172: [0:4 -]; 199: [0:5 -]; "
       "199: [0:6 1:2]; 271: [0:7 -]; 298: [0:8 -]; 298: [0:9 1:3]; 370: [0:10 -]; 397: [0:11 -]; "
       "397: [0:12 1:4]; " // its rate is known from here on
       "429: [0:13 -]; 462: [0:14 -]; 496: [0:15 1:5]; 528: [0:16 -]; 561: [0:17 -]; ");
}

TEST_CASE("a stream that speeds up is waited for again, and loses nothing") {
  std::vector<happening> events;
  for (int i = 0; i < 5; ++i)
    for (std::uint32_t m = 0; m < 2; ++m)
      events.push_back(both(m, static_cast<std::uint64_t>(i), i * 100));
  events.insert(
    events.end(), {arrival{433, 0, 5, 433}, arrival{434, 1, 5, 433}, arrival{466, 1, 6, 466},
                   arrival{467, 0, 6, 466}});
  CHECK(
    align_run{{}}(events)
    == "0: [0:0 1:0]; 100: [0:1 1:1]; 200: [0:2 1:2]; 300: [0:3 1:3]; 400: [0:4 1:4]; "
       "433: [0:5 -]; 434: [- 1:5]; 467: [0:6 1:6]; ");
}

TEST_CASE("a better set is waited for where the rates allow one, and never beyond the bound") {
  // Frames every 10 ms; the partner lies nearer to the next one.
  std::vector<happening> before{both(1, 0, 0)};
  for (int i = 0; i < 6; ++i)
    before.push_back(both(0, static_cast<std::uint64_t>(i), i * 10));
  before.push_back(both(1, 1, 58));
  auto to = before;
  to.push_back(both(0, 6, 60));
  const std::string start = "0: [0:0 1:0]; 50: [0:1 -]; 58: [0:2 -]; 58: [0:3 -]; 58: [0:4 -]; ";
  CHECK(align_run{within(15ms)}(to) == start + "60: [0:5 -]; 60: [0:6 1:1]; ");
  to = before;
  to.push_back(moment{200});
  CHECK(align_run{within(15ms)}(to) == start + "90: [0:5 1:1]; ");
}

TEST_CASE("a set has the smallest span that its streams allow") {
  // All frames are there before the sets are made: what leaves is held against every other choice.
  std::uint64_t state = 1;
  const auto upto = [&](std::uint64_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state >> 33) % n);
  };
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    auto options = within(20ms);
    options.live = false;
    options.depth = 64;
    options.missing = missing_rule::strict;
    align_run run{options};
    std::vector<std::vector<int>> places(2);
    std::vector<happening> events;
    for (std::uint32_t m = 0; m < 2; ++m)
      for (int at = upto(20); at < 300; at += 5 + upto(30)) {
        events.push_back(arrival{0, m, places[m].size(), at});
        places[m].push_back(at);
      }
    events.push_back(ending{0, 0, places[0].size()});
    events.push_back(ending{0, 1, places[1].size()});
    run(events);
    std::vector<std::uint64_t> from(2, 0);
    for (const auto& set : run.sets) {
      const auto a = set->members[0].item->meta.frame_id, b = set->members[1].item->meta.frame_id;
      const auto span = std::abs(places[0][a] - places[1][b]);
      // Neither frame could have had a nearer partner among those that nobody had used.
      for (auto i = from[0]; i <= a; ++i)
        CHECK(std::abs(places[0][i] - places[1][b]) >= span);
      for (auto i = from[1]; i <= b; ++i)
        CHECK(std::abs(places[1][i] - places[0][a]) >= span);
      from = {a + 1, b + 1};
    }
  }
}
