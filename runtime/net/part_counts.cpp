#include "runtime/net/part_counts.hpp"

#include <algorithm>

namespace hyperframes {

namespace {
constexpr auto relaxed = std::memory_order_relaxed;
}

part_counts::part_counts(std::vector<const stage_wiring*> stages, const telemetry& numbers)
  : stages_(std::move(stages)), numbers_(numbers) {
  const auto add = [this](const edge_wiring& e, bool receives) {
    const auto found = std::ranges::find(edges_, e.edge, &edge_end::edge);
    if (found == edges_.end())
      edges_.push_back({e.edge, receives});
    else
      found->receives = found->receives || receives;
  };
  for (const auto* s : stages_) {
    for (const auto& e : s->inputs)
      add(e, true);
    for (const auto& e : s->outputs)
      add(e, false);
    if (s->kind->inputs.empty())
      captured_.insert(captured_.end(), s->plan.streams.begin(), s->plan.streams.end());
  }
  service_.resize(stages_.size());
  lag_.resize(captured_.size());
}

std::uint64_t part_counts::since(std::uint64_t now, std::size_t& at) {
  if (at == before_.size())
    before_.push_back(0);
  return now - std::exchange(before_[at++], now);
}

part_numbers part_counts::take() {
  part_numbers m;
  std::size_t at = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const auto& s = numbers_.stage(stages_[i]->self);
    auto& n = m.stages.emplace_back();
    n.index = stages_[i]->self;
    n.items_in = since(s.items_in.load(relaxed), at);
    n.items_out = since(s.items_out.load(relaxed), at);
    n.bytes_copied = since(s.bytes_copied.load(relaxed), at);
    n.busy_ns = since(s.busy_ns.load(relaxed), at);
    n.cpu_ns = since(s.cpu_ns.load(relaxed), at);
    n.restarts = static_cast<std::uint32_t>(since(s.restarts.load(relaxed), at));
    n.held = s.held.load(relaxed);
    n.service = s.service.since(service_[i]);
  }
  for (const auto& end : edges_) {
    const auto& e = numbers_.edge(end.edge);
    auto& n = m.edges.emplace_back();
    n.index = end.edge;
    n.items = since(e.items.load(relaxed), at);
    n.drops = since(e.drops.load(relaxed), at);
    n.receives = end.receives;
    n.depth = e.depth.load(relaxed);
    n.peak = e.peak.load(relaxed);
    n.average = e.average.load(relaxed);
  }
  for (std::size_t i = 0; i < captured_.size(); ++i) {
    const auto& s = numbers_.stream(captured_[i]);
    auto& n = m.streams.emplace_back();
    n.index = captured_[i];
    n.first_arrival_ns = s.first_arrival_ns.load(relaxed);
    n.offset_ns = s.offset_ns.load(relaxed);
    n.jitter_ns = s.jitter_ns.load(relaxed);
    n.device_lost = since(s.device_lost.load(relaxed), at);
    n.off_pace = since(s.off_pace.load(relaxed), at);
    n.drift_ppm = s.drift_ppm.load(relaxed);
    n.fps = s.fps.load(relaxed);
    n.confidence = s.confidence.load(relaxed);
    n.by_arrival = s.by_arrival.load(relaxed);
    n.attached = s.attached.load(relaxed);
    n.silent = s.silent.load(relaxed);
    n.silences = static_cast<std::uint32_t>(since(s.silences.load(relaxed), at));
    n.epochs = s.epochs.load(relaxed);
    n.lag = s.lag.since(lag_[i]);
  }
  for (const auto& [place, count] : numbers_.injected())
    if (const auto fresh = count - std::exchange(faults_[place], count); fresh > 0)
      m.faults.push_back({place.first, place.second, fresh});
  m.pixel_writes = since(numbers_.pixel_writes.load(relaxed), at);
  m.batches = since(numbers_.batches.load(relaxed), at);
  m.batch_slots = since(numbers_.batch_slots.load(relaxed), at);
  m.batch_room = since(numbers_.batch_room.load(relaxed), at);
  return m;
}

void add_numbers(const part_numbers& m, telemetry& to) {
  for (const auto& n : m.stages) {
    if (n.index >= to.stages())
      continue;
    auto& s = to.stage(n.index);
    s.items_in.fetch_add(n.items_in, relaxed);
    s.items_out.fetch_add(n.items_out, relaxed);
    s.bytes_copied.fetch_add(n.bytes_copied, relaxed);
    s.busy_ns.fetch_add(n.busy_ns, relaxed);
    s.cpu_ns.fetch_add(n.cpu_ns, relaxed);
    s.restarts.fetch_add(n.restarts, relaxed);
    s.held.store(n.held, relaxed);
    s.service.add(n.service);
  }
  for (const auto& n : m.edges) {
    if (n.index >= to.edges())
      continue;
    auto& e = to.edge(n.index);
    e.items.fetch_add(n.items, relaxed);
    e.drops.fetch_add(n.drops, relaxed);
    if (!n.receives)
      continue;
    e.depth.store(n.depth, relaxed);
    e.peak.store(std::max(e.peak.load(relaxed), n.peak), relaxed);
    e.average.store(n.average, relaxed);
  }
  for (const auto& n : m.streams) {
    if (n.index >= to.streams())
      continue;
    auto& s = to.stream(n.index);
    if (s.first_arrival_ns.load(relaxed) < 0)
      s.first_arrival_ns.store(n.first_arrival_ns, relaxed);
    s.offset_ns.store(n.offset_ns, relaxed);
    s.jitter_ns.store(n.jitter_ns, relaxed);
    s.device_lost.fetch_add(n.device_lost, relaxed);
    s.off_pace.fetch_add(n.off_pace, relaxed);
    s.drift_ppm.store(n.drift_ppm, relaxed);
    s.fps.store(n.fps, relaxed);
    s.confidence.store(n.confidence, relaxed);
    s.by_arrival.store(n.by_arrival, relaxed);
    s.attached.store(n.attached, relaxed);
    s.silent.store(n.silent, relaxed);
    s.silences.fetch_add(n.silences, relaxed);
    s.epochs.store(n.epochs, relaxed);
    s.lag.add(n.lag);
  }
  for (const auto& f : m.faults)
    for (std::uint64_t i = 0; i < f.count; ++i)
      to.injected(f.where, f.kind);
  to.pixel_writes.fetch_add(m.pixel_writes, relaxed);
  to.batches.fetch_add(m.batches, relaxed);
  to.batch_slots.fetch_add(m.batch_slots, relaxed);
  to.batch_room.fetch_add(m.batch_room, relaxed);
}

} // namespace hyperframes
