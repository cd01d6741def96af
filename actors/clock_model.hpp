#pragma once

#include "actors/delay_line.hpp"
#include "runtime/time.hpp"

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace hyperframes {

/// What is known of a stream's clock. Zero where nothing is known yet.
struct clock_estimate {
  duration offset{};    ///< graph time minus the camera's at the newest frame, least delay included
  double drift_ppm = 0; ///< how much faster the camera's clock runs than the graph's
  duration jitter{};    ///< mean change of the delay from frame to frame
  double fps = 0;       ///< frames that arrive per second, over the last 16 s
  double declared_fps = 0; ///< 0 unknown or variable
  std::uint64_t jumps_back = 0, jumps_forward = 0;
  /// In the camera's clock, 0 to 1: (share of 16 s that was seen) / (1 + spread of the least delays
  /// / 10 ms). 0 while the stream is placed by arrival.
  double confidence = 0;
  bool by_arrival = false; ///< the camera's clock is not credible
  std::uint64_t jumps() const { return jumps_back + jumps_forward; }
};

/// Puts the frames of a live stream on the graph's time line, and judges the camera's clock.
///
///   place(frame) = min(captured + offset(captured), arrived)
///   offset(t)    = slope * t + the largest constant that lies below every delay seen
///
/// where delay = arrived - captured, and slope and constant are those of `delay_line`, over the
/// least delays of 1 s windows. The jitter is that of RFC 3550, section 6.4.1.
///
/// A jump is a step back of the capture time by more than 200 ms, or one forward that puts a frame
/// more than 200 ms and a period and a half after its own arrival; before 1 s was seen, 10 s.
///
/// The clock is not credible where, in numbers,
///   - it stands still for 10 frames and half a second;
///   - it runs 25 % too fast or too slow, or stands, in each of 6 intervals on end in which the
///     frames arrive within 20 % of their declared period, or of the one seen for 10 s: before its
///     frames come to be as late as others wait;
///   - it runs 5 % too fast or too slow for 5 windows on end, or 25 % for 3;
///   - it jumps 3 times within 10 s;
///   - capture intervals stray from the mean period by more than half of it and 20 ms, twice as
///   much
///     as the arrivals do, and a quarter of them does so.
/// The stream is then placed by arrival, and jumps begin no epoch. The clock is believed again when
/// nothing of that was seen for 5 windows; twice as many after each relapse, at most 80.
///
/// Work per frame is constant, and once a second some 2,000 slopes; memory is fixed. Depends on
/// nothing but its input. Not thread-safe.
class clock_model {
public:
  enum class jump : std::uint8_t { none, back, forward };

  static constexpr duration max_backstep = std::chrono::milliseconds{200};
  static constexpr duration max_forward_step = std::chrono::seconds{10}; ///< before 1 s was seen
  static constexpr duration max_lead = std::chrono::milliseconds{200};   ///< afterwards

  /// @param declared_fps 0: unknown or variable.
  explicit clock_model(double declared_fps = 0);

  /// @returns whether a frame with these times, as the next one, begins an epoch. `none` while the
  /// stream is placed by arrival.
  jump jump_at(capture_time captured, arrival_time arrived) const;

  /// Takes the stream's next frame, in the order of arrival.
  /// @param lost frames that the device's counter jumped over before this one.
  /// @returns its place, never after `arrived`.
  graph_time add(capture_time captured, arrival_time arrived, std::uint64_t lost = 0);

  const clock_estimate& estimate() const { return estimate_; }

  /// What the user should be told since the last call, as the end of a sentence that begins with
  /// the stream: "its clock jumped back by 3.000 s; a new epoch begins".
  std::optional<std::string> take_news();

private:
  using ns = std::int64_t;
  struct window {
    ns start = 0; ///< arrival of its first frame
    ns at = 0;    ///< capture time of the frame with the least delay
    ns least = 0; ///< that delay
    std::uint64_t frames = 0, lost = 0;
  };
  jump classify(ns captured, ns arrived) const;
  void jumped(jump what, ns captured, ns arrived);
  void restart(ns captured, ns arrived);
  void follow(ns captured, ns arrived);
  void judge_steps(ns captured, ns arrived);
  void judge_pace(double step, double between);
  void into_window(ns captured, ns arrived, std::uint64_t lost);
  void close_window();
  void measure_line();
  void measure_rate(ns now);
  void judge_windows();
  void doubt(const std::string& why);
  void believe();
  void tell(const std::string& sentence);

  clock_estimate estimate_;
  delay_line line_;
  boost::circular_buffer<window> rates_; ///< closed ones since the last pause
  window open_;
  bool begun_ = false;
  ns since_ = 0;         ///< arrival of the first frame behind the last jump
  ns last_captured_ = 0; ///< the largest since then
  ns previous_captured_ = 0, last_arrived_ = 0;
  ns moved_at_ = 0;                ///< arrival of the last frame that moved the clock on
  int standing_ = 0;               ///< frames since
  double jitter_ = 0, period_ = 0; ///< ns
  double uneven_captured_ = 0, uneven_arrived_ = 0; ///< mean distance of intervals from the period
  double straying_ = 0; ///< share of capture intervals that stray by more than half the period
  int intervals_ = 0;
  int slow_ = 0, fast_ = 0;                ///< intervals on end that are, while arrivals keep time
  double paced_step_ = 0, paced_time_ = 0; ///< ns in these, by the camera and by the graph
  std::array<ns, 3> jumped_at_{};          ///< arrivals of the last jumps
  int good_ = 0, needed_ = 5; ///< windows without blame; of these before it is believed
  bool blamed_ = false;       ///< in the open window
  bool off_rate_ = false;
  std::string news_;
};

} // namespace hyperframes
