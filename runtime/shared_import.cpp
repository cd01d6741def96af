#include "runtime/shared_import.hpp"

#include "runtime/pool_slot.hpp"
#include "runtime/shared_segment.hpp"

#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace hyperframes {

namespace detail {

namespace {

struct mapped_pool {
  std::unique_ptr<borrowed_segment> segment;
  std::size_t open = 0;   ///< buffers
  bool forgotten = false; ///< its process
  bool spent() const { return open == 0 && (forgotten || segment->retired()); }
};

using pools_by_address = std::map<segment_address, mapped_pool>;

/// A buffer that is open.
struct import_slot : pool_slot {
  std::shared_ptr<import_core> core; ///< which lives as long as its buffers
  mapped_pool* pool = nullptr;
  recycled_function<void> on_release;
  import_slot *before = nullptr, *after = nullptr; ///< in the list of all
};

} // namespace

struct import_core final : counted_pool, slot_home, std::enable_shared_from_this<import_core> {
  std::shared_ptr<pool_stats> stats;
  std::size_t most_pools;
  mutable std::mutex mutex; ///< guards all below
  pools_by_address pools;
  segment_address looked_at; ///< by `take_next_spent`
  import_slot* first = nullptr;
  std::size_t buffers = 0;

  import_core(std::shared_ptr<pool_stats> counted, std::size_t most)
    : stats(std::move(counted)), most_pools(most) {
    if (stats)
      stats->watch(*this);
  }
  import_core(const import_core&) = delete;
  import_core& operator=(const import_core&) = delete;
  ~import_core() {
    if (stats)
      stats->forget(*this);
  }

  std::optional<held_slot> oldest() const override {
    std::optional<held_slot> found;
    const std::lock_guard lock{mutex};
    for (const auto* s = first; s; s = s->after)
      if (const auto held = s->held(); held && (!found || held->since < found->since))
        found = held;
    return found;
  }
  slot_place place(const pool_slot&) const noexcept override { return {}; }
  void take_back(pool_slot& s) noexcept override;

  // What is taken out of the map is let go by the caller after the lock: unmapping is slow.

  /// All pools that are of no use any more.
  pools_by_address take_spent();
  /// Looks at one pool after the other, one a call. @returns it where it is spent, else nothing.
  pools_by_address::node_type take_next_spent();
  expected<void> make_room(pools_by_address& spent, const segment_address& next);
  void list(import_slot& s) {
    s.after = first;
    if (first)
      first->before = &s;
    first = &s;
    ++buffers;
  }
  void unlist(import_slot& s) {
    (s.before ? s.before->after : first) = s.after;
    if (s.after)
      s.after->before = s.before;
    --buffers;
  }
};

void import_core::take_back(pool_slot& s) noexcept {
  auto& gone = static_cast<import_slot&>(s);
  const auto release = std::move(gone.on_release);
  const auto core = std::move(gone.core);
  pools_by_address::node_type own, other;
  {
    const std::lock_guard lock{mutex};
    unlist(gone);
    if (stats)
      stats->given_back();
    auto& pool = *gone.pool;
    --pool.open;
    if (pool.spent())
      own = pools.extract(pool.segment->address());
    other = take_next_spent();
  }
  gone.~import_slot();
  give_recycled(&gone, sizeof gone);
  own = {};
  other = {};
  if (release)
    release();
}

pools_by_address import_core::take_spent() {
  pools_by_address spent;
  for (auto p = pools.begin(); p != pools.end();) {
    const auto next = std::next(p);
    if (p->second.spent())
      spent.insert(pools.extract(p));
    p = next;
  }
  return spent;
}

pools_by_address::node_type import_core::take_next_spent() {
  if (pools.empty())
    return {};
  auto next = pools.upper_bound(looked_at);
  if (next == pools.end())
    next = pools.begin();
  looked_at = next->first;
  return next->second.spent() ? pools.extract(next) : pools_by_address::node_type{};
}

expected<void> import_core::make_room(pools_by_address& spent, const segment_address& next) {
  spent = take_spent();
  for (auto p = pools.begin(); pools.size() >= most_pools && p != pools.end();) {
    const auto following = std::next(p);
    if (p->second.open == 0)
      spent.insert(pools.extract(p));
    p = following;
  }
  if (pools.size() < most_pools)
    return {};
  return make_error(
    errc::out_of_memory, "shared memory of process " + std::to_string(next.process),
    "buffers of " + std::to_string(pools.size())
      + " pools are open here, which is the most; release some, or lend from fewer pools");
}

} // namespace detail

shared_importer::shared_importer(std::shared_ptr<pool_stats> stats, std::size_t most_pools)
  : core_(std::make_shared<detail::import_core>(std::move(stats), most_pools)) {}

shared_importer::~shared_importer() {
  detail::pools_by_address spent;
  const std::lock_guard lock{core_->mutex};
  for (auto& [address, pool] : core_->pools)
    pool.forgotten = true;
  spent = core_->take_spent();
}

expected<buffer_ref>
shared_importer::open(const shared_handle& h, recycled_function<void> on_release) {
  auto& core = *core_;
  detail::pools_by_address spent;
  std::unique_lock lock{core.mutex};
  auto found = core.pools.find(h.segment);
  if (found == core.pools.end()) {
    lock.unlock(); // while it is mapped: another thread may map it too, and one of both is let go
    auto mapped = detail::borrowed_segment::map(h.segment);
    if (!mapped)
      return mapped.error();
    lock.lock();
    if (const auto room = core.make_room(spent, h.segment); !room)
      return room.error();
    found = core.pools.try_emplace(h.segment).first;
    if (!found->second.segment)
      found->second.segment = std::move(*mapped);
  }
  auto& pool = found->second;
  const auto content = pool.segment->content(h);
  if (!content)
    return content.error();
  auto* slot = new (take_recycled(sizeof(detail::import_slot))) detail::import_slot;
  slot->core = core_;
  slot->pool = &pool;
  slot->on_release = std::move(on_release);
  slot->borrowed = true;
  slot->data = const_cast<std::byte*>(content->data());
  slot->bytes = content->size();
  slot->home = core_.get();
  ++pool.open;
  core.list(*slot);
  if (core.stats)
    core.stats->taken();
  return slot->give_out();
}

void shared_importer::forget(std::int32_t process) {
  detail::pools_by_address spent;
  const std::lock_guard lock{core_->mutex};
  for (auto& [address, pool] : core_->pools)
    if (address.process == process)
      pool.forgotten = true;
  spent = core_->take_spent();
}

shared_importer::numbers shared_importer::now() const {
  const std::lock_guard lock{core_->mutex};
  numbers n{core_->pools.size(), 0, core_->buffers};
  for (const auto& [address, pool] : core_->pools)
    n.mapped_bytes += pool.segment->mapped_bytes();
  return n;
}

} // namespace hyperframes
