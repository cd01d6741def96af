#pragma once

#include "runtime/item.hpp"
#include "runtime/message.hpp"

#include <vector>

namespace hyperframes {

/// Collects the outcomes that one stage gives while it handles a message, by the settling stage whose
/// account they belong to. Owned by one stage.
class outcome_router {
public:
  /// @param settlers the settling stages at or below the stage.
  explicit outcome_router(std::vector<stage_index> settlers)
    : settlers_(std::move(settlers)), batches_(settlers_.size()) {}

  /// Adds `range` in every account.
  void add(const outcome_range& range) { add(range, settlers_); }
  /// Adds `range` in the accounts of `settlers` only. Throws std::logic_error for one that is not below.
  void add(const outcome_range& range, const std::vector<stage_index>& settlers);
  /// Adds an outcome for every frame that `i` owns.
  void add(const item& i, outcome what, reason why, const std::vector<stage_index>& settlers);

  /// Calls `send(settler, outcome_message)` for all that was collected.
  template <class Send>
  void flush(Send send) {
    for (std::size_t s = 0; s < settlers_.size(); ++s)
      if (!batches_[s].empty())
        send(settlers_[s], outcome_message{batches_[s].take()});
  }
  bool reaches(stage_index settler) const;
  const std::vector<stage_index>& settlers() const { return settlers_; }

private:
  std::vector<stage_index> settlers_;
  std::vector<outcome_batch> batches_; ///< as `settlers_`
};

} // namespace hyperframes
