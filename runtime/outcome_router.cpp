#include "runtime/outcome_router.hpp"

#include <algorithm>
#include <stdexcept>

namespace hyperframes {

void outcome_router::add(const outcome_range& range, const std::vector<stage_index>& settlers) {
  for (auto settler : settlers) {
    const auto at = std::ranges::find(settlers_, settler);
    if (at == settlers_.end())
      throw std::logic_error("an edge reaches a settling stage that its stage does not reach");
    batches_[static_cast<std::size_t>(at - settlers_.begin())].add(range);
  }
}

void outcome_router::add(const item& i, outcome what, reason why,
                         const std::vector<stage_index>& settlers) {
  outcome_batch batch;
  add_outcomes(i, what, why, batch);
  for (const auto& range : batch.ranges())
    add(range, settlers);
}

bool outcome_router::reaches(stage_index settler) const {
  return std::ranges::find(settlers_, settler) != settlers_.end();
}

} // namespace hyperframes
