#include "runtime/buffer_pool.hpp"

#include "runtime/free_slots.hpp"
#include "runtime/pool_slot.hpp"
#include "runtime/pool_stats.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

namespace detail {

buffer_ref pool_slot::give_out() noexcept {
  stage.store(held_slot::nobody, std::memory_order_relaxed);
  since.store(not_noted, std::memory_order_relaxed);
  references.store(1, std::memory_order_release);
  return buffer_ref{this};
}

std::optional<held_slot> pool_slot::held() const noexcept {
  const auto own = lent.load(std::memory_order_relaxed) ? 1U : 0U;
  if (references.load(std::memory_order_acquire) <= own)
    return {};
  const auto noted = since.load(std::memory_order_relaxed);
  if (noted == not_noted)
    return {};
  return held_slot{graph_time{duration{noted}}, stage.load(std::memory_order_relaxed)};
}

/// Lives as long as the pool object or a reference to one of its slots.
struct pool_core final : counted_pool, slot_home {
  std::unique_ptr<pool_memory> memory;
  std::size_t slot_bytes = 0;
  std::vector<pool_slot> slots;
  std::shared_ptr<pool_stats> stats;
  free_slots free{slots.size()};
  std::atomic<std::size_t> in_use{0}, peak{0};
  std::atomic<std::size_t> owners{1}; ///< the pool object and every slot in use

  pool_core(
    std::unique_ptr<pool_memory> from, std::size_t each, std::size_t count,
    std::shared_ptr<pool_stats> counted)
    : memory(std::move(from)), slot_bytes(each), slots(count), stats(std::move(counted)) {
    if (stats)
      stats->watch(*this);
  }
  pool_core(const pool_core&) = delete;
  pool_core& operator=(const pool_core&) = delete;
  ~pool_core() {
    if (stats)
      stats->forget(*this);
    const auto bytes = memory->bytes().size();
    memory.reset();
    if (stats)
      stats->dismiss(slots.size(), bytes);
  }

  std::optional<held_slot> oldest() const override {
    std::optional<held_slot> found;
    for (const auto& s : slots)
      if (const auto held = s.held(); held && (!found || held->since < found->since))
        found = held;
    return found;
  }

  void take_back(pool_slot& s) noexcept override {
    // Before another can take it: no count exceeds the slots.
    in_use.fetch_sub(1, std::memory_order_relaxed);
    if (stats)
      stats->given_back();
    free.put(index_of(s));
    disown();
  }
  std::uint32_t index_of(const pool_slot& s) const noexcept {
    return static_cast<std::uint32_t>(&s - slots.data());
  }
  slot_place place(const pool_slot& s) const noexcept override {
    return {memory.get(), index_of(s)};
  }
  void disown() noexcept {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }
};

} // namespace detail

namespace {

constexpr std::size_t alignment = 64;

class heap_memory final : public pool_memory {
public:
  explicit heap_memory(std::span<std::byte> bytes) { bytes_ = bytes; }
  ~heap_memory() override { std::free(bytes_.data()); }
};

class heap final : public memory_backing {
public:
  expected<std::unique_ptr<pool_memory>> allocate(std::size_t slots, std::size_t stride) override {
    auto* p = static_cast<std::byte*>(std::aligned_alloc(alignment, slots * stride));
    if (!p)
      return make_error(
        errc::out_of_memory, "heap", "cannot be had; use fewer streams or smaller frames");
    return std::make_unique<heap_memory>(std::span{p, slots * stride});
  }
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
  slot_->home->take_back(*slot_);
}

std::byte* buffer_ref::data() const noexcept {
  return slot_ ? slot_->data : nullptr;
}
std::size_t buffer_ref::size() const noexcept {
  return slot_ ? slot_->bytes : 0;
}
bool buffer_ref::unique() const noexcept {
  return slot_ && !slot_->borrowed && slot_->references.load(std::memory_order_acquire) == 1;
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
  std::size_t slots, std::size_t slot_bytes, std::shared_ptr<pool_stats> stats)
  : buffer_pool(slots, slot_bytes, stats, stats ? stats->backing() : heap_backing()) {}

buffer_pool::buffer_pool(
  std::size_t slots, std::size_t slot_bytes, std::shared_ptr<pool_stats> stats,
  const std::shared_ptr<memory_backing>& backing) {
  if (slots == 0 || slot_bytes == 0)
    return;
  const auto padded = (slot_bytes + alignment - 1) / alignment * alignment;
  const auto wanted = std::to_string(slots) + " slots of " + std::to_string(padded) + " bytes ";
  if (padded > SIZE_MAX / slots)
    throw failure(make_error(
      errc::out_of_memory, "buffer pool",
      wanted + "cannot be had; use fewer streams or smaller frames"));
  if (stats && !stats->admit(slots, padded * slots))
    throw failure(make_error(
      errc::out_of_memory, stats->name(),
      wanted
        + "are more than the graph's `memory` leaves beside what is in use;"
          " raise it, or let frames of the size before go sooner"));
  auto memory = backing->allocate(slots, padded);
  if (!memory) {
    if (stats)
      stats->dismiss(slots, padded * slots);
    throw failure(make_error(errc::out_of_memory, "buffer pool", wanted + memory.error().message));
  }
  core_ = new detail::pool_core{std::move(*memory), slot_bytes, slots, std::move(stats)};
  for (std::size_t i = slots; i-- > 0;) {
    auto& slot = core_->slots[i];
    slot.data = core_->memory->bytes().data() + i * padded;
    slot.bytes = slot_bytes;
    slot.home = core_;
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
    core_->disown();
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
  if (const auto generations = core_->memory->generations(); !generations.empty())
    generations[*index].fetch_add(1, std::memory_order_acq_rel);
  return slot->give_out();
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
