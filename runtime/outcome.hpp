#pragma once

#include "runtime/frame.hpp"
#include "runtime/recycled.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace hyperframes {

/// The one final fate of a captured frame.
enum class outcome : std::uint8_t { delivered, skipped, dropped, expired, failed, lost };
inline constexpr std::size_t outcome_count = 6;
const char* to_string(outcome o);

/// Why. A closed set so that counting needs no text; `to_string` gives the words for logs,
/// metrics and results.
enum class reason : std::uint8_t {
  none,           ///< delivered
  late,           ///< delivered after its deadline
  stride,         ///< skipped: between two hyperframes
  every,          ///< skipped: `every: n`
  untriggered,    ///< skipped: no trigger asked for it
  pool_empty,     ///< dropped: a live source met an empty pool
  edge_full,      ///< dropped: an edge's policy
  unmatched,      ///< dropped: found no partner within the tolerance
  incomplete_set, ///< dropped: `strict` or `at_least` was not met
  stale,          ///< dropped: older than what already left
  stopped,        ///< dropped: the graph was stopped
  deadline,       ///< expired: past its deadline
  ttl,            ///< expired: queued longer than allowed
  corrupt,        ///< failed: the source flagged the content
  no_memory,      ///< failed: larger than before, and the graph's `memory` was used up
  pack,           ///< failed: could not be packed
  inference,      ///< failed: the model failed on this frame
  quarantined,    ///< failed: brought a worker down twice
  stage_failed,   ///< failed: the stage that held it failed
  reorder,        ///< lost: did not fit the reorder space
  worker_lost,    ///< lost: the process that held it died
  restart,        ///< lost: the run that captured it was killed, and a later one went on
};
inline constexpr std::size_t reason_count = 22;
const char* to_string(reason r);

/// `count` frames of one stream with contiguous ids that share one outcome.
struct outcome_range {
  stream_index stream = 0;
  std::uint32_t epoch = 0;
  std::uint64_t first = 0; ///< frame id
  std::uint64_t count = 1;
  outcome what = outcome::dropped;
  reason why = reason::none;
};

using outcome_ranges = recycled_vector<outcome_range>;

/// Outcomes under way. Neighbouring ranges merge, so that their number is bounded by the
/// streams and the frames in flight, not by the frames that ended.
class outcome_batch {
public:
  void add(const outcome_range& range);
  void add(const frame_meta& meta, outcome what, reason why) {
    add({meta.stream, meta.epoch, meta.frame_id, 1, what, why});
  }
  bool empty() const { return ranges_.empty(); }
  std::uint64_t frames() const; ///< in all ranges
  const outcome_ranges& ranges() const { return ranges_; }
  outcome_ranges take() { return std::exchange(ranges_, {}); }
  void clear() { ranges_.clear(); }

private:
  outcome_ranges ranges_;
};

} // namespace hyperframes
