#pragma once

#include "actors/moment_ring.hpp"
#include "actors/pack.hpp"
#include "runtime/description.hpp"
#include "runtime/hyperframe.hpp"
#include "runtime/stage.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hyperframes {

/// When and how hyperframes of one lane (a stream, or a group) are closed. A moment is one frame of
/// a stream, or one aligned set.
struct bundle_options {
  std::uint32_t size = 8; ///< moments in a hyperframe
  std::uint32_t stride =
    8; ///< own moments from one hyperframe to the next; below `size` they overlap
  std::uint32_t every = 1;         ///< takes each n-th moment
  std::uint32_t count = 8;         ///< moments that release it, context included
  std::optional<duration> timeout; ///< since the oldest own member arrived
  std::optional<duration> window;  ///< released at multiples of it on the graph's time line
  bool late = false;               ///< released 1.5 size * every / fps after the oldest own member arrived
  bool trigger = false;            ///< released when a trigger comes
  /// Hyperframes are made of the moments around triggers only: so many from before each, the others
  /// from it on. With `trigger`; `stride` and `count` are `size` then, and there is no window.
  std::optional<std::uint32_t> pre;
  bool keep_frames = false; ///< the hyperframe holds its frames
  /// The first moment of a hyperframe is sent ahead. `stride` is not below `size` then.
  bool stream_first = false;

  /// Moments that are kept for triggers: those of a hyperframe, and the one that shows that all before
  /// a trigger have come.
  std::uint32_t ring() const { return pre ? std::max(size, *pre + 1) : 0; }
};

/// Whose frames fill the hyperframes: one stream's, or those of a group.
struct bundle_lane {
  std::uint32_t group = 0;           ///< index into `graph_facts::groups`
  std::vector<stream_index> members; ///< streams of one moment, in order
  double fps = 30;                   ///< for `late`; the slowest member's
  bool paced = true;                 ///< the members say their rate: the span is judged by it
  /// False: all members come from files that are not read in real time; nothing is released for the
  /// time that passes, because a slow worker would cut their hyperframes at random. `window` and
  /// triggers then go by the frames' own times.
  bool live = true;
  std::int32_t priority = 0;
  std::optional<pack_spec> pack; ///< with width and height; none: no tensor is made
};

/// @returns 1.5 size * every / fps: by when the lane's hyperframe is late.
duration late_after(const bundle_options& options, const bundle_lane& lane);

/// What the bundlers of a stage share.
struct bundle_shared {
  std::string stage;
  buffer_pool tensors;          ///< of hyperframes
  buffer_pool firsts;           ///< of moments, for those that go ahead
  hyperframe_sequence sequence; ///< node and run of its hyperframes
  std::shared_ptr<std::atomic<std::uint64_t>> counter ///< all bundlers of a graph draw from one
    = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// Fills and closes the hyperframes of one lane, one open at a time.
///
/// A hyperframe whose oldest own member arrived at t0 is released at
///   min(arrival of moment `count`, t0 + timeout, t0 + 1.5 size * every / fps where `late`,
///       the first multiple of `window` after t0, arrival of a trigger),
/// at the end of the stream, or when the stream begins a new epoch. With stride < size the newest
/// size - stride moments stand at the head of the next one as context; with stride > size the next
/// stride - size moments are `skipped (stride)`.
///
/// With `pre` only triggers make hyperframes. One at time T on the time line asks for the last `pre`
/// moments before T and the first size - pre from T on. A frame that several triggers ask for is own
/// in the first of their hyperframes and context in the others; one that was in none when it leaves
/// the ring of the last max(size, pre + 1) moments, or when a hyperframe begins behind it, is
/// `skipped (untriggered)`. t0 is never before the
/// trigger's arrival. A trigger that comes when the first moment from T on has left the ring gets
/// nothing. Triggers take effect in the order of their moments; one that comes behind a later one asks
/// for nothing that is older than what that one asked for.
///
/// With `stream_first` the first moment of a hyperframe goes ahead as soon as it is packed, with a
/// tensor of its own, and the others follow when the hyperframe is released: both have its sequence
/// number, and where no others have come, nothing follows. A first moment in which no frame is new
/// (damaged, or own in an earlier hyperframe) goes with the others.
///
/// A frame is packed into its slot at once, so that its buffer is free when `add` returns unless
/// frames are kept or wait in the ring. A frame that is flagged corrupt, has no content or cannot
/// be packed leaves a masked slot and the outcome `failed`. A hyperframe without any own frame left
/// is not sent.
///
/// Not thread-safe. Never blocks. Allocates two objects for each that it sends.
class bundler {
public:
  struct output {
    std::vector<hyperframe_ptr> released;
    std::vector<outcome_range> outcomes;
    std::size_t bytes_copied = 0;    ///< into context slots
    std::uint64_t triggers_lost = 0; ///< that came while `max_triggers` waited
    std::uint64_t triggers_late = 0; ///< that came when the first frame behind them was gone
  };
  /// A member's part in a moment: its frame, or the reason for its absence.
  struct entry {
    const frame* content = nullptr;
    bool own = true; ///< false: it repeats a frame that an earlier moment owns
    reason absent = reason::none;
  };
  /// Triggers of a lane that may wait for their moments.
  static constexpr std::size_t max_triggers = 64;

  bundler(const bundle_options& options, bundle_lane lane, bundle_shared& shared);

