#include "runtime/buffer_pool.hpp"

#include "runtime/error.hpp"
#include "runtime/free_slots.hpp"
#include "runtime/pool_stats.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

namespace detail {

/// No time was noted since the slot was taken.
constexpr std::int64_t not_noted = std::numeric_limits<std::int64_t>::min();

struct pool_slot {
  std::atomic<std::uint32_t> references{0};
  std::atomic<std::uint32_t> stage{held_slot::nobody}; ///< as in `held_slot`
  std::atomic<std::int64_t> since{not_noted};          ///< ns; as in `held_slot`
  std::atomic<bool> lent{false};                       ///< one of the references is a decoder's
  std::byte* data = nullptr;
  pool_core* core = nullptr;
};

/// Lives as long as the pool object or a reference to one of its slots.
struct pool_core final : counted_pool {
  std::shared_ptr<memory_backing> backing;
  std::span<std::byte> memory;
  std::size_t slot_bytes = 0;
  std::vector<pool_slot> slots;
  std::shared_ptr<pool_stats> stats;
  free_slots free{slots.size()};
  std::atomic<std::size_t> in_use{0}, peak{0};
  std::atomic<std::size_t> owners{1}; ///< the pool object and every slot in use

  pool_core(
    std::shared_ptr<memory_backing> from, std::span<std::byte> bytes, std::size_t each,
    std::size_t count, std::shared_ptr<pool_stats> counted)
    : backing(std::move(from)),
      memory(bytes),
      slot_bytes(each),
      slots(count),
      stats(std::move(counted)) {
    if (stats)
      stats->watch(*this);
  }
  pool_core(const pool_core&) = delete;
  pool_core& operator=(const pool_core&) = delete;
  ~pool_core() {
    if (stats)
      stats->forget(*this);
    const auto bytes = memory.size();
    backing->release(memory);
    if (stats)
      stats->dismiss(slots.size(), bytes);
  }

