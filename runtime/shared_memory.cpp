#include "runtime/shared_memory.hpp"

#include "runtime/pool_slot.hpp"
#include "runtime/shared_segment.hpp"

namespace hyperframes {

namespace {

class shared final : public memory_backing {
public:
  expected<std::unique_ptr<pool_memory>> allocate(std::size_t slots, std::size_t stride) override {
    auto made = detail::owned_segment::make(slots, stride);
    if (!made)
      return made.error();
    return std::unique_ptr<pool_memory>{std::move(*made)};
  }
};

} // namespace

std::shared_ptr<memory_backing> shared_backing() {
  static const auto instance = std::make_shared<shared>();
  return instance;
}

std::optional<shared_handle> handle_of(const buffer_ref& b) {
  const auto* slot = detail::pool_slot::of(b);
  if (!slot)
    return {};
  const auto place = slot->home->place(*slot);
  const auto* segment = dynamic_cast<const detail::owned_segment*>(place.memory);
  if (!segment)
    return {};
  const auto generation = segment->generations()[place.index].load(std::memory_order_relaxed);
  return shared_handle{segment->address(), place.index, generation, b.size()};
}

shared_probe::shared_probe() {
  auto made = detail::owned_segment::make(0, 0);
  if (!made)
    throw failure(make_error(
      errc::out_of_memory, "shared memory", "a probe for other processes " + made.error().message));
  memory_ = std::move(*made);
}
shared_probe::shared_probe(shared_probe&&) noexcept = default;
shared_probe& shared_probe::operator=(shared_probe&&) noexcept = default;
shared_probe::~shared_probe() = default;

const segment_address& shared_probe::address() const {
  return static_cast<const detail::owned_segment&>(*memory_).address();
}

expected<void> may_borrow(const segment_address& probe) {
  if (const auto mapped = detail::borrowed_segment::map(probe); !mapped)
    return mapped.error();
  return {};
}

} // namespace hyperframes
