#pragma once

#include "actors/align_interpolate.hpp"
#include "actors/align_silence.hpp"
#include "runtime/description.hpp"
#include "runtime/hyperframe.hpp"
#include "runtime/stage.hpp"

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace hyperframes {

enum class match_rule : std::uint8_t {
  nearest,   ///< by capture time on the graph's time line, within the tolerance
  linear,    ///< as `nearest`; sensor vectors are interpolated at the set's moment
  frame_id,  ///< by the device's own counter, which must be equal
  hold_last, ///< at each frame of the fastest stream, the last one of every other
};

/// What becomes of a set that lacks members.
enum class missing_rule : std::uint8_t {
  strict,    ///< its frames are dropped
  at_least,  ///< it leaves with `least` members or more, otherwise its frames are dropped
  hold_last, ///< the last frame of the stream stands in, as context; until there is one, and where
             ///< it is older than `max_age`, as `partial`
  partial,   ///< it leaves with the members that it has, be it one
};

struct align_options {
  match_rule match = match_rule::nearest;
  duration tolerance = std::chrono::milliseconds{10};
  duration wait = std::chrono::milliseconds{40};
  missing_rule missing = missing_rule::partial;
  std::uint32_t least = 1;
  duration max_age = std::chrono::seconds{1};      ///< of a frame that stands in, of neighbours
  duration silent_after = std::chrono::seconds{1}; ///< see `silence_watch`
  std::uint32_t depth = 8;                         ///< frames that one stream may have waiting
  /// A stream of the group is live. False: all come from files, which can be held back, so that
  /// `wait` forces no set out and the sets do not depend on the machine's speed.
  bool live = true;
};

struct align_member {
  stream_index stream = 0;
  double fps = 0;            ///< declared; 0 unknown
  bool interpolates = false; ///< its frames are sensor vectors
  bool attached = true;      ///< false: has no camera yet, and is not waited for until it has
};

/// Matches the streams of one group into sets.
///
/// The anchor is the earliest frame that waits, at place p on the time line. Its set takes the
/// first waiting frame of every other stream that lies in [p, p + tolerance], unless a better set
/// with a later start s <= the latest of these frames has the same streams, and more of them or a
/// smaller span: the anchor's set then ends before s. (ROS's approximate-time policy slides over
/// the same candidates, http://wiki.ros.org/message_filters/ApproximateTime; it knows complete sets
/// only, and drops what lies between.) A set leaves at
///   min(no better one can come, oldest arrival of a waiting frame + wait)
/// where a frame cannot come from a stream that has ended, is silent, or has shown a later one; nor
/// sooner after its newest than 7/8 of the least of its last eight intervals (four must be known)
/// and of its declared period. A stream with more than `depth` waiting frames forces the anchor's
/// set out at once.
///
/// Streams that ride along form no sets: with `linear` the sensor vectors (beside images; without
/// them, all but the fastest stream), with `hold_last` all but the fastest stream that gives
/// frames.
///   linear:    value at p between the last frame at or before p and the first one after it, both
///              within `max_age`; where one is missing at the end of the wait, the other as it is
///              within the tolerance
///   hold_last: the newest frame up to p + tolerance, not older than `max_age`; not waited for
/// A frame that rides is own in the first set that uses it and context in later ones; it ends as
/// `dropped (unmatched)` where no set has used it by its arrival + wait, or a later one took over.
///
/// Sets leave in the order of their anchors, each stream's frames in theirs. A frame leaves once:
/// in one set as own, or with one outcome: `dropped (unmatched)` where an anchor found nobody and
/// the rule wants partners, `dropped (incomplete_set)` where it found too few, `dropped (stale)`
/// where it came after its set had left.
///
/// Not thread-safe. Never blocks.
class aligner {
public:
  /// What is to be sent, in this order, which frames ended here, and who fell silent or came back.
  struct output {
    std::vector<std::variant<aligned_set_ptr, stream_end>> sent;
    std::vector<outcome_range> outcomes;
    std::vector<silence_watch::change> silences;
  };

  /// @param group index in the graph; @param members at least one.
  aligner(
    const align_options& options, std::uint32_t group, const std::vector<align_member>& members);

  /// Takes a frame of the member that stands at `member`; `now` is its arrival.
  void add(std::uint32_t member, frame f, graph_time now, output& to);
  /// The stream is not waited for after its last end, and while its camera is away; the end leaves
  /// behind the stream's frames.
  void end(std::uint32_t member, const stream_end& end, graph_time now, output& to);
  /// False: the stream is far enough ahead of the others; its next frame should not be added yet.
  /// Always true in a live group.
  bool takes(std::uint32_t member) const;
  /// Sends what `now` forces out.
  void wake(graph_time now, output& to);
  /// @returns when `wake` has something to do; `never` where nothing waits for a time.
  graph_time due() const { return due_; }

  std::uint64_t held_frames() const { return held_; }
  stream_index stream_of(std::uint32_t member) const { return members_.at(member).stream; }
  /// Names the waiting frames and forgets them.
  void give_up(outcome what, reason why, outcome_batch& into);

private:
  using place = std::int64_t; ///< ns on the time line, or the device's counter

  struct waiting_frame {
    frame content;
    place at = 0;
    graph_time since{};
    bool owed = true; ///< false: own in a set that left, or ended; kept because its stream rides
  };
  struct waiting_end {
    stream_end end;
    std::uint64_t behind = 0; ///< leaves when so many frames of the stream have left
  };
  struct member_state {
    stream_index stream = 0;
    double fps = 0;
    bool interpolates = false;
    bool rides = false;
    boost::circular_buffer<waiting_frame> queue;
    std::vector<waiting_end> ends;
    std::optional<frame> last; ///< for `hold_last`
    std::optional<std::uint32_t> epoch;
    place newest;   ///< of the last frame that came
    place earliest; ///< a frame before this place has missed its set
    std::array<place, 8> intervals{};
    std::uint32_t interval_count = 0;
    std::uint64_t came = 0, left = 0;
    bool ended = false; ///< or without a camera: nothing comes
  };
  /// Which frames a set that starts at some place would have.
  struct candidate {
    place start = 0;
    std::size_t count = 0;
    place span = 0;
    bool holds_all = true; ///< the streams of the anchor's set
    bool seen = true;      ///< all its frames have come
    bool better_than(const candidate& other) const;
  };

  struct ride_choice {
    waiting_frame* used = nullptr;
    waiting_frame* other = nullptr; ///< interpolate between the two
  };

  // align.cpp: frames come, sets leave
  place place_of(const member_state& m, const frame_meta& meta) const;
  void begin_epoch(member_state& m, std::uint32_t epoch);
  void advance(graph_time now, output& to);
  void watch(std::uint32_t member, graph_time now, output& to);
  const member_state* anchor() const;
  place earliest_set() const;
  void drop_stale(output& to);
  void send_ends(output& to);
  bool silent(const member_state& m) const;

  // align_match.cpp: which frames belong together
  bool rate_known(const member_state& m) const;
  place soonest(const member_state& m) const;
  bool may_come(const member_state& m, place last) const;
  std::optional<place> last_of_set(place anchor, bool forced) const;
  candidate set_from(place start, place anchor, bool expected) const;

  // align_ride.cpp: streams that form no sets of their own
  void assign_roles(output& to);
  std::size_t fastest() const;
  bool rider_ready(const member_state& m, place anchor) const;
  void trim_rider(member_state& m, place first, output& to);
  void expire_riders(graph_time now, output& to);
  void settle(member_state& m, waiting_frame& w, output& to);
  waiting_frame* held_by(member_state& m, place anchor);
  ride_choice choose(member_state& m, place anchor);
  std::optional<frame> ride(member_state& m, place anchor, bool& own);

  // align_send.cpp: what a set is made of
  void leave(place anchor, place last, output& to);
  void drop(place last, reason why, output& to);
  void send(place anchor, place last, output& to);
  void fill(aligned_set::member& entry, member_state& m, graph_time moment);
  frame take(member_state& m);

  align_options options_;
  std::uint32_t group_;
  place tolerance_;
  std::vector<member_state> members_;
  silence_watch watch_;
  vector_interpolator interpolator_;
  bool riders_ = false; ///< the match rule has streams ride along
  place last_anchor_;
  graph_time due_ = never;
  std::uint64_t held_ = 0;
  std::size_t ends_waiting_ = 0;
};

/// `align`: frame -> aligned set.
stage_description describe_align();

} // namespace hyperframes
