#include "runtime/count_items.hpp"

#include <algorithm>

namespace hyperframes {

namespace {
constexpr auto relaxed = std::memory_order_relaxed;
}

std::uint64_t pixel_writes_of(const item& i, bool source) {
  if (source)
    return 1;
  if (const auto* h = std::get_if<hyperframe_ptr>(&i))
    return (*h)->tensor ? (*h)->descriptor.own_count() : 0;
  return 0;
}

void count_batch(const batch& b, std::uint32_t wish, telemetry& numbers) {
  std::uint64_t valid = 0;
  for (const auto& part : b.parts)
    for (auto s = part.first; s < part.first + part.count; ++s)
      valid += part.source->descriptor.slots[s].valid ? 1 : 0;
  numbers.batches.fetch_add(1, relaxed);
  numbers.batch_slots.fetch_add(valid, relaxed);
  numbers.batch_room.fetch_add(std::max(wish, b.slots), relaxed);
}

void count_delivered(const frame_result& r, telemetry& numbers) {
  auto& l = numbers.latency();
  const auto& t = r.times;
  l.bundle.record(t.bundled - t.arrived);
  l.queue.record(t.dispatched - t.bundled);
  l.infer.record(t.inferred - t.dispatched);
  l.deliver.record(t.delivered - t.inferred);
  l.total.record(t.delivered - t.arrived);
  if (r.meta.truth >= 0 && r.inferred && !r.inferred->classes.empty()) {
    numbers.truth_known.fetch_add(1, relaxed);
    if (r.inferred->classes.front().label == r.meta.truth)
      numbers.truth_right.fetch_add(1, relaxed);
  }
}

} // namespace hyperframes
