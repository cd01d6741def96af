#pragma once

#include "runtime/description.hpp"
#include "runtime/hyperframe.hpp"
#include "runtime/stage.hpp"

#include <boost/circular_buffer.hpp>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace hyperframes {

enum class match_rule : std::uint8_t {
  nearest,  ///< by capture time on the graph's time line, within the tolerance
  frame_id, ///< by the device's own counter, which must be equal
};

/// What becomes of a set that lacks members.
enum class missing_rule : std::uint8_t {
  strict,    ///< its frames are dropped
  at_least,  ///< it leaves with `least` members or more, otherwise its frames are dropped
  hold_last, ///< the last frame of the stream stands in, as context; until there is one as
             ///< `partial`
  partial,   ///< it leaves with the members that it has, be it one
};

struct align_options {
  match_rule match = match_rule::nearest;
  duration tolerance = std::chrono::milliseconds{10};
  duration wait = std::chrono::milliseconds{40};
  missing_rule missing = missing_rule::partial;
  std::uint32_t least = 1;
  std::uint32_t depth = 8; ///< frames that one stream may have waiting
  /// A stream of the group is live. False: all come from files, which can be held back, so that
  /// `wait` forces no set out and the sets do not depend on the machine's speed.
  bool live = true;
};

/// Matches the streams of one group into sets.
///
/// The anchor is the earliest frame that waits, at place p on the time line. Its set takes the
/// first waiting frame of every other stream that lies in [p, p + tolerance], and leaves at
///   min(every member is in it, or cannot come any more, oldest arrival of a waiting frame + wait),
/// where a member cannot come once its stream has ended or has shown a frame past p + tolerance. A
/// stream with more than `depth` waiting frames forces the anchor's set out at once.
///
/// Sets leave in the order of their anchors, each stream's frames in theirs. A frame leaves once:
/// in one set as own, or with one outcome: `dropped (unmatched)` where an anchor found nobody and
/// the rule wants partners, `dropped (incomplete_set)` where it found too few, `dropped (stale)`
/// where it came after its set had left.
///
/// Not thread-safe. Never blocks.
class aligner {
public:
  /// What is to be sent, in this order, and which frames ended here.
  struct output {
    std::vector<std::variant<aligned_set_ptr, stream_end>> sent;
    std::vector<outcome_range> outcomes;
  };

  /// @param group index in the graph; @param streams of its members, at least one.
  aligner(
    const align_options& options, std::uint32_t group, const std::vector<stream_index>& streams);

  /// Takes a frame of the member that stands at `member`; `now` is its arrival.
  void add(std::uint32_t member, frame f, graph_time now, output& to);
  /// The stream is not waited for after its last end; the end leaves behind the stream's frames.
  void end(std::uint32_t member, const stream_end& end, graph_time now, output& to);
  /// False: the stream is far enough ahead of the others; its next frame should not be added yet.
  /// Always true in a live group.
  bool takes(std::uint32_t member) const;
  /// Sends what `now` forces out.
  void wake(graph_time now, output& to);
  /// @returns when `wake` has something to do; `never` where nothing waits for a time.
  graph_time due() const { return due_; }

  std::uint64_t held_frames() const { return held_; }
  /// Names the waiting frames and forgets them.
  void give_up(outcome what, reason why, outcome_batch& into);

private:
  struct waiting_frame {
    frame content;
    std::int64_t place = 0; ///< ns on the time line, or the device's counter
    graph_time since{};
  };
  struct waiting_end {
    stream_end end;
    std::uint64_t behind = 0; ///< leaves when so many frames of the stream have left
  };
  struct member_state {
    stream_index stream = 0;
    boost::circular_buffer<waiting_frame> queue;
    std::vector<waiting_end> ends;
    std::optional<frame> last; ///< for `hold_last`
    std::optional<std::uint32_t> epoch;
    std::int64_t newest;   ///< place of the last frame that came
    std::int64_t earliest; ///< a frame before this place has missed its set
    std::uint64_t came = 0, left = 0;
    bool ended = false;
  };
  std::int64_t place_of(const member_state& m, const frame_meta& meta) const;
  void advance(graph_time now, output& to);
  void drop_stale(output& to);
  void leave(const frame_meta& anchor, std::int64_t place, output& to);
  void drop(std::int64_t last, reason why, output& to);
  void send(const frame_meta& anchor, std::int64_t place, output& to);
  frame take(member_state& m);
  void send_ends(output& to);

  align_options options_;
  std::uint32_t group_;
  std::int64_t tolerance_; ///< in places
  std::vector<member_state> members_;
  graph_time due_ = never;
  std::uint64_t held_ = 0;
  std::size_t ends_waiting_ = 0;
};

/// `align`: frame -> aligned set.
stage_description describe_align();

} // namespace hyperframes
