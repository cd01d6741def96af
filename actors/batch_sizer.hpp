#pragma once

#include "runtime/time.hpp"

#include <cstdint>
#include <map>

namespace hyperframes {

struct batch_sizer_options {
  std::uint32_t most = 8;            ///< slots
  duration target = duration::max(); ///< the longest that a worker should be at one batch
};

/// How many slots a batch is filled up to, found out from how long batches take.
///
/// Sizes are numbers of hyperframes. It begins with one, doubles while throughput, slots per second
/// of work, gains `least_gain`, and from then on tries neighbours, 1.5 times as large or small:
/// each for `reading` full batches. A size that did not gain is left again, and the next trial, in
/// the other direction, comes after twice as many batches as the last one, up to `longest_rest`
/// readings, or when batches begin to take another time by `other_time`. Only full batches count:
/// one that is not full says that nobody waited.
///
/// Where two of the last eight batches took longer than `target`, the size shrinks at once in
/// proportion, by one hyperframe at least. A trial ends with the first batch that misses the
/// target, and none goes beyond the size that should meet it, by the line through the times of two
/// sizes.
///
/// Clipper (Crankshaw et al., NSDI 2017) climbs in a like way, by the latency bound alone.
///
/// Single-threaded; knows no clock.
class batch_sizer {
public:
  static constexpr std::uint32_t reading = 8; ///< batches
  static constexpr double least_gain = 0.01;
  static constexpr std::uint32_t longest_rest = 64;
  static constexpr double other_time = 0.25;

  explicit batch_sizer(const batch_sizer_options& options) : options_(options) {}

  /// Slots that a batch may have now.
  std::uint32_t slots() const;
  /// A hyperframe of so many slots is waiting.
  void saw_hyperframe(std::uint32_t slots);
  /// A batch of so many slots took a worker so long. @param full more was waiting than it could
  /// hold.
  void took(std::uint32_t slots, bool full, duration service);

private:
  /// What full batches of one size did.
  struct measure {
    double slots = 0, seconds = 0; ///< sums
    double slowest = 0;            ///< seconds
    std::uint32_t batches = 0;
    double rate() const { return slots / seconds; }
    double each() const { return seconds / batches; }
  };

  std::uint32_t largest() const;
  std::uint32_t neighbour(bool upwards) const;
  std::uint32_t most_that_fit() const;
  void on_reading();
  void compare();
  void end_trial_by_miss(std::uint32_t slots, double seconds);
  void failed();
  void look_around();
  void shrink(double seconds);
  void move_to(std::uint32_t size);

  batch_sizer_options options_;
  std::uint32_t unit_ = 1;                 ///< slots of the largest hyperframe so far
  std::uint32_t size_ = 1;                 ///< hyperframes in a batch
  measure now_;                            ///< of `size_`, since it was chosen or the last reading
  std::map<std::uint32_t, measure> known_; ///< the last reading of each size
  std::uint32_t from_ = 0;                 ///< the size before the trial that goes on; 0: none does
  bool climbing_ = true;                   ///< no trial has failed yet
  bool upwards_ = true;                    ///< where the next trial goes
  std::uint32_t rest_ = 1, rested_ = 0;    ///< readings between two rounds of trials
  std::uint32_t misses_ = 0;               ///< a bit for each of the last eight batches
};

} // namespace hyperframes
