#include "graphs/plan.hpp"

#include "graphs/check.hpp"
#include "graphs/files.hpp"
#include "graphs/found_facts.hpp"
#include "graphs/node_look.hpp"
#include "graphs/parameters.hpp"
#include "graphs/values.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <map>

namespace hyperframes {

namespace {

expected<camera_info> probe(const checked_stream& s, const std::string& folder) {
  try {
    return s.camera->make(*s.config, folder)->probe();
  } catch (const failure& e) {
    return e.what_failed();
  } catch (const std::exception& e) {
    return make_error(errc::camera_failed, s.id, e.what());
  }
}

expected<stage_resource_ptr> load(const checked_stage& s, const std::string& folder) {
  try {
    return s.kind->load(*s.config, folder);
  } catch (const failure& e) {
    return e.what_failed();
  } catch (const std::exception& e) {
    return make_error(errc::model_failed, s.name, e.what());
  }
}

/// Fills `checked_stream::info`. What holds for all streams of an entry is said once.
void probe_cameras(checked_graph& graph, std::vector<fault>& faults) {
  struct unreadable {
    source_mark mark;
    std::string why;
    std::vector<std::string> streams;
  };
  std::vector<unreadable> found;
  for (auto& s : graph.streams) {
    if (!s.sound || s.info)
      continue;
    auto info = probe(s, graph.folder);
    if (info) {
      s.info = std::move(*info);
      continue;
    }
    const auto& why = info.error().message;
    if (
      found.empty() || found.back().why != why
      || found.back().mark.to_string() != s.mark.to_string())
      found.push_back({s.mark, why, {}});
    found.back().streams.push_back('\'' + s.id + '\'');
  }
  for (const auto& f : found)
    faults.push_back(
      {f.mark, (f.streams.size() == 1
                  ? "the stream " + f.streams.front()
                  : "the streams " + f.streams.front() + " to " + f.streams.back())
                 + " cannot be read: " + f.why});
}

/// Fills `checked_stage::resource`.
void load_resources(checked_graph& graph, std::vector<fault>& faults) {
  for (auto& s : graph.stages) {
    if (!s.sound || s.resource || !s.kind->load)
      continue;
    auto resource = load(s, graph.folder);
    if (resource) {
      s.resource = std::move(*resource);
      continue;
    }
    const auto* model = s.config->has("model") ? &s.config->at("model") : nullptr;
    faults.push_back(
      {model ? mark_or(*model, s.mark) : s.mark,
       s.name + " cannot be prepared: " + resource.error().message});
  }
}

bool behind_source(const planning& p, const checked_edge& e) {
  return p.graph.stages[e.from].inputs.empty();
}

/// Where what waits can expire, it waits in `schedule`: dispatch is final.
void plan_batch_edge(const planning& p, checked_edge& e) {
  if (e.type != port_type::batch || e.capacity.source != value_source::built_in)
    return;
  const auto& from = p.graph.stages[e.from];
  const bool live = std::ranges::any_of(
    from.streams, [&](stream_index s) { return p.graph.streams[s].info->live; });
  const bool expires = std::holds_alternative<duration>(p.graph.latency_budget.value) && live;
  if (!expires && !duration_at(*from.config, "ttl"))
    return;
  const auto* workers = integer_at(*p.graph.stages[e.to].config, "workers");
  e.capacity.value = (workers ? *workers : 1) * (defaults::batches_queued_live + 1);
  e.capacity.source = value_source::derived;
}

/// The policy right behind a source, where a camera must never be made to wait.
void plan_source_edge(planning& p, checked_edge& e) {
  std::vector<stream_index> live, files;
  for (const auto s : p.graph.stages[e.from].streams)
    (p.graph.streams[s].info->live ? live : files).push_back(s);
  const auto& from = p.graph.stages[e.from].name;
  const auto& to = p.graph.stages[e.to].name;
  const auto* written = std::get_if<std::string>(&e.overflow.value);
  if (written && *written == to_string(overflow_policy::block) && !live.empty())
    return p.fail(
      mark_or(e.overflow, e.mark),
      "the edge " + from + " -> " + to + " blocks, but it carries live streams ("
        + streams_in_words(p.graph, live)
        + "), which cannot be held back: use drop_oldest, drop_newest or fail");
  if (written)
    return;
  if (!live.empty() && !files.empty())
    return p.fail(
      e.mark,
      "the edge " + from + " -> " + to + " carries live streams (" + streams_in_words(p.graph, live)
        + "), which must drop, and files (" + streams_in_words(p.graph, files)
        + "), which must be held back: capture them in two stages, or set `overflow` for both");
  e.overflow.value =
    std::string{to_string(live.empty() ? overflow_policy::block : overflow_policy::drop_oldest)};
  e.overflow.source = value_source::derived;
}

} // namespace

const setting* value_at(const settings& s, std::string_view path) {
  const auto dot = path.find('.');
  const auto name = path.substr(0, dot);
  if (!s.has(name))
    return nullptr;
  const auto& value = s.at(name);
  if (dot == std::string_view::npos)
    return &value;
  const auto* object = std::get_if<std::shared_ptr<settings>>(&value.value);
  return object ? value_at(**object, path.substr(dot + 1)) : nullptr;
}

const duration* duration_at(const settings& s, std::string_view path) {
  const auto* v = value_at(s, path);
  return v ? std::get_if<duration>(&v->value) : nullptr;
}

const std::int64_t* integer_at(const settings& s, std::string_view path) {
  const auto* v = value_at(s, path);
  return v ? std::get_if<std::int64_t>(&v->value) : nullptr;
}

bool flag_at(const settings& s, std::string_view path) {
  const auto* v = value_at(s, path);
  const auto* b = v ? std::get_if<bool>(&v->value) : nullptr;
  return b && *b;
}

std::string text_at(const settings& s, std::string_view path) {
  const auto* v = value_at(s, path);
  const auto* t = v ? std::get_if<std::string>(&v->value) : nullptr;
  return t ? *t : std::string{};
}

void for_each_value(
  const std::vector<parameter>& parameters, const settings& s, const std::string& path,
  const std::function<void(const std::string&, const parameter&, const setting&)>& visit) {
  for (const auto& p : parameters) {
    if (!s.has(p.name))
      continue;
    const auto name = path + '.' + p.name;
    const auto& value = s.at(p.name);
    if (const auto* object = std::get_if<std::shared_ptr<settings>>(&value.value))
      for_each_value(p.fields, **object, name, visit);
    else
      visit(name, p, value);
  }
}

std::int64_t capacity_of(const checked_edge& e) {
  return std::get<std::int64_t>(e.capacity.value);
}

double fps_of(const checked_graph& graph, stream_index stream) {
  const auto& info = graph.streams[stream].info;
  return info && info->fps > 0 ? info->fps : defaults::assumed_fps;
}

std::string streams_in_words(const checked_graph& graph, const std::vector<stream_index>& streams) {
  std::string result = '\'' + graph.streams[streams.front()].id + '\'';
  if (streams.size() > 1)
    result += " and " + std::to_string(streams.size() - 1) + " more";
  return result;
}

std::uint64_t batch_slots(const checked_stage& stage) {
  if (!stage.resource)
    return defaults::batch_slots;
  const auto& r = *stage.resource;
  const auto wish = r.batch_slots > 0 ? r.batch_slots : defaults::batch_slots;
  return std::max({wish, r.fixed_batch, r.time_axis});
}

void check_resources(checked_graph& graph, std::vector<fault>& faults) {
  check_files(graph, faults);
  probe_cameras(graph, faults);
  load_resources(graph, faults);
}

void plan_streams(planning& p) {
  auto facts = std::make_shared<graph_facts>();
  facts->name = p.graph.name;
  if (const auto* budget = std::get_if<duration>(&p.graph.latency_budget.value))
    facts->latency_budget = *budget;
  facts->seed = static_cast<std::uint64_t>(std::get<std::int64_t>(p.graph.seed.value));
  std::map<std::string, std::uint32_t> groups;
  for (stream_index i = 0; i < p.graph.streams.size(); ++i) {
    const auto& s = p.graph.streams[i];
    const auto [group, is_new] =
      groups.emplace(s.group, static_cast<std::uint32_t>(facts->groups.size()));
    if (is_new)
      facts->groups.push_back({s.group, {}});
    auto& streams = facts->groups[group->second].streams;
    stream_facts f;
    f.id = s.id;
    f.group = group->second;
    f.member = static_cast<std::uint32_t>(streams.size());
    f.media = std::make_shared<const media_type>(s.info->media);
    f.fps = s.info->fps;
    f.live = s.info->live;
    f.attached = s.attached;
    f.priority = s.priority;
    f.truth_labels = s.info->truth_labels;
    streams.push_back(i);
    facts->streams.push_back(std::move(f));
  }
  p.plan.facts = std::move(facts);
}

void plan_edges(planning& p) {
  for (auto& e : p.graph.edges)
    if (behind_source(p, e))
      plan_source_edge(p, e);
  for (auto& e : p.graph.edges)
    plan_batch_edge(p, e);
}

namespace {

void plan_after_look(planning& p, plan_result& result) {
  p.order = topological_order(p.graph);
  if (result.faults.empty()) {
    plan_streams(p);
    plan_edges(p);
    plan_bundlers(p);
  }
  if (result.faults.empty()) {
    plan_waits(p);
    plan_bounds(p);
    plan_memory(p);
  }
  if (result.faults.empty()) {
    plan_remarks(p);
    result.plan = std::move(p.plan);
  }
  sort_faults(result.faults);
}

} // namespace

plan_result plan_graph(checked_graph& graph, const network_source& network) {
  plan_result result;
  planning p{graph, result.faults};
  if (network && !graph.nodes.empty())
    look_on_nodes(graph, *network(), result.faults);
  check_resources(graph, result.faults);
  plan_after_look(p, result);
  return result;
}

plan_result plan_found_graph(checked_graph& graph) {
  plan_result result;
  planning p{graph, result.faults};
  plan_after_look(p, result);
  return result;
}

} // namespace hyperframes
