#include "actors/clock_model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>
#include <utility>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

/// A camera and its way here, in seconds. True time 0 is the graph's start.
struct simulated_stream {
  double fps = 30;
  double declared_fps = 30;
  std::function<double(double)> stamp = [](double t) { return 1000 + t; }; ///< what the camera says
  std::function<double(double, int)> delay = [](double, int) {
    return 0.02;
  }; ///< by time and number
  std::function<bool(double)> mute = [](double) { return false; };
  bool counts_on = false; ///< its counter goes on while it is mute
};

duration seconds(double s) {
  return duration{std::llround(s * 1e9)};
}

/// Runs a stream through a model and keeps what it said.
class clock_run {
public:
  explicit clock_run(simulated_stream stream)
    : stream_(std::move(stream)), model_(stream_.declared_fps) {}

  /// Goes on to true time `end`, in s.
  clock_run& until(double end) {
    for (; next_ / stream_.fps < end; ++next_) {
      const auto t = next_ / stream_.fps;
      if (stream_.mute(t)) {
        lost_ += stream_.counts_on ? 1 : 0;
        continue;
      }
      arrived_ = std::max(arrived_, t + stream_.delay(t, next_)); // a queue: none overtakes
      const capture_time captured{seconds(stream_.stamp(t))};
      const arrival_time arrived{seconds(arrived_)};
      epochs_ += model_.jump_at(captured, arrived) == clock_model::jump::none ? 0 : 1;
      const auto place =
        in_seconds(model_.add(captured, arrived, std::exchange(lost_, 0)).time_since_epoch());
      ahead_ = ahead_ || place > arrived_ + 1e-9;
      error_ = place - t;
      worst_ = std::max(worst_, std::abs(error_ - least_delay));
      if (auto news = model_.take_news())
        news_ += (news_.empty() ? "" : " | ") + *news;
    }
    return *this;
  }
  /// Begins to look for the worst error anew.
  clock_run& from_here() {
    worst_ = 0;
    return *this;
  }
  static constexpr double least_delay = 0.02;

  const clock_estimate& seen() const { return model_.estimate(); }
  double worst() const {
    return worst_;
  } ///< distance of the places from true time + least delay, s
  int epochs() const { return epochs_; }
  bool ahead_of_arrival() const { return ahead_; }
  std::string news() { return std::exchange(news_, {}); }

private:
  simulated_stream stream_;
  clock_model model_;
  int next_ = 0, epochs_ = 0;
  double arrived_ = -1, error_ = 0, worst_ = 0;
  std::uint64_t lost_ = 0;
  bool ahead_ = false;
  std::string news_;
};

/// Delays from 20 ms on, evenly spread over `spread` s; the same in each run.
std::function<double(double, int)> uneven(double spread) {
  return [random = std::mt19937{7}, spread](double, int) mutable {
    return 0.02 + spread * (static_cast<double>(random()) / 4294967296.0);
  };
}

simulated_stream drifting(double ppm) {
  simulated_stream s;
  s.stamp = [ppm](double t) { return 1000 + t * (1 + ppm * 1e-6); };
  s.delay = uneven(0.008);
  return s;
}

} // namespace

TEST_CASE("drift and offset over ten minutes, behind a path that adds 0 to 8 ms") {
  for (const double ppm : {-200.0, -20.0, 0.0, 50.0, 200.0}) {
    CAPTURE(ppm);
    clock_run run{drifting(ppm)};
    run.until(30).from_here().until(600);
    CHECK(std::abs(run.seen().drift_ppm - ppm) < 4);
    CHECK(run.worst() < 0.001);
    CHECK(std::abs(in_seconds(run.seen().offset) - (0.02 - 1000 - 600 * ppm * 1e-6)) < 0.001);
    CHECK(std::abs(run.seen().fps - 30) < 0.05);
    CHECK(run.seen().confidence > 0.9);
    CHECK(std::abs(in_ms(run.seen().jitter) - 2.67) < 1); // a third of the spread
    CHECK_FALSE(run.seen().by_arrival);
    CHECK_FALSE(run.ahead_of_arrival());
    CHECK(run.epochs() == 0);
    CHECK(run.news().empty());
  }
}