  /// Takes a moment, one entry a member. `arrived`: of its oldest own member.
  /// Throws `failure` (out_of_memory) when no tensor is free, which is a defect of the plan.
  void add(std::span<const entry> moment, graph_time arrived, graph_time now, output& to);
  /// Without `pre`, closes what is open: at once, but for files, whose moments before the frame that
  /// fired are waited for. With `pre`, asks for the moments around it. Without `trigger`, nothing.
  void fire(const trigger& t, graph_time now, output& to);
  /// An epoch of `stream` is over: closes what is open where it owns a frame of it, or where every
  /// member has come to its last end. What is open otherwise goes on without the stream.
  void end(stream_index stream, bool last_epoch, graph_time now, output& to);
  /// Closes what is open and begins anew; triggers that wait get what there is.
  void flush(graph_time now, output& to);
  /// Closes what `now` has made due.
  void wake(graph_time now, output& to);
  /// @returns when `wake` has something to do; `never` where nothing waits for a time.
  graph_time due() const { return due_; }

  const bundle_lane& lane() const { return lane_; }
  std::uint64_t held_frames() const { return own_ + waiting_; }
  /// Names the own frames of the open hyperframe and of the ring, and forgets them.
  void give_up(outcome what, reason why, outcome_batch& into);

private:
  struct member_state {
    std::optional<frame_position> last; ///< newest frame that came
    bool gap = false;                   ///< frames are missing before the next one that is taken
    bool ended = false;
    bool seen = false; ///< a frame of it, while a descriptor is written
    std::optional<packer> packs;
  };
  /// A trigger that waits for its moment.
  struct request {
    graph_time moment{};
    graph_time came{};
    std::optional<std::uint64_t> first; ///< moment of the ring from which on it is met
  };
  struct bound {
    graph_time due = never;
    release_reason why = release_reason::timeout;
  };

  // bundle.cpp
  std::uint32_t members() const { return static_cast<std::uint32_t>(lane_.members.size()); }
  std::span<std::byte> memory(const hyperframe& h, std::size_t slot) const;
  bool new_epoch(std::span<const entry> moment) const;
  void note(std::span<const entry> moment);
  void skip(std::span<const entry> moment, reason why, output& to);
  std::shared_ptr<hyperframe> make(std::uint32_t moments, buffer_pool& tensors, graph_time now);
  std::shared_ptr<hyperframe> make_next(graph_time now);
  void place(std::size_t member, const entry& e, bool gap, output& to);
  reason pack(std::size_t member, const frame& f, std::size_t slot);
  void carry_over(hyperframe& next, std::uint32_t moments, output& to);
  void complete(release_reason why, graph_time now);
  bool off_pace() const;
  bool holds(stream_index stream) const;
  void clear();

  // bundle_first.cpp
  void send_first(graph_time now, output& to);
  /// Calls `visit(member, slot)` for the slots of the hyperframe, those that were sent ahead first.
  template <class Visit>
  void for_each_slot(Visit visit) const {
    const auto of = [&](const recycled_vector<slot>& slots) {
      for (std::size_t i = 0; i < slots.size(); ++i)
        visit(i % members(), slots[i]);
    };
    if (ahead_ > 0)
      of(head_.slots);
    if (open_)
      of(open_->descriptor.slots);
  }

  // bundle_release.cpp
  bool past_window(std::span<const entry> moment) const;
  bool cut_before(graph_time place);
  bound bound_after(graph_time t0) const;
  void arm(graph_time t0);
  void release(release_reason why, graph_time now, output& to);

  // bundle_trigger.cpp
  void keep(std::span<const entry> moment, graph_time place, graph_time arrived, graph_time now,
            output& to);
  void let_oldest_go(output& to);
  void skip_oldest(output& to);
  void ask(const trigger& t, graph_time now, output& to);
  void serve(graph_time now, output& to);
  bool open_next(output& to);
  void fill_window(graph_time now, output& to);
  void close_window(release_reason why, graph_time now, output& to);
  void rearm();
  void wake_ring(graph_time now, output& to);
  void flush_ring(graph_time now, output& to);

  bundle_options options_;
  bundle_lane lane_;
  bundle_shared& shared_;
  std::vector<member_state> members_;
  std::shared_ptr<hyperframe> open_;
  std::vector<graph_time> places_; ///< of the moments in `open_`, and of the one sent ahead
  std::uint32_t filled_ = 0;       ///< moments in `open_`, context included, and the one sent ahead
  std::uint32_t own_ = 0;          ///< own slots in `open_`
  std::uint32_t ahead_ = 0;        ///< moments that were sent ahead: 0 or 1
  hyperframe_descriptor head_;     ///< theirs
  std::uint32_t to_skip_ = 0;
  std::uint32_t passed_ = 0; ///< moments since the last one that `every` took
  graph_time newest_ = graph_time::min(); ///< place of the newest moment in `open_`
  graph_time due_ = never;
  release_reason due_for_ = release_reason::timeout;

  std::vector<request> requests_; ///< in the order of their moments
  moment_ring ring_;              ///< with `pre`; otherwise empty
  std::uint64_t waiting_ = 0;     ///< own frames in the ring
  graph_time gone_ = graph_time::min(); ///< place of the newest moment that has left the ring
  bool window_ = false;           ///< with `pre`: a trigger's hyperframe is being filled
  std::uint64_t window_first_ = 0, window_end_ = 0; ///< its moments, or those of the last one
  std::uint64_t next_ = 0;                          ///< the moment that fills it next
  graph_time window_t0_{};                          ///< from which on it has its time
};

/// `bundle`: frame or aligned set, and trigger -> hyperframe.
stage_description describe_bundle();

} // namespace hyperframes
