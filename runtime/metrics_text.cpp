#include "runtime/metrics_text.hpp"

#include "runtime/actor_executor.hpp"
#include "runtime/actor_system.hpp"
#include "runtime/process_memory.hpp"

#include <caf/telemetry/collector/prometheus.hpp>
#include <caf/telemetry/metric_registry.hpp>

#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

namespace hyperframes {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

using labels = std::vector<caf::telemetry::label_view>;

/// The counts live in `telemetry`; the registry holds gauges, because it cannot take counts that
/// start anew with the next run of a graph of the same name.
template <class Value>
void set(caf::telemetry::metric_registry& registry, std::string_view name, const labels& with,
         std::string_view help, Value value, std::string_view unit = "1") {
  using held = std::conditional_t<std::is_floating_point_v<Value>, double, std::int64_t>;
  const auto view = [](std::string_view s) { return caf::string_view{s.data(), s.size()}; };
  registry
    .gauge_instance<held>("hyperframes", view(name), caf::make_span(with), view(help), view(unit))
    ->value(static_cast<held>(value));
}

void set_stream(caf::telemetry::metric_registry& registry, const labels& stream, const stream_stats& n) {
  const auto in_s = [](const std::atomic<std::int64_t>& ns) {
    return in_seconds(duration{ns.load(relaxed)});
  };
  set(registry, "stream_device_lost_frames", stream, "Frames that the device's own counter jumped over.",
      n.device_lost.load(relaxed));
  set(registry, "stream_rate", stream, "Frames that arrive in a second.", n.fps.load(relaxed), "hertz");
  set(registry, "stream_clock_offset", stream, "Graph time minus the camera's.", in_s(n.offset_ns), "seconds");
  set(registry, "stream_clock_drift", stream, "How much faster the camera's clock runs, in millionths.",
      n.drift_ppm.load(relaxed));
  set(registry, "stream_jitter", stream, "Mean change of the delay from frame to frame.", in_s(n.jitter_ns),
      "seconds");
  set(registry, "stream_clock_confidence", stream, "In the camera's clock, 0 to 1; 0 where frames are placed "
                                                   "by arrival.",
      n.confidence.load(relaxed));
  set(registry, "stream_epochs", stream, "Stretches in which the camera's clock ran forward.",
      n.epochs.load(relaxed));
  set(registry, "stream_silent", stream, "1 while no frame comes.", n.silent.load(relaxed));
  set(registry, "stream_hyperframes_off_pace", stream,
      "Hyperframes whose span does not fit the stream's frame rate.", n.off_pace.load(relaxed));
  set(registry, "stream_longest_gap", stream, "The longest time without a delivery, from its first frame to its last.", in_s(n.longest_gap_ns),
      "seconds");
}

/// The holder is a label: an age under the name of one that has let go is set to 0, as it stays in
/// the registry. There are as many as stages that were the oldest slot's holder once.
void set_oldest_slot(
  caf::telemetry::metric_registry& registry, const std::string& graph, const std::string& pool,
  const std::string& holder, duration age) {
  static std::map<std::pair<std::string, std::string>, std::string>
    last; // under `metrics_text`'s mutex
  auto& before = last[{graph, pool}];
  const auto put = [&](const std::string& whose, duration since) {
    if (!whose.empty())
      set(
        registry, "pool_oldest_slot_age", {{"graph", graph}, {"holder", whose}, {"pool", pool}},
        "How long the slot has been in use that was taken first; the holder took it in last.",
        in_seconds(since), "seconds");
  };
  if (before != holder)
    put(std::exchange(before, holder), duration{0});
  put(holder, age);
}

void set_pools(
  caf::telemetry::metric_registry& registry, const std::string& graph,
  const std::vector<stage_wiring>& stages, const telemetry& numbers, graph_time now) {
  for (const auto& pool : numbers.pools()) {
    const auto n = pool->now();
    if (n.peak_bytes == 0)
      continue;
    const labels with{{"graph", graph}, {"pool", pool->name()}};
    set(registry, "pool_slots", with, "Slots of the pools that serve this purpose.", n.slots);
    set(registry, "pool_slots_in_use", with, "Slots in use now.", n.in_use);
    set(
      registry, "pool_peak_slots_in_use", with, "The most slots that were in use at once.",
      n.peak_in_use);
    set(registry, "pool_memory", with, "Memory of all slots.", n.bytes, "bytes");
    set(
      registry, "pool_peak_memory", with, "The most memory that the slots had.", n.peak_bytes,
      "bytes");
    if (!n.oldest)
      set_oldest_slot(registry, graph, pool->name(), {}, {});
    else
      set_oldest_slot(
        registry, graph, pool->name(),
        n.oldest->stage < stages.size() ? stages[n.oldest->stage].plan.name : pool->owner(),
        std::max(duration{0}, now - n.oldest->since));
  }
}

/// Of the whole process, whatever graphs it runs.
void set_process(caf::telemetry::metric_registry& registry) {
  const auto memory = memory_of_process();
  registry
    .gauge_singleton("hyperframes", "resident_memory", "Resident memory of the process.", "bytes")
    ->value(static_cast<std::int64_t>(memory.now));
  registry.gauge_singleton("hyperframes", "peak_resident_memory", "The most it was.", "bytes")
    ->value(static_cast<std::int64_t>(memory.peak));
}

} // namespace