TEST_CASE("bursts and late frames move neither the places nor the drift") {
  struct row {
    const char* what;
    std::function<double(double, int)> delay;
    double jitter_ms; ///< at least
  };
  const std::vector<row> rows{
    {"ten at once, three times a second", [](double, int n) { return 0.02 + (9 - n % 10) / 30.0; },
     20},
    {"every twentieth is 300 ms late, and those behind it queue",
     [](double, int n) { return n % 20 == 7 ? 0.32 : 0.02; }, 10},
    {"the path stands still for 1.5 s out of 10",
     [](double t, int) { return 0.02 + std::max(0.0, 1.5 - std::fmod(t, 10)); }, 0},
    {"half a second more for 4 s out of 60",
     [](double t, int) { return std::fmod(t, 60) > 50 && std::fmod(t, 60) < 54 ? 0.52 : 0.02; }, 0},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    auto stream = drifting(100);
    stream.delay = r.delay;
    clock_run run{stream};
    run.until(20).from_here().until(180);
    CHECK(std::abs(run.seen().drift_ppm - 100) < 2);
    CHECK(run.worst() < 0.001);
    CHECK(in_ms(run.seen().jitter) >= r.jitter_ms);
    CHECK(run.epochs() == 0);
    CHECK_FALSE(run.ahead_of_arrival());
    CHECK(run.news().empty());
  }
}

TEST_CASE("a jump of the camera's clock begins an epoch, and is told with its length") {
  struct row {
    const char* what;
    double at, by; ///< s
    int epochs;
    std::string news;
  };
  const std::vector<row> rows{
    {"back an hour", 30, -3600, 1, "its clock jumped back by 3600.000 s; a new epoch begins"},
    {"back half a second", 30, -0.5, 1, "its clock jumped back by 0.500 s; a new epoch begins"},
    {"forward three seconds", 30, 3, 1, "its clock jumped forward by 3.000 s; a new epoch begins"},
    {"forward a day", 30, 86400, 1, "its clock jumped forward by 86400.000 s; a new epoch begins"},
    {"far forward while little is known", 0.5, 60, 1,
     "its clock jumped forward by 60.000 s; a new epoch begins"},
    {"forward five seconds, soon", 1.2, 5, 1,
     "its clock jumped forward by 5.000 s; a new epoch begins"},
    {"forward five seconds at once: might be what waited", 0.5, 5, 0, ""},
    {"back 100 ms: a shift", 30, -0.1, 0, ""},
    {"forward 100 ms: a shift", 30, 0.1, 0, ""},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    simulated_stream stream;
    stream.stamp = [&](double t) { return 1e6 + t + (t >= r.at ? r.by : 0); };
    clock_run run{stream};
    run.until(r.at + 10).from_here().until(r.at + 30);
    CHECK(run.epochs() == r.epochs);
    CHECK(run.seen().jumps() == static_cast<std::uint64_t>(r.epochs));
    CHECK(run.news() == r.news);
    CHECK(run.worst() < 1e-6);
    CHECK(std::abs(run.seen().drift_ppm) < 1);
    CHECK_FALSE(run.seen().by_arrival);
    CHECK_FALSE(run.ahead_of_arrival());
  }
}

TEST_CASE("a silence is no jump, and no rate, whether or not the device counts on meanwhile") {
  for (const bool counts_on : {false, true}) {
    CAPTURE(counts_on);
    simulated_stream stream;
    stream.mute = [](double t) { return t > 30 && t < 90; };
    stream.counts_on = counts_on;
    clock_run run{stream};
    run.until(120);
    CHECK(run.epochs() == 0);
    CHECK(run.worst() < 1e-6);
    CHECK(std::abs(run.seen().fps - 30) < 0.5);
    CHECK(run.news() == "");
  }
}

