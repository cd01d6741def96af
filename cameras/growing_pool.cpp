#include "cameras/growing_pool.hpp"

#include <utility>

namespace hyperframes {

void growing_pool::reset(std::string stream, std::size_t slots, std::shared_ptr<pool_stats> stats) {
  stream_ = std::move(stream);
  slots_ = slots;
  stats_ = std::move(stats);
  pool_ = {};
}

expected<void> growing_pool::fit(std::size_t bytes) {
  if (pool_.slots() > 0 && bytes <= pool_.slot_bytes())
    return {};
  if (pool_.in_use() == 0)
    pool_ = {}; // its memory is free for the new one
  try {
    pool_ = buffer_pool{slots_, bytes, stats_};
  } catch (const failure& f) {
    return make_error(f.what_failed().code, stream_, f.what_failed().message);
  }
  return {};
}

} // namespace hyperframes