std::string metrics_text(
  const std::string& graph, const std::vector<stage_wiring>& stages, const telemetry& numbers,
  const ledger& accounts, graph_time now) {
  static std::mutex mutex; // the collector and the registry's look-ups are no hot path
  const std::lock_guard lock{mutex};
  const auto runtime = actor_runtime::shared();
  auto& registry = runtime->get().system->metrics();
  for (const auto& wiring : stages) {
    const labels stage{{"graph", graph}, {"stage", wiring.plan.name}};
    const auto& n = numbers.stage(wiring.self);
    set(registry, "stage_items_in", stage, "Items that the stage took.", n.items_in.load(relaxed));
    set(registry, "stage_items_out", stage, "Items that the stage gave.", n.items_out.load(relaxed));
    set(registry, "stage_held_frames", stage, "Frames whose outcome the stage owes.",
        n.held.load(relaxed));
    set(registry, "stage_busy_nanoseconds", stage, "Time spent in the stage's logic.",
        n.busy_ns.load(relaxed), "ns");
    set(registry, "bytes_copied", stage, "Pixels written beyond ingest and packing.",
        n.bytes_copied.load(relaxed), "bytes");
    set(registry, "stage_restarts", stage, "How often the stage's logic was replaced.",
        n.restarts.load(relaxed));
    for (const auto& e : wiring.inputs) {
      const auto name = stages[e.from].plan.name + "->" + wiring.plan.name;
      const labels edge{{"edge", name}, {"graph", graph}};
      const auto& m = numbers.edge(e.edge);
      set(registry, "edge_items", edge, "Items that the edge carried.", m.items.load(relaxed));
      set(registry, "edge_drops", edge, "Items that the edge's policy dropped.",
          m.drops.load(relaxed));
      set(registry, "edge_depth", edge, "Items in the edge's ring now.", m.depth.load(relaxed));
      set(registry, "edge_average_depth", edge, "Moving average of the items in the edge's ring.",
          m.average.load(relaxed));
      set(registry, "edge_peak_depth", edge, "The most items that the ring has held, per stream on "
                                             "edges that carry frames.",
          m.peak.load(relaxed));
    }
  }
  if (!stages.empty()) {
    const auto& streams = stages.front().plan.graph->streams;
    for (stream_index s = 0; s < streams.size(); ++s) {
      const auto sums = accounts.stream(s);
      set(registry, "captured_frames", {{"graph", graph}, {"stream", streams[s].id}},
          "Frames that capture has numbered.", sums.captured);
      set_stream(registry, {{"graph", graph}, {"stream", streams[s].id}}, numbers.stream(s));
      for (std::size_t o = 0; o < outcome_count; ++o)
        set(registry, "ended_frames",
            {{"graph", graph},
             {"outcome", to_string(static_cast<outcome>(o))},
             {"stream", streams[s].id}},
            "Frames by their outcome.", sums.outcomes[o]);
    }
  }
  set_pools(registry, graph, stages, numbers, now);
  set_process(registry);
  caf::telemetry::collector::prometheus collector;
  const auto text = collector.collect_from(registry);
  return {text.begin(), text.end()};
}

} // namespace hyperframes