  std::optional<held_slot> oldest() const override {
    std::optional<held_slot> found;
    for (const auto& s : slots) {
      const auto own = s.lent.load(std::memory_order_relaxed) ? 1U : 0U;
      if (s.references.load(std::memory_order_acquire) <= own)
        continue;
      const auto since = s.since.load(std::memory_order_relaxed);
      if (since == not_noted)
        continue;
      if (const graph_time t{duration{since}}; !found || t < found->since)
        found = held_slot{t, s.stage.load(std::memory_order_relaxed)};
    }
    return found;
  }
};

namespace {

void disown(pool_core* core) noexcept {
  if (core->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete core;
}

} // namespace
} // namespace detail

namespace {

constexpr std::size_t alignment = 64;

class heap final : public memory_backing {
public:
  std::span<std::byte> allocate(std::size_t bytes) override {
    auto* p = static_cast<std::byte*>(std::aligned_alloc(alignment, bytes));
    return p ? std::span{p, bytes} : std::span<std::byte>{};
  }
  void release(std::span<std::byte> memory) noexcept override { std::free(memory.data()); }
};

} // namespace

std::shared_ptr<memory_backing> heap_backing() {
  static const auto instance = std::make_shared<heap>();
  return instance;
}

buffer_ref::buffer_ref(const buffer_ref& other) noexcept : slot_(other.slot_) {
  if (slot_)
    slot_->references.fetch_add(1, std::memory_order_relaxed);
}

buffer_ref::~buffer_ref() {
  if (!slot_ || slot_->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  auto* core = slot_->core;
  core->in_use.fetch_sub(1, std::memory_order_relaxed); // before another can take it: no count exceeds the slots
  if (core->stats)
    core->stats->given_back();
  core->free.put(static_cast<std::uint32_t>(slot_ - core->slots.data()));
  detail::disown(core);
}

std::byte* buffer_ref::data() const noexcept {
  return slot_ ? slot_->data : nullptr;
}
std::size_t buffer_ref::size() const noexcept {
  return slot_ ? slot_->core->slot_bytes : 0;
}
bool buffer_ref::unique() const noexcept {
  return slot_ && slot_->references.load(std::memory_order_acquire) == 1;
}

void buffer_ref::note_taken(std::uint32_t stage, graph_time when) const noexcept {
  if (!slot_)
    return;
  slot_->stage.store(stage, std::memory_order_relaxed);
  if (slot_->since.load(std::memory_order_relaxed) == detail::not_noted)
    slot_->since.store(when.time_since_epoch().count(), std::memory_order_relaxed);
}

void buffer_ref::note_lent(bool lent) const noexcept {
  if (slot_)
    slot_->lent.store(lent, std::memory_order_relaxed);
}

buffer_pool::buffer_pool(
  std::size_t slots, std::size_t slot_bytes, std::shared_ptr<pool_stats> stats,
  std::shared_ptr<memory_backing> backing) {
  if (slots == 0 || slot_bytes == 0)
    return;
  const auto padded = (slot_bytes + alignment - 1) / alignment * alignment;
  const bool countable = padded <= SIZE_MAX / slots;
  if (countable && stats && !stats->admit(slots, padded * slots))
    throw failure(make_error(
      errc::out_of_memory, stats->name(),
      std::to_string(slots) + " slots of " + std::to_string(padded)
        + " bytes are more than the graph's `memory` leaves beside what is in use;"
          " raise it, or let frames of the size before go sooner"));
  const auto memory = countable ? backing->allocate(padded * slots) : std::span<std::byte>{};
  if (memory.empty() && countable && stats)
    stats->dismiss(slots, padded * slots);
  if (memory.empty())
    throw failure(make_error(errc::out_of_memory, "buffer pool",
                             std::to_string(slots) + " slots of " + std::to_string(padded)
                               + " bytes cannot be had; use fewer streams or smaller frames"));
  core_ = new detail::pool_core{std::move(backing), memory, slot_bytes, slots, std::move(stats)};
  for (std::size_t i = slots; i-- > 0;) {
    core_->slots[i].data = memory.data() + i * padded;
    core_->slots[i].core = core_;
    core_->free.put(static_cast<std::uint32_t>(i));
  }
}

buffer_pool::buffer_pool(buffer_pool&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}

buffer_pool& buffer_pool::operator=(buffer_pool&& other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}

buffer_pool::~buffer_pool() {
  if (core_)
    detail::disown(core_);
}

buffer_ref buffer_pool::acquire() noexcept {
  if (!core_)
    return {};
  const auto index = core_->free.take();
  if (!index)
    return {};
  auto* slot = &core_->slots[*index];
  const auto in_use = core_->in_use.fetch_add(1, std::memory_order_relaxed) + 1;
  for (auto peak = core_->peak.load(std::memory_order_relaxed);
       peak < in_use && !core_->peak.compare_exchange_weak(peak, in_use, std::memory_order_relaxed);)
    ;
  core_->owners.fetch_add(1, std::memory_order_relaxed);
  if (core_->stats)
    core_->stats->taken();
  slot->stage.store(held_slot::nobody, std::memory_order_relaxed);
  slot->since.store(detail::not_noted, std::memory_order_relaxed);
  slot->references.store(1, std::memory_order_release);
  return buffer_ref{slot};
}

std::size_t buffer_pool::slots() const noexcept {
  return core_ ? core_->slots.size() : 0;
}
std::size_t buffer_pool::slot_bytes() const noexcept {
  return core_ ? core_->slot_bytes : 0;
}
std::size_t buffer_pool::in_use() const noexcept {
  return core_ ? core_->in_use.load(std::memory_order_relaxed) : 0;
}
std::size_t buffer_pool::peak_in_use() const noexcept {
  return core_ ? core_->peak.load(std::memory_order_relaxed) : 0;
}

} // namespace hyperframes
