#include "graphs/hyperframes.hpp"

#include "runtime/actor_executor.hpp"
#include "runtime/metrics_text.hpp"
#include "runtime/process_memory.hpp"
#include "runtime/virtual_executor.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace hyperframes {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

} // namespace

graph::graph(
  read_result read, const network_source& network, std::shared_ptr<const catalogues> kinds)
  : kinds_(std::move(kinds)) {
  if (!read.graph)
    throw graph_error(std::move(read.faults));
  auto planned = plan_graph(*read.graph, network);
  if (!planned.plan)
    throw graph_error(std::move(planned.faults));
  checked_ = std::make_shared<const checked_graph>(std::move(*read.graph));
  plan_ = std::make_shared<const graph_plan>(std::move(*planned.plan));
}

graph graph::from_file(
  const std::string& path, const graph_options& options, const catalogues& kinds) {
  auto kept = std::make_shared<const catalogues>(kinds);
  return graph{read_graph_file(path, *kept, options), options.network, kept};
}

graph graph::from_text(
  const std::string& text, const std::string& name, const graph_options& options,
  const catalogues& kinds) {
  auto kept = std::make_shared<const catalogues>(kinds);
  return graph{read_graph_text(text, name, *kept, options), options.network, kept};
}

struct running::state {
  graph shape;
  actor_executor executor;
  std::unique_ptr<assembly> parts;
  graph_time started{};
  graph_time ended{};
  std::atomic<bool> ending = false; ///< `drain` or `stop` was called
  bool closed = false;

  explicit state(const graph& g) : shape(g), executor(actor_runtime::shared()) {}
  std::string what_is_left() const;
};

namespace {

/// Keeps what a handler that never returned still uses, until the process ends.
void leave_behind(std::shared_ptr<void> state) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::shared_ptr<void>>; // outlives every thread that may use it
  const std::lock_guard lock{mutex};
  kept.push_back(std::move(state));
}

void ask_for_camera(const assembly& parts, const std::string& stream, bool attach, executor& runs) {
  if (!parts.request(stream, attach, runs))
    throw failure(make_error(errc::graph_invalid, stream, "is no stream that this graph captures"));
}

} // namespace

std::string running::state::what_is_left() const {
  std::string stages;
  for (std::size_t i = 0; i < parts->numbers().stages(); ++i)
    if (const auto held = parts->numbers().stage(i).held.load(relaxed); held > 0)
      stages += (stages.empty() ? ": " : ", ") + shape.checked().stages[i].name + " has "
                + std::to_string(held) + (held == 1 ? " frame" : " frames");
  return "what is not done in time is stopped" + stages;
}

running::running(const graph& g, run_options options) : state_(std::make_unique<state>(g)) {
  auto& s = *state_;
  s.parts = std::make_unique<assembly>(g.checked(), g.plan(), options, s.executor, true);
  s.executor.open(s.parts->hosts(), s.parts->numbers());
  s.started = s.executor.time().now();
  s.parts->control().start();
  if (!s.parts->control().wait_ready()) {
    const auto failed = s.parts->control().failed();
    s.parts->leave_nodes();
    s.executor.close(defaults::drain_time);
    s.closed = true;
    if (s.executor.stuck())
      leave_behind(std::move(state_));
    throw failure(*failed);
  }
}

running::~running() {
  if (!state_->closed) {
    stop();
    finish();
  }
  if (state_->executor.stuck())
    leave_behind(std::move(state_));
}

std::shared_ptr<push_port> running::input(const std::string& stream) const {
  if (auto port = state_->parts->port(stream))
    return port;
  throw failure(make_error(
    errc::graph_invalid, stream, "is no stream with camera `push`: frames cannot be handed in"));
}

trigger_result running::trigger(const std::string& stage, const std::string& whose) const {
  if (const auto port = state_->parts->trigger(stage))
    return port->fire(whose);
  throw failure(make_error(
    errc::graph_invalid, stage, "is no stage of type `trigger`: there is nothing to fire"));
}

void running::remove_camera(const std::string& stream) {
  ask_for_camera(*state_->parts, stream, false, state_->executor);
}

void running::add_camera(const std::string& stream) {
  ask_for_camera(*state_->parts, stream, true, state_->executor);
}

bool running::has_camera(const std::string& stream) const {
  const auto& streams = state_->shape.checked().streams;
  const auto at = std::ranges::find(streams, stream, &checked_stream::id);
  if (at == streams.end())
    throw failure(make_error(errc::graph_invalid, stream, "is no stream of this graph"));
  return state_->parts->numbers().stream(static_cast<std::size_t>(at - streams.begin())).attached.load(relaxed);
}