TEST_CASE("a clock that is not credible is left for the arrivals, and believed again when it is") {
  struct row {
    const char* what;
    std::function<double(double)> stamp; ///< wrong from 30 s to 60 s
    double left_by;                      ///< s
    std::string why;
  };
  const auto wrong = [](double t) { return t >= 30 && t < 60; };
  const std::vector<row> rows{
    {"stuck", [&](double t) { return wrong(t) ? 30 : t; }, 30.3,
     "its clock is not credible: it stands still since 6 frames, 0.2 s"},
    {"lying rate: stamps of 60 per second on 30 frames",
     [&](double t) { return t < 30   ? t
                            : t < 60 ? 30 + (t - 30) / 2
                                     : t - 15; }, 30.3,
     "its clock is not credible: it runs 0.50 s per second since 6 frames"},
    {"lying rate: stamps of 15 per second on 30 frames",
     [&](double t) { return t < 30   ? t
                            : t < 60 ? 30 + (t - 30) * 2
                                     : t + 30; }, 30.3,
     "its clock is not credible: it runs 2.00 s per second since 6 frames"},
    {"a tenth too fast",
     [&](double t) { return t < 30   ? t
                            : t < 60 ? 30 + (t - 30) * 1.1
                                     : t + 3; }, 37,
     "its clock is not credible: it runs 1.10 s per second"},
    {"stamps that stray by 150 ms",
     [&](double t) { return wrong(t) && std::llround(t * 30) % 2 == 0 ? t - 0.15 : t; }, 32,
     "its clock is not credible: its intervals stray from the period by 130 ms, those of the "
     "arrivals by 0 ms"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    simulated_stream stream;
    stream.stamp = r.stamp;
    clock_run run{stream};
    run.until(30);
    CHECK(run.seen().confidence == 1);
    run.until(r.left_by);
    CHECK(run.seen().by_arrival);
    CHECK(run.seen().confidence == 0);
    CHECK(run.news() == r.why + "; its frames are placed by their arrival");
    run.from_here().until(60);
    CHECK(run.worst() < 1e-6); // by arrival
    CHECK(run.epochs() == 0);
    CHECK(run.news().empty()); // told once
    run.until(70);
    CHECK_FALSE(run.seen().by_arrival);
    CHECK(run.news() == "its clock is credible again; its frames are placed by their capture time");
    run.until(75).from_here().until(100);
    CHECK(run.worst() < 1e-6);
    CHECK(run.seen().confidence == 1);
    CHECK_FALSE(run.ahead_of_arrival());
    CHECK(run.news().empty());
  }
}

TEST_CASE("a clock that stands is left though its frames come unevenly") {
  simulated_stream stream;
  stream.stamp = [](double t) { return std::min(t, 30.0); };
  stream.delay = [](double, int n) { return 0.02 + (9 - n % 10) / 30.0; }; // ten at once
  clock_run run{stream};
  run.until(31);
  CHECK(
    run.news()
    == "its clock is not credible: it stands still since 20 frames, 0.7 s; its frames are placed "
       "by their arrival");
}

TEST_CASE("a clock is believed while a queue on the path fills and drains, from the start") {
  for (const double declared : {30.0, 0.0})
    for (const double rate : {0.24, 0.5, 1.0}) {
      CAPTURE(declared);
      CAPTURE(rate);
      simulated_stream stream;
      stream.declared_fps = declared;
      stream.delay = [rate](double t, int) { // fills for 1.5 s, drains for 1.5 s, rests for 7 s
        return 0.02 + rate * std::max(0.0, 1.5 - std::abs(std::fmod(t, 10) - 1.5));
      };
      clock_run run{stream};
      run.until(29).from_here().until(60);
      CHECK(run.news() == "");
      CHECK(run.worst() < 1e-6);
    }
}

TEST_CASE(
  "a clock that keeps jumping begins no more than three epochs, and has to prove itself longer") {
  simulated_stream stream;
  stream.stamp = [](double t) { // jumps every second for 10 s out of 100
    const auto phase = std::fmod(t, 100);
    return phase >= 30 && phase < 40 ? t + 1000 * std::floor(phase) : t;
  };
  clock_run run{stream};
  run.until(29);
  CHECK(run.epochs() == 0);
  run.until(45);
  CHECK(run.epochs() == 3);
  CHECK(run.seen().by_arrival);
  CHECK(
    run.news()
    == "its clock jumped forward by 30000.000 s; a new epoch begins | its clock jumped forward by "
       "1000.000 s; a new epoch begins | its clock jumped forward by 1000.000 s; a new epoch "
       "begins; "
       "its clock is not credible: it jumped 3 times within 2.0 s; its frames are placed by their "
       "arrival");
  run.until(47);
  CHECK_FALSE(run.seen().by_arrival); // five windows behind the last jump
  run.until(147);
  CHECK(run.epochs() == 6);
  CHECK(run.seen().by_arrival); // ten windows, now
  run.until(153);
  CHECK_FALSE(run.seen().by_arrival);
}

TEST_CASE("the real rate is held against the declared one, with the frames that the device lost") {
  clock_model model{30};
  std::string news;
  const auto give = [&](double from, double to, double fps, std::uint64_t lost) {
    for (int n = 0; from + n / fps < to; ++n) {
      const auto t = from + n / fps;
      model.add(capture_time{seconds(t)}, arrival_time{seconds(t)}, lost);
      if (auto told = model.take_news())
        news += *told + " | ";
    }
  };
  give(0, 20, 15, 1); // every second frame is lost on the way
  CHECK(std::abs(model.estimate().fps - 15) < 0.1);
  CHECK(news.empty());
  give(20, 60, 15, 0);
  CHECK(news == "it gives 23.4 frames per second, declared are 30.0 | ");
  news.clear();
  give(60, 120, 30, 0);
  give(120, 140, 10, 0);
  CHECK(std::abs(model.estimate().fps - 10) < 0.1);
  CHECK(news == "it gives 23.8 frames per second, declared are 30.0 | ");
}

TEST_CASE("times at the ends of their range are no undefined behaviour") {
  clock_model model;
  for (const auto t : {INT64_MIN, INT64_MAX, std::int64_t{0}, INT64_MAX, INT64_MIN})
    for (int i = 0; i < 40; ++i)
      CHECK(
        model.add(capture_time{duration{t}}, arrival_time{duration{i * 100'000'000LL}})
        <= graph_time{duration{i * 100'000'000LL}});
}
