#include "actors/clock_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace hyperframes {

namespace {

using ns = std::int64_t;

constexpr ns millisecond = 1'000'000;
constexpr ns second = 1'000 * millisecond;
constexpr ns window_length = second;
constexpr std::size_t windows_for_trust = 16;
constexpr double least_unevenness = 20.0 * millisecond;
constexpr double usual_spread = 10.0 * millisecond;
constexpr ns learning = second;
constexpr ns jump_memory = 10 * second;
constexpr int standing_frames = 10;
constexpr ns standing_time = 500 * millisecond;
constexpr double off_slightly = 0.05, off_grossly = 0.25;
constexpr int paced_intervals = 6;
constexpr double paced_within = 0.2; // no queue takes a clock of constant rate past off_grossly so
constexpr double straying_share = 0.25;
constexpr std::size_t slightly_windows = 5, grossly_windows = 3;
constexpr int most_needed = 80;
constexpr std::size_t windows_for_rate = 10;
constexpr double declared_off = 0.2, declared_right = 0.1;

ns plus(ns a, ns b) {
  ns result = 0;
  if (__builtin_add_overflow(a, b, &result))
    return b < 0 ? std::numeric_limits<ns>::min() : std::numeric_limits<ns>::max();
  return result;
}

double fraction(ns a, ns b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

} // namespace

clock_model::clock_model(double declared_fps) : rates_(windows_for_trust) {
  estimate_.declared_fps = declared_fps;
  period_ = declared_fps > 0 ? second / declared_fps : 0;
}

clock_model::jump clock_model::jump_at(capture_time captured, arrival_time arrived) const {
  return estimate_.by_arrival
           ? jump::none
           : classify(captured.time_since_epoch().count(), arrived.time_since_epoch().count());
}

clock_model::jump clock_model::classify(ns captured, ns arrived) const {
  if (!begun_)
    return jump::none;
  const auto step = distance_ns(captured, last_captured_);
  if (step < -duration{max_backstep}.count())
    return jump::back;
  const auto ahead = distance_ns(step, arrived - last_arrived_);
  if (ahead > duration{max_forward_step}.count())
    return jump::forward;
  if (last_arrived_ - since_ < learning)
    return jump::none;
  const auto most = static_cast<double>(duration{max_lead}.count()) + 1.5 * period_;
  const auto lead = static_cast<double>(distance_ns(captured, arrived)) + line_.at(captured);
  return lead > most && static_cast<double>(ahead) > most ? jump::forward : jump::none;
}

graph_time clock_model::add(capture_time captured, arrival_time arrived, std::uint64_t lost) {
  const auto c = captured.time_since_epoch().count();
  const auto a = arrived.time_since_epoch().count();
  if (!begun_) {
    begun_ = true;
    open_.start = a;
    last_arrived_ = a;
    restart(c, a);
  } else {
    if (const auto what = classify(c, a); what != jump::none)
      jumped(what, c, a);
    else
      follow(c, a);
  }
  into_window(c, a, lost);
  last_captured_ = std::max(last_captured_, c);
  previous_captured_ = c;
  last_arrived_ = a;
  const auto offset = static_cast<ns>(std::llround(line_.at(c)));
  estimate_.offset = duration{offset};
  return graph_time{duration{estimate_.by_arrival ? a : std::min(plus(c, offset), a)}};
}

void clock_model::jumped(jump what, ns captured, ns arrived) {
  (what == jump::back ? estimate_.jumps_back : estimate_.jumps_forward)++;
  const auto by = distance_ns(distance_ns(captured, last_captured_), arrived - last_arrived_);
  const auto last = estimate_.jumps();
  jumped_at_[last % jumped_at_.size()] = arrived;
  const auto third_last = jumped_at_[(last + 1) % jumped_at_.size()];
  if (!estimate_.by_arrival)
    tell(
      std::string{"its clock jumped "} + (what == jump::back ? "back" : "forward") + " by "
      + number("%.3f s", std::abs(static_cast<double>(by)) / second) + "; a new epoch begins");
  blamed_ = true;
  if (!estimate_.by_arrival && last >= jumped_at_.size() && arrived - third_last <= jump_memory)
    doubt("it jumped 3 times within " + number("%.1f s", fraction(arrived - third_last, second)));
  restart(captured, arrived);
}

void clock_model::restart(ns captured, ns arrived) {
  const auto delay = distance_ns(arrived, captured);
  line_.restart(captured, delay, !estimate_.by_arrival); // the crystal is the same
  open_.at = captured;
  open_.least = delay;
  since_ = arrived;
  last_captured_ = captured;
  moved_at_ = arrived;
  standing_ = 0;
}

void clock_model::follow(ns captured, ns arrived) {
  const auto delay_step = std::abs(static_cast<double>(
    distance_ns(distance_ns(arrived, captured), distance_ns(last_arrived_, previous_captured_))));
  jitter_ += (delay_step - jitter_) / 16;
  estimate_.jitter = duration{std::llround(jitter_)};
  judge_steps(captured, arrived);
}

/// Does the clock stand still, or does it stray where the arrivals do not?
void clock_model::judge_steps(ns captured, ns arrived) {
  constexpr double longest = 10.0 * second, farthest = 1.0 * second;
  const auto between = static_cast<double>(arrived - last_arrived_);
  const auto step = static_cast<double>(distance_ns(captured, previous_captured_));
  if (period_ <= 0)
    period_ = between;
  else if (rates_.size() < 2)
    period_ += (std::min(between, longest) - period_) / 16;
  const auto stray = [&](double value) { return std::min(std::abs(value - period_), farthest); };
  uneven_captured_ += (stray(step) - uneven_captured_) / 16;
  uneven_arrived_ += (stray(between) - uneven_arrived_) / 16;
  straying_ += ((stray(step) > period_ / 2 ? 1.0 : 0.0) - straying_) / 16;
  ++intervals_;
  if (captured > last_captured_) {
    standing_ = 0;
    moved_at_ = arrived;
  } else if (++standing_ >= standing_frames && arrived - moved_at_ >= standing_time) {
    blamed_ = true;
    if (!estimate_.by_arrival)
      doubt(
        "it stands still since " + std::to_string(standing_) + " frames, "
        + number("%.1f s", fraction(arrived - moved_at_, second)));
  }
  judge_pace(step, between);
}

/// Frames that come in time with stamps that run too slow or too fast, one after the other: the
/// path cannot do that to a clock that is right, unless the camera's rate changes as well.
void clock_model::judge_pace(double step, double between) {
  const bool declared = estimate_.declared_fps > 0;
  const auto usual = declared ? second / estimate_.declared_fps : period_;
  const bool in_time = (declared || rates_.size() >= windows_for_rate)
                       && std::abs(between - usual) <= paced_within * usual;
  const bool slow = in_time && step < (1 - off_grossly) * between;
  const bool fast = in_time && step > (1 + off_grossly) * between;
  if ((slow && slow_ == 0) || (fast && fast_ == 0))
    paced_step_ = paced_time_ = 0;
  slow_ = slow ? slow_ + 1 : 0;
  fast_ = fast ? fast_ + 1 : 0;
  paced_step_ += step;
  paced_time_ += between;
  if (std::max(slow_, fast_) < paced_intervals)
    return;
  blamed_ = true;
  if (estimate_.by_arrival)
    return;
  const auto since = " since " + std::to_string(std::max(slow_, fast_)) + " frames";
  doubt(
    paced_step_ > 0
      ? "it runs " + number("%.2f s", paced_step_ / paced_time_) + " per second" + since
      : "it stands still" + since + number(", %.1f s", paced_time_ / second));
}

void clock_model::into_window(ns captured, ns arrived, std::uint64_t lost) {
  const auto pause = static_cast<double>(arrived - last_arrived_);
  if (pause > std::max(2.0 * second, 5 * period_)) {
    rates_.clear(); // a silence is no rate, and what was lost in it says nothing of one
    open_.frames = open_.lost = 0;
    lost = 0;
  }
  if (arrived - open_.start >= window_length) {
    if (open_.frames > 0)
      close_window();
    measure_rate(arrived);
    open_ = {arrived, captured, distance_ns(arrived, captured), 0, 0};
  }
  ++open_.frames;
  open_.lost += std::min<std::uint64_t>(lost, 1000);
  const auto delay = distance_ns(arrived, captured);
  if (delay < open_.least) {
    open_.least = delay;
    open_.at = captured;
  }
  line_.lower(captured, delay);
}

void clock_model::close_window() {
  rates_.push_back(open_);
  line_.close_window(open_.at, open_.least);
  judge_windows();
  measure_line();
  blamed_ = false;
}

void clock_model::measure_line() {
  if (line_.slope_known())
    estimate_.drift_ppm = -line_.slope() * 1e6;
  const auto seen =
    std::min(1.0, static_cast<double>(line_.windows()) / static_cast<double>(windows_for_trust));
  estimate_.confidence = estimate_.by_arrival ? 0 : seen / (1 + line_.spread() / usual_spread);
}

void clock_model::measure_rate(ns now) {
  if (rates_.size() < 2)
    return;
  std::uint64_t frames = 0, lost = 0;
  for (const auto& w : rates_) {
    frames += w.frames;
    lost += w.lost;
  }
  const auto time = fraction(now - rates_.front().start, second);
  estimate_.fps = static_cast<double>(frames) / time;
  period_ = second / estimate_.fps;
  if (estimate_.declared_fps <= 0 || rates_.size() < windows_for_rate)
    return;
  const auto real = static_cast<double>(frames + lost) / time;
  const auto off = std::abs(real / estimate_.declared_fps - 1);
  if (off > declared_off && !off_rate_)
    tell(
      "it gives " + number("%.1f", real) + " frames per second, declared are "
      + number("%.1f", estimate_.declared_fps));
  off_rate_ = off > (off_rate_ ? declared_right : declared_off);
}

void clock_model::judge_windows() {
  const auto off = [&](std::size_t windows, double most) {
    if (line_.windows() <= windows)
      return false;
    bool slow = true, fast = true;
    for (std::size_t i = 0; i < windows; ++i) {
      slow = slow && line_.growth(i + 1, i) > most;
      fast = fast && line_.growth(i + 1, i) < -most;
    }
    return slow || fast;
  };
  const auto rate = [&](std::size_t windows) {
    return "it runs " + number("%.2f s", 1 - line_.growth(windows, 0)) + " per second";
  };
  const bool wild = intervals_ >= 2 * standing_frames && uneven_captured_ > least_unevenness
                    && uneven_captured_ > period_ / 2 && uneven_captured_ > 2 * uneven_arrived_
                    && straying_ > straying_share;
  if (!estimate_.by_arrival) {
    if (off(grossly_windows, off_grossly))
      doubt(rate(grossly_windows));
    else if (off(slightly_windows, off_slightly))
      doubt(rate(slightly_windows));
    else if (wild)
      doubt(
        "its intervals stray from the period by "
        + number("%.0f ms", uneven_captured_ / millisecond) + ", those of the arrivals by "
        + number("%.0f ms", uneven_arrived_ / millisecond));
    return;
  }
  const bool drifts = line_.windows() < 2 || std::abs(line_.growth(1, 0)) > off_grossly
                      || (line_.windows() > 3 && std::abs(line_.growth(3, 0)) > off_slightly);
  good_ = blamed_ || wild || drifts ? 0 : good_ + 1;
  if (good_ >= needed_)
    believe();
}

void clock_model::doubt(const std::string& why) {
  estimate_.by_arrival = true;
  estimate_.confidence = 0;
  good_ = 0;
  tell("its clock is not credible: " + why + "; its frames are placed by their arrival");
}

void clock_model::believe() {
  estimate_.by_arrival = false;
  line_.keep(static_cast<std::size_t>(good_) + 1);
  needed_ = std::min(2 * needed_, most_needed);
  tell("its clock is credible again; its frames are placed by their capture time");
}

void clock_model::tell(const std::string& sentence) {
  news_ += (news_.empty() ? "" : "; ") + sentence;
}

std::optional<std::string> clock_model::take_news() {
  if (news_.empty())
    return std::nullopt;
  return std::exchange(news_, {});
}

} // namespace hyperframes