void running::drain() {
  state_->ending = true;
  state_->parts->control().drain();
}

void running::stop() {
  state_->ending = true;
  state_->parts->control().stop();
}

bool running::wait(duration patience) {
  return state_->parts->control().wait(patience);
}

bool running::finished() const {
  return state_->parts->control().finished();
}

run_progress running::progress() const {
  const auto& s = *state_;
  const auto& numbers = s.parts->numbers();
  run_progress p;
  p.elapsed = s.executor.time().now() - s.started;
  p.ledger = s.parts->accounts().total();
  for (std::size_t i = 0; i < s.parts->accounts().streams(); ++i)
    p.streams.push_back(s.parts->accounts().stream(static_cast<stream_index>(i)));
  for (std::size_t i = 0; i < numbers.stages(); ++i)
    p.held += numbers.stage(i).held.load(relaxed);
  for (std::size_t i = 0; i < numbers.edges(); ++i) {
    p.deepest = std::max(p.deepest, numbers.edge(i).depth.load(relaxed));
    p.edge_drops += numbers.edge(i).drops.load(relaxed);
  }
  std::uint64_t expected = 0;
  for (const auto& stream : s.shape.checked().streams) {
    if (!stream.info || !stream.info->frame_count)
      return p;
    expected += *stream.info->frame_count;
  }
  p.expected = expected;
  return p;
}

run_summary running::so_far() const {
  const auto& s = *state_;
  const auto now = s.executor.time().now();
  return summarise(s.shape, *s.parts, now - s.started, now, false);
}

std::string running::metrics() const {
  return metrics_text(
    state_->shape.checked().name, state_->parts->stages(), state_->parts->numbers(),
    state_->parts->accounts(), state_->executor.time().now());
}

run_summary running::finish(duration patience) {
  auto& s = *state_;
  auto& control = s.parts->control();
  while (!s.ending && !control.wait(std::chrono::seconds{1}))
    ;
  if (!control.wait(patience)) {
    s.parts->numbers().tell({s.executor.time().now(), "run", s.what_is_left(), false});
    control.stop();
    control.wait(patience);
  }
  s.ended = s.executor.time().now();
  s.parts->close_triggers();
  s.parts->leave_nodes();
  auto left_behind = s.executor.close(patience);
  s.closed = true;
  auto summary = summarise(s.shape, *s.parts, s.ended - s.started, s.ended, !s.executor.stuck());
  summary.left_behind = std::move(left_behind);
  return summary;
}

run_summary run_virtually(
  const graph& g, graph_time until, run_options options, std::vector<camera_change> changes) {
  for (const auto& stream : g.checked().streams)
    if (stream.info && !stream.info->simulated)
      throw failure(make_error(
        errc::graph_invalid, stream.mark.to_string(),
        "stream '" + stream.id + "' has camera '" + stream.camera->name
          + "', which is real: on the virtual clock every part must be "
            "simulated; use camera `synthetic` or `timeline`"));
  for (const auto& stage : g.checked().stages)
    if (stage.resource && !stage.resource->simulated)
      throw failure(make_error(errc::graph_invalid, stage.mark.to_string(),
                               "stage '" + stage.name + "' infers with " + stage.resource->summary
                                 + ", which is real: on the virtual clock every part must be simulated; "
                                   "use backend `simulated`, or leave inference out"));
  for (const auto& stage : g.checked().stages)
    if (!stage.nodes.empty())
      throw failure(make_error(errc::graph_invalid, stage.mark.to_string(),
                               "stage '" + stage.name + "' runs on nodes, which are real: on the virtual clock "
                                 "every part must be simulated; remove `node`"));
  for (const auto& stage : g.checked().stages)
    for (const auto* address : {"udp", "http"})
      if (stage.kind->name == "trigger" && stage.config->has(address))
        throw failure(make_error(
          errc::graph_invalid, stage.mark.to_string(),
          "stage '" + stage.name + "' listens for messages (`" + address
            + "`), which are real: on the virtual clock only frames and the program fire triggers"));
  virtual_executor executor;
  assembly parts{g.checked(), g.plan(), options, executor, false};
  executor.open(parts.hosts());
  std::optional<graph_time> ended; // timers of rules that did not come to pass may go off later
  const auto check = [&] {
    if (!ended && parts.control().finished())
      ended = executor.time().now();
    if (const auto open = parts.open_accounts(); !open.empty())
      throw failure(make_error(
        errc::stage_failed, g.checked().name,
        open.front() + " at " + std::to_string(in_ms(executor.time().now() - graph_time{}))
          + " ms"));
  };
  parts.control().start();
  std::ranges::stable_sort(changes, {}, &camera_change::at);
  for (const auto& c : changes) {
    if (c.at > until)
      break;
    executor.run(c.at, check);
    executor.stand_at(c.at);
    ask_for_camera(parts, c.stream, c.attach, executor);
  }
  executor.run(until, check);
  if (!parts.control().finished()) {
    parts.control().drain();
    executor.run(later_by(until, defaults::drain_time), check);
    if (!parts.control().finished()) {
      parts.control().stop();
      executor.run(never, check);
    }
  }
  if (const auto open = parts.open_credit(); ended && !open.empty())
    throw failure(make_error(errc::stage_failed, g.checked().name, open.front()));
  const auto end = ended.value_or(executor.time().now());
  return summarise(g, parts, end - graph_time{}, end);
}

