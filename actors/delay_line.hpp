#pragma once

#include "runtime/time.hpp"

#include <boost/circular_buffer.hpp>

#include <cstdint>

namespace hyperframes {

/// The line below a stream's delays (arrival - capture) over its capture time, in ns:
///   delay(t) = value + slope * (t - at)
///
/// The slope comes from the least delays of consecutive windows, at most 64 of them: the median of
/// the slopes of all pairs, so that queues, bursts and late frames, which only ever add delay, do
/// not move it. The method is that of V. Paxson, "On Calibrating Measurements of Packet Transit
/// Times", SIGMETRICS 1998 (least delays per interval, robust line), with the line estimator of H.
/// Theil (1950) and P. K. Sen, JASA 63 (1968). The value is the largest that lies below every
/// window.
///
/// Where the least delays leave the line for 5 windows in the same direction, by more than
/// max(20 ms, 4 spreads), the path or the clock has shifted: the windows before are forgotten.
///
/// Memory is fixed; closing a window costs some 2,000 slopes. Not thread-safe.
class delay_line {
public:
  using ns = std::int64_t;
  delay_line();

  /// Forgets all windows: the line is level at the delay of one frame, or keeps the slope it had.
  void restart(ns captured, ns delay, bool keep_slope);
  /// A frame below the line lowers it at once.
  void lower(ns captured, ns delay);
  /// The least delay of a window, and the capture time of its frame.
  void close_window(ns captured, ns delay);
  /// Keeps the newest `windows` and begins with a level line.
  void keep(std::size_t windows);

  /// @returns the delay that the line gives a frame, in ns.
  double at(ns captured) const { return fitted(captured) - lowered_; }
  double slope() const { return slope_; }
  /// Median distance of the windows from the line, in ns.
  double spread() const { return spread_; }
  std::size_t windows() const { return windows_.size(); }
  bool slope_known() const { return slope_known_; }
  /// @returns how much the delay grew per time between two windows, counted from the newest, 0.
  double growth(std::size_t from, std::size_t to) const;

private:
  struct window {
    ns at = 0; ///< capture time
    ns least = 0;
  };
  double fitted(ns captured) const;
  void forget_before_shift(const window& w);
  void fit();
  double median_slope(std::size_t count) const;

  boost::circular_buffer<window> windows_;
  ns at_ = 0;
  double slope_ = 0, value_ = 0, spread_ = 0;
  double lowered_ = 0; ///< by which frames came below the line since it was fitted
  bool slope_known_ = false;
  std::size_t shifted_ = 0; ///< newest windows that left the line in the same direction
  bool shifted_up_ = false;
};

/// `a - b` that stops at the borders instead of overflowing: capture times come from outside.
std::int64_t distance_ns(std::int64_t a, std::int64_t b);

} // namespace hyperframes
