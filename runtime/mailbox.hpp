#pragma once

#include "runtime/message.hpp"

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace hyperframes {

/// What an edge may hold and what it does at its bound.
struct edge_limits {
  std::uint32_t capacity = 1;          ///< items; per lane where the edge carries frames
  std::uint64_t capacity_bytes = 0;    ///< 0: unbounded by bytes; an item above it passes alone
  overflow_policy overflow = overflow_policy::block;
  std::uint32_t lanes = 1;             ///< streams on a frame edge, otherwise 1

  /// What the sender may have under way: a dropping edge needs one more, which makes the receiver
  /// evict.
  std::uint32_t credit() const {
    return capacity + (drops() ? 1U : 0U);
  }
  /// What an item counts against `capacity_bytes`; 0 where nothing is bounded by it.
  std::uint64_t counted(std::uint64_t bytes) const { return capacity_bytes > 0 ? bytes : 0; }
  bool drops() const {
    return overflow == overflow_policy::drop_newest || overflow == overflow_policy::drop_oldest;
  }
  /// Credit returns in lots of this size.
  std::uint32_t lot() const;
};

/// The receiving end of an edge: a ring per lane. Items leave in the order of arrival, whatever their
/// lane; an eviction in one lane never touches another.
///
/// Never holds more than `capacity` items a lane after `put`. Not thread-safe; owned by the receiver.
class mailbox {
public:
  using entry = std::variant<item, stream_end>;

  mailbox(edge_index edge, const edge_limits& limits);

  /// Takes an item. @returns the item that the policy evicts for it, if the lane is full.
  /// A sender that ignores its credit on a `block` or `fail` edge is a defect: throws std::logic_error.
  std::optional<item> put(item value, graph_time now);
  void put_end(const stream_end& end);
  /// @returns the oldest entry; nothing when empty.
  std::optional<entry> take(graph_time now) {
    return take(now, [](stream_index) { return true; });
  }
  /// @returns the oldest entry of the lanes that `admits`; nothing where they have none.
  template <class Admits>
  std::optional<entry> take(graph_time now, Admits admits) {
    for (std::size_t i = 0; i < order_.size(); ++i)
      if (admits(order_[i]))
        return take_at(i, now);
    return std::nullopt;
  }
  /// @returns true where `take` would give something.
  template <class Admits>
  bool has(Admits admits) const {
    return std::any_of(order_.begin(), order_.end(), admits);
  }
  /// @returns true where no item waits; an end may.
  bool empty() const { return items_ == 0; }
  bool empty(stream_index lane) const { return lane >= lanes_.size() || lanes_[lane].items == 0; }
  std::uint32_t items() const { return items_; } ///< in all lanes, ends not counted
  std::uint32_t peak() const { return peak_; }   ///< the most items that one lane has held
  std::uint64_t held_frames() const { return frames_; }
  duration last_wait() const { return last_wait_; } ///< of the item that `take` gave last

  /// Counts an item of `lane` as gone and says what credit is to be returned now, if any.
  /// Call it once for each item that `take` or `put` gave.
  std::optional<credit_message> gone(stream_index lane, std::uint64_t bytes);
  /// Credit that waits for its lot to fill: taken when no item is left in the ring.
  recycled_vector<credit_message> take_owed();

  const edge_limits& limits() const { return limits_; }
  edge_index edge() const { return edge_; }

private:
  struct held {
    entry value;
    graph_time since{};
  };
  struct lane_state {
    boost::circular_buffer<held> ring;
    std::uint32_t items = 0;
    std::uint32_t owed = 0;
    bool listed = false; ///< in `owing_`
    std::uint64_t owed_bytes = 0;
  };
  lane_state& lane(stream_index index);
  void append(stream_index lane, held value);
  entry take_at(std::size_t place, graph_time now);

  edge_index edge_;
  edge_limits limits_;
  std::vector<lane_state> lanes_;
  boost::circular_buffer<stream_index> order_; ///< a lane for each entry, oldest first
  std::uint32_t items_ = 0;
  std::uint32_t peak_ = 0;
  std::vector<stream_index> owing_; ///< lanes with credit owed, and some that have given it back since
  std::uint64_t frames_ = 0;
  duration last_wait_{};
};

} // namespace hyperframes