run_summary
summarise(const graph& g, const assembly& parts, duration wall, graph_time now, bool still) {
  const auto& graph = g.checked();
  const auto& numbers = parts.numbers();
  run_summary s;
  s.graph = graph.name;
  s.wall = wall;
  s.ledger = parts.accounts().total();
  if (still)
    s.in_flight = parts.held_frames();
  else
    for (std::size_t i = 0; i < numbers.stages(); ++i)
      s.in_flight += numbers.stage(i).held.load(relaxed);
  s.fps = wall > duration{0} ? static_cast<double>(s.ledger.ended()) / in_seconds(wall) : 0;
  for (std::size_t i = 0; i < graph.streams.size(); ++i)
    s.streams.push_back(
      {.id = graph.streams[i].id, .sums = parts.accounts().stream(static_cast<stream_index>(i))});
  for (std::size_t i = 0; i < graph.streams.size(); ++i)
    s.streams[i].live = graph.streams[i].info && graph.streams[i].info->live;
  std::uint64_t copied = 0;
  for (std::size_t i = 0; i < graph.stages.size(); ++i) {
    const auto& n = numbers.stage(i);
    copied += n.bytes_copied.load(relaxed);
    s.stages.push_back(
      {graph.stages[i].name, graph.stages[i].kind->name, n.items_in.load(relaxed),
       n.items_out.load(relaxed), n.restarts.load(relaxed),
       duration{static_cast<std::int64_t>(n.busy_ns.load(relaxed))},
       duration{static_cast<std::int64_t>(n.cpu_ns.load(relaxed))}, percentiles_of(n.service)});
    s.simulated = s.simulated || (graph.stages[i].resource && graph.stages[i].resource->simulated);
  }
  add_numbers(numbers, now, s);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& edge = graph.edges[e];
    const auto& n = numbers.edge(e);
    const auto* capacity = std::get_if<std::int64_t>(&edge.capacity.value);
    const auto* overflow = std::get_if<std::string>(&edge.overflow.value);
    s.edges.push_back(
      {graph.stages[edge.from].name, graph.stages[edge.to].name, to_string(edge.type),
       capacity ? static_cast<std::uint32_t>(*capacity) : 0, overflow ? *overflow : "block",
       n.peak.load(relaxed), n.items.load(relaxed), n.drops.load(relaxed)});
  }
  const auto& l = numbers.latency();
  s.bundle = percentiles_of(l.bundle);
  s.queue = percentiles_of(l.queue);
  s.infer = percentiles_of(l.infer);
  s.deliver = percentiles_of(l.deliver);
  s.total = percentiles_of(l.total);
  s.batches = numbers.batches.load(relaxed);
  if (const auto room = numbers.batch_room.load(relaxed); room > 0)
    s.batch_fill =
      static_cast<double>(numbers.batch_slots.load(relaxed)) / static_cast<double>(room);
  const auto memory = memory_of_process();
  s.rss_bytes = memory.now;
  s.peak_rss_bytes = memory.peak;
  if (s.ledger.captured > 0)
    s.bytes_copied_per_frame = static_cast<double>(copied) / static_cast<double>(s.ledger.captured);
  if (s.ledger.captured > 0)
    s.pixel_writes_per_frame = static_cast<double>(numbers.pixel_writes.load(relaxed))
                               / static_cast<double>(s.ledger.captured);
  s.truth_known = numbers.truth_known.load(relaxed);
  if (s.truth_known > 0)
    s.accuracy =
      static_cast<double>(numbers.truth_right.load(relaxed)) / static_cast<double>(s.truth_known);
  if (const auto failed = parts.control().failed())
    s.failed = failed->to_string();
  return s;
}

} // namespace hyperframes
