#pragma once

#include "runtime/mailbox.hpp"

namespace hyperframes {

/// The sending end of an edge: counts the credit, keeps what has none or drops it by the policy.
///
/// At zero credit `block` keeps every item (its stage then gets no further ones), the dropping
/// policies keep one: `drop_oldest` replaces it, `drop_newest` drops the newcomer. Ends wait behind
/// the items of their lane. Not thread-safe; owned by the sender.
class outlet {
public:
  struct sent {
    std::optional<item> out;     ///< to be sent now
    std::optional<item> dropped; ///< by the policy; its frames need outcomes
  };

  /// @param used credit that another one, which this one follows, has used and not got back.
  outlet(edge_index edge, stage_index target, const edge_limits& limits,
         const std::vector<credit_message>& used = {});

  /// Puts `value` on its way. With policy `fail` and no credit it is dropped: the sender is to
  /// fail.
  sent put(item value);
  /// @returns true when the end can be sent now; otherwise it waits in its lane.
  bool put_end(const stream_end& end);
  /// More credit. @returns what can be sent now. Throws `std::logic_error` where more comes back
  /// than was used.
  recycled_vector<mailbox::entry> grant(const credit_message& credit);

  /// A blocking edge that has something waiting: its stage must not be given more work.
  bool blocked() const { return limits_.overflow == overflow_policy::block && waiting_items_ > 0; }
  /// The same, whatever the lane.
  bool blocks_all() const { return blocked() && lanes_.size() == 1; }
  /// The same for one lane.
  bool blocked(stream_index lane) const {
    return blocked()
           && (lanes_.size() == 1 || (lane < lanes_.size() && lanes_[lane].items_waiting > 0));
  }
  /// Items that a lane takes now without waiting.
  std::uint32_t credit(stream_index lane) const;
  std::uint64_t waiting_frames() const { return waiting_frames_; }
  /// Items that were sent and whose credit has not come back, in all lanes.
  std::uint64_t under_way() const { return under_way_; }
  /// Takes everything that waits, for a stop: items need outcomes, ends must still be sent.
  std::vector<mailbox::entry> take_waiting();

  edge_index edge() const { return edge_; }
  stage_index target() const { return target_; }
  std::uint64_t drops() const { return drops_; }

private:
  struct lane_state {
    std::uint32_t under_way = 0;
    std::uint64_t bytes = 0;
    std::uint32_t items_waiting = 0;
    recycled_deque<mailbox::entry> waiting;
  };
  lane_state& lane(stream_index index);
  bool admits(const lane_state& l, std::uint64_t bytes) const;
  void count_sent(lane_state& l, const item& i);
  void wait(lane_state& l, item value);

  edge_index edge_;
  stage_index target_;
  edge_limits limits_;
  std::vector<lane_state> lanes_;
  std::uint64_t under_way_ = 0;
  std::uint64_t waiting_items_ = 0;
  std::uint64_t waiting_frames_ = 0;
  std::uint64_t drops_ = 0;
};

} // namespace hyperframes
