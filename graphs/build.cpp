#include "graphs/build.hpp"

#include "actors/align_parameters.hpp"
#include "actors/capture.hpp"
#include "actors/infer.hpp"
#include "actors/infer/node_workers.hpp"
#include "actors/sinks/sinks.hpp"
#include "actors/trigger.hpp"
#include "cameras/push.hpp"
#include "graphs/check.hpp"
#include "graphs/continuation.hpp"
#include "graphs/found_facts.hpp"
#include "graphs/node_look.hpp"
#include "graphs/nodes.hpp"
#include "graphs/plan.hpp"
#include "runtime/defaults.hpp"
#include "runtime/net/remote_part.hpp"
#include "runtime/shared_memory.hpp"
#include "runtime/written.hpp"

#include <algorithm>
#include <set>

namespace hyperframes {

namespace {

bool carries_frames(port_type type) {
  return type == port_type::frame;
}

std::uint32_t integer_of(const setting& s, std::uint32_t otherwise) {
  const auto* i = std::get_if<std::int64_t>(&s.value);
  return i ? static_cast<std::uint32_t>(*i) : otherwise;
}

overflow_policy policy_of(const setting& s) {
  const auto* text = std::get_if<std::string>(&s.value);
  for (auto p : {overflow_policy::drop_newest, overflow_policy::drop_oldest, overflow_policy::fail})
    if (text && *text == to_string(p))
      return p;
  return overflow_policy::block;
}

edge_limits limits_of(const checked_edge& edge, std::size_t streams) {
  edge_limits limits;
  limits.capacity = integer_of(edge.capacity, defaults::edge_capacity);
  limits.capacity_bytes = integer_of(edge.capacity_bytes, 0);
  if (const auto* bytes = std::get_if<std::int64_t>(&edge.capacity_bytes.value))
    limits.capacity_bytes = static_cast<std::uint64_t>(*bytes);
  limits.overflow = policy_of(edge.overflow);
  limits.lanes = carries_frames(edge.type) ? static_cast<std::uint32_t>(streams) : 1;
  return limits;
}

/// Of a pool: its slots are aligned.
std::uint64_t planned_bytes(std::uint64_t slots, std::uint64_t slot_bytes) {
  return slots * ((slot_bytes + 63) / 64 * 64);
}

/// For each stage the settling stages at or below it.
std::vector<std::vector<stage_index>> settlers_below(const checked_graph& graph) {
  std::vector<std::set<stage_index>> below(graph.stages.size());
  // The graph has no cycles: as many passes as it has stages reach everything.
  for (std::size_t pass = 0; pass < graph.stages.size(); ++pass)
    for (std::size_t i = 0; i < graph.stages.size(); ++i) {
      if (ends_accounts(graph, graph.stages[i]))
        below[i] = {static_cast<stage_index>(i)}; // what is below it does not settle any more
      else
        for (auto e : graph.stages[i].outputs)
          below[i].insert(below[graph.edges[e].to].begin(), below[graph.edges[e].to].end());
    }
  std::vector<std::vector<stage_index>> result;
  for (const auto& s : below)
    result.emplace_back(s.begin(), s.end());
  return result;
}

/// When a stream counts as silent, and what follows: `capture` tells, before `align` acts.
void add_silence(
  const checked_graph& graph, const graph_plan& plan, capture_resource::source& source) {
  const auto& group = plan.facts->groups[plan.facts->streams[source.stream].group].streams;
  for (const auto& stage : graph.stages) {
    const auto passes = [&](stream_index s) {
      return std::ranges::find(stage.streams, s) != stage.streams.end();
    };
    const auto* after = duration_at(*stage.config, "silent_after");
    if (!after || !passes(source.stream) || std::ranges::count_if(group, passes) < 2)
      continue;
    source.silent_after = std::min(source.silent_after, *after);
    source.when_silent +=
      (source.when_silent.empty() ? "" : "; ")
      + (*after > defaults::silent_after ? "from " + write_duration(*after) + " on, " : std::string{})
      + when_silent(stage.name);
  }
}

std::shared_ptr<capture_resource> cameras_of(
  const checked_graph& graph, const graph_plan& plan, const checked_stage& stage,
  const graph_place& place, const graph_facts& facts, wired_graph& into) {
  auto resource = std::make_shared<capture_resource>();
  for (auto s : stage.streams) {
    const auto& stream = graph.streams[s];
    const auto* kind = stream.camera;
    const auto config = stream.config;
    const auto folder = graph.folder;
    std::shared_ptr<push_port> port;
    if (kind->name == "push")
      port = into.ports[stream.id] = std::make_shared<push_port>();
    resource->sources.push_back(
      {s, *stream.info,
       [kind, config, folder, port] {
         auto made = kind->make(*config, folder);
         if (port)
           dynamic_cast<push_camera&>(made->innermost()).attach(port);
         return made;
       },
       plan.frames_ahead[s], std::max(1U, plan.prefetch[s]), stream.attached});
    add_silence(graph, plan, resource->sources.back());
    if (const auto at = std::ranges::find(place.streams, s, &captured_position::stream);
        at != place.streams.end())
      resource->sources.back().follows = *at;
    else if (const auto& f = facts.streams[s]; f.first_epoch > 0 || f.frames_before > 0)
      resource->sources.back().follows = captured_position{s, f.first_epoch, 0, f.frames_before};
  }
  return resource;
}

std::shared_ptr<trigger_resource>
trigger_of(const checked_stage& stage, const run_options& options, wired_graph& into) {
  auto resource = std::make_shared<trigger_resource>();
  const auto given = options.triggers.find(stage.name);
  resource->port =
    given != options.triggers.end() ? given->second : std::make_shared<trigger_port>();
  into.triggers[stage.name] = resource->port;
  return resource;
}

std::uint32_t run_of(const run_options& options) {
  return options.continued ? options.continued->run : options.run_number;
}

void need_network(const checked_stage& stage, const run_options& options) {
  if (!options.network)
    throw failure(make_error(errc::graph_invalid, stage.mark.to_string(),
                             "stage '" + stage.name + "' runs on nodes, and this run has no network: "
                               "set run_options::network"));
}

/// The stage's model with its workers on nodes.
std::shared_ptr<model_resource> placed(
  const checked_graph& graph, const checked_stage& stage, const run_options& options,
  wired_graph& into) {
  need_network(stage, options);
  auto resource = std::make_shared<model_resource>();
  if (const auto* here = dynamic_cast<const model_resource*>(stage.resource.get()))
    *resource = *here;
  else // only nodes have the model
    static_cast<stage_resource&>(*resource) = *stage.resource;
  node_workers_options o;
  o.network = options.network;
  for (const auto n : stage.nodes)
    o.nodes.push_back({graph.nodes[n].name, graph.nodes[n].at});
  o.stage = stage.name;
  o.order = order_of(graph);
  o.tensor = *resource->tensor;
  o.model = resource->summary;
  o.tell = [tell = into.tell, name = stage.name](const std::string& sentence) { (*tell)(name, sentence); };
  const auto workers = make_node_workers(std::move(o));
  resource->elsewhere = workers;
  into.workers.push_back(workers);
  return resource;
}

} // namespace

wired_graph wire_graph(
  const checked_graph& graph, const graph_plan& plan, const run_options& options, bool threads,
  const graph_place& place) {
  wired_graph wired;
  // Of this run: graphs may be run again, and side by side.
  const auto facts = std::make_shared<graph_facts>(*plan.facts);
  facts->run = run_of(options);
  if (options.continued)
    options.continued->put_into(*facts);
  facts->node = place.node;
  facts->hyperframes = std::make_shared<std::atomic<std::uint64_t>>(place.counted);
  const auto below = settlers_below(graph);
  wired.settlers_of_stream.resize(graph.streams.size());
  for (std::size_t i = 0; i < graph.stages.size(); ++i) {
    const auto& stage = graph.stages[i];
    stage_wiring w;
    w.self = static_cast<stage_index>(i);
    w.kind = stage.kind;
    w.settlers = below[i];
    w.settles = ends_accounts(graph, stage);
    w.plan = {stage.name,      stage.config,          graph.folder,  facts,
              stage.streams,   stage.resource,        plan.below[i], plan.reorder[i],
              plan.tensors[i], plan.first_tensors[i], {},            {},
              w.settles,       threads};
    const auto wiring_of = [&](std::size_t e) {
      const auto& edge = graph.edges[e];
      return edge_wiring{
        static_cast<edge_index>(e),
        static_cast<stage_index>(edge.from),
        edge.from_port,
        static_cast<stage_index>(edge.to),
        graph.stages[edge.to].name,
        edge.type,
        limits_of(edge, graph.streams.size()),
        below[edge.to]};
    };
    for (auto e : stage.inputs)
      w.inputs.push_back(wiring_of(e));
    for (auto e : stage.outputs) {
      w.outputs.push_back(wiring_of(e));
      if (w.settles)
        w.outputs.back().settlers.clear(); // what is below sees final outcomes only
      std::ranges::copy_if(place.used, std::back_inserter(w.outputs.back().used),
                           [e](const credit_message& c) { return c.edge == e; });
    }
    if (stage.kind->inputs.empty() && place.here[i])
      w.plan.resource = cameras_of(graph, plan, stage, place, *facts, wired);
    if (stage.kind->on_nodes == node_use::workers && !stage.nodes.empty() && place.here[i])
      w.plan.resource = placed(graph, stage, options, wired);
    if (stage.kind->name == "trigger")
      w.plan.resource = trigger_of(stage, options, wired);
    if (const auto call = options.callbacks.find(stage.name); call != options.callbacks.end()) {
      auto resource = std::make_shared<callback_resource>();
      resource->call = call->second;
      w.plan.resource = std::move(resource);
    }
    if (options.continued)
      if (const auto file = options.continued->files.find(w.self); file != options.continued->files.end())
        w.plan.resource = file->second;
    if (w.settles)
      for (auto s : stage.streams)
        wired.settlers_of_stream[s].push_back(w.self);
    wired.stages.push_back(std::move(w));
  }
  return wired;
}

void add_pools(
  const checked_graph& graph, const graph_plan& plan, const graph_place& place, telemetry& numbers,
  wired_graph& into) {
  const auto allowed = static_cast<std::uint64_t>(std::get<std::int64_t>(graph.memory.value));
  const auto reserve =
    std::make_shared<memory_reserve>(allowed - std::min(allowed, plan.memory_total));
  const bool elsewhere = std::ranges::count(place.here, false) > 0;
  const bool keeps_frames = std::ranges::any_of(graph.stages, [](const checked_stage& s) {
    return s.config->has("keep_frames") && s.config->flag("keep_frames");
  });
  // Processes of this host borrow what goes to them.
  const auto tensors_in = into.workers.empty() && !elsewhere ? nullptr : shared_backing();
  const auto frames_in = elsewhere && keeps_frames ? shared_backing() : nullptr;
  for (auto& stage : into.stages) {
    if (!place.here[stage.self])
      continue;
    if (stage.kind->inputs.empty()) {
      auto& cameras = *std::const_pointer_cast<capture_resource>(
        std::dynamic_pointer_cast<const capture_resource>(stage.plan.resource));
      for (auto& source : cameras.sources)
        source.pool = numbers.add_pool(
          "pool of stream " + graph.streams[source.stream].id, stage.plan.name,
          planned_bytes(source.frames_ahead + source.info.own_frames, source.info.frame_bytes),
          reserve, frames_in);
    }
    if (stage.plan.tensors > 0)
      stage.plan.pool = numbers.add_pool(
        "tensors of " + stage.plan.name, stage.plan.name,
        planned_bytes(stage.plan.tensors, plan.tensor_bytes[stage.self]), reserve, tensors_in);
    if (stage.plan.first_tensors > 0)
      stage.plan.first_pool = numbers.add_pool(
        "first tensors of " + stage.plan.name, stage.plan.name,
        planned_bytes(stage.plan.first_tensors, plan.first_tensor_bytes[stage.self]), reserve,
        tensors_in);
  }
}

void count_captured(wired_graph& wired, const std::function<void(const frame_meta&)>& captured) {
  for (auto& stage : wired.stages)
    if (stage.kind->inputs.empty() && stage.plan.resource)
      std::const_pointer_cast<capture_resource>(
        std::dynamic_pointer_cast<const capture_resource>(stage.plan.resource))
        ->captured = captured;
}

std::uint64_t received_bytes(const graph_plan& plan) {
  return plan.memory_total;
}

namespace {

graph_place place_of_coordinator(const checked_graph& graph) {
  graph_place place;
  for (const auto& s : graph.stages)
    place.here.push_back(!runs_elsewhere(s));
  return place;
}

} // namespace

assembly::assembly(
  const checked_graph& graph, const graph_plan& plan, const run_options& options, executor& runs,
  bool threads)
  : runs_(runs), place_(place_of_coordinator(graph)),
    wiring_(wire_graph(graph, plan, options, threads, place_)), continued_(options.continued),
    ledger_(std::make_unique<ledger>(graph.stages.size(), wiring_.settlers_of_stream)),
    telemetry_(
      std::make_unique<telemetry>(graph.stages.size(), graph.edges.size(), graph.streams.size(),
                                    options.on_event)) {
  *wiring_.tell = [this, &runs](const std::string& where, const std::string& sentence) {
    telemetry_->tell({runs.time().now(), where, sentence, false});
  };
  add_pools(graph, plan, place_, *telemetry_, wiring_);
  count_captured(wiring_, [this](const frame_meta& m) {
    captured({m.stream, m.epoch, m.frame_id, 1, outcome::lost, reason::none});
  });
  std::vector<supervisor::member> members;
  for (auto& stage : wiring_.stages)
    members.push_back(
      {stage.plan.name, stage.inputs.empty(), stage.settles || stage.kind->outputs.empty(), stage.settles});
  supervisor_ = std::make_unique<supervisor>(runs_, *telemetry_, std::move(members));
  for (const auto& stage : wiring_.stages)
    if (place_.here[stage.self])
      hosts_.push_back(std::make_unique<stage_host>(
        stage, stage_surroundings{runs_, *ledger_, *telemetry_, *supervisor_}));
  place_parts(graph, plan, options);
}

assembly::~assembly() = default;

/// Stages with the same nodes form one part.
void assembly::place_parts(
  const checked_graph& graph, const graph_plan& plan, const run_options& options) {
  std::map<std::vector<std::size_t>, std::vector<const stage_wiring*>> parts;
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    if (!place_.here[i]) {
      need_network(graph.stages[i], options);
      parts[graph.stages[i].nodes].push_back(&wiring_.stages[i]);
    }
  std::vector<std::shared_ptr<stages_elsewhere>> where(graph.stages.size());
  part_of_.resize(graph.stages.size());
  for (auto& [nodes, stages] : parts) {
    remote_part_options o;
    o.network = options.network;
    for (const auto n : nodes)
      o.nodes.emplace_back(graph.nodes[n].name, graph.nodes[n].at);
    o.order = order_of(graph);
    o.order.facts = write_facts(graph);
    o.order.part = static_cast<std::uint16_t>(parts_.size() + 1);
    for (const auto* s : stages)
      o.order.stages.push_back(s->plan.name);
    o.stages = stages;
    o.run = run_of(options);
    o.receives = received_bytes(plan);
    const auto part = std::make_shared<remote_part>(
      std::move(o), remote_part::home{
                      runs_, [this](const outcome_range& r) { captured(r); }, *telemetry_, *supervisor_});
    for (const auto* s : stages)
      where[s->self] = part_of_[s->self] = part;
    parts_.push_back(part);
  }
  runs_.place(std::move(where));
}

void assembly::captured(const outcome_range& r) noexcept {
  if (continued_)
    continued_->announce(r.stream, {r.epoch, r.first + r.count - 1});
  ledger_->captured(r.stream, r.count);
}

std::vector<stage_host*> assembly::hosts() const {
  std::vector<stage_host*> result;
  for (const auto& h : hosts_)
    result.push_back(h.get());
  return result;
}

bool assembly::request(const std::string& stream, bool attach, executor& runs) const {
  for (const auto& stage : wiring_.stages)
    if (stage.kind->inputs.empty() && part_of_[stage.self])
      for (const auto s : stage.plan.streams)
        if (stage.plan.graph->streams[s].id == stream) {
          part_of_[stage.self]->ask_for_camera(s, attach);
          return true;
        }
  for (const auto& stage : wiring_.stages)
    if (const auto cameras = std::dynamic_pointer_cast<const capture_resource>(stage.plan.resource))
      for (const auto& source : cameras->sources)
        if (stage.plan.graph->streams[source.stream].id == stream) {
          cameras->requests->add({source.stream, attach});
          runs.poke(stage.self)(); // may come after the end
          return true;
        }
  return false;
}

std::shared_ptr<push_port> assembly::port(const std::string& stream) const {
  const auto at = wiring_.ports.find(stream);
  return at == wiring_.ports.end() ? nullptr : at->second;
}

std::shared_ptr<trigger_port> assembly::trigger(const std::string& stage) const {
  const auto at = wiring_.triggers.find(stage);
  return at == wiring_.triggers.end() ? nullptr : at->second;
}

void assembly::close_triggers() const {
  for (const auto& [stage, port] : wiring_.triggers)
    port->close();
}

void assembly::leave_nodes() const {
  for (const auto& w : wiring_.workers)
    w->close();
  for (const auto& p : parts_)
    p->close();
}

std::uint64_t assembly::held_frames() const {
  std::uint64_t frames = 0;
  std::set<stage_index> settlers;
  for (const auto& of_stream : wiring_.settlers_of_stream)
    settlers.insert(of_stream.begin(), of_stream.end());
  for (auto settler : settlers)
    frames += held_frames(settler);
  return frames;
}

std::uint64_t assembly::held_frames(stage_index settler) const {
  std::uint64_t frames = 0;
  for (const auto& h : hosts_)
    frames += h->held_frames(settler);
  for (const auto& p : parts_)
    frames += p->held(settler);
  return frames;
}

std::vector<std::string> assembly::open_accounts() const {
  std::vector<std::string> result;
  std::set<stage_index> settlers;
  for (const auto& of_stream : wiring_.settlers_of_stream)
    settlers.insert(of_stream.begin(), of_stream.end());
  for (auto settler : settlers) {
    const auto sums = ledger_->settler(settler);
    const auto held = held_frames(settler);
    if (sums.captured != sums.ended() + held)
      result.push_back(
        "the account of '" + wiring_.stages[settler].plan.name
        + "' is open: " + std::to_string(sums.captured) + " captured, "
        + std::to_string(sums.ended()) + " ended, " + std::to_string(held) + " held by stages");
  }
  return result;
}

std::vector<std::string> assembly::open_credit() const {
  std::vector<std::string> result;
  for (const auto& h : hosts_)
    for (std::size_t e = 0; e < h->wiring().outputs.size(); ++e)
      if (const auto items = h->under_way(e); items > 0)
        result.push_back(
          "the edge from '" + h->wiring().plan.name + "' to '" + h->wiring().outputs[e].to_name
          + "' is over, and the credit of " + std::to_string(items) + " of its items has not come back");
  return result;
}

} // namespace hyperframes
