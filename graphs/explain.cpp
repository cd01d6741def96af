#include "graphs/explain.hpp"

#include "actors/infer.hpp"
#include "graphs/check.hpp"
#include "graphs/nodes.hpp"
#include "graphs/parameters.hpp"
#include "graphs/plan.hpp"
#include "graphs/text_table.hpp"
#include "graphs/values.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

namespace {

/// Streams that one entry of the file made.
using entry = std::vector<stream_index>;

std::vector<entry> entries_of(const checked_graph& graph) {
  std::vector<entry> entries;
  for (stream_index i = 0; i < graph.streams.size(); ++i) {
    const auto same = [&](const entry& e) {
      const auto& first = graph.streams[e.front()];
      return first.mark.to_string() == graph.streams[i].mark.to_string()
             && first.camera == graph.streams[i].camera;
    };
    const auto found = std::ranges::find_if(entries, same);
    if (found == entries.end())
      entries.push_back({i});
    else
      found->push_back(i);
  }
  return entries;
}

/// The different texts of `values`, in order, at most four of them.
std::string joined(const std::vector<std::string>& values) {
  std::vector<std::string> different;
  for (const auto& v : values)
    if (std::ranges::count(different, v) == 0)
      different.push_back(v);
  const auto all = different.size();
  if (all > 4) {
    different.resize(3);
    different.push_back("... (" + std::to_string(all) + " values)");
  }
  return join_words(different, ", ");
}

/// Every parameter with its value and source; values of objects with their path.
void add_values(
  const std::vector<parameter>& parameters, const std::vector<const settings*>& all,
  const std::string& path, text_table& table) {
  for (const auto& p : parameters) {
    const auto name = path + p.name;
    std::vector<std::string> values;
    std::vector<const settings*> objects;
    for (const auto* s : all) {
      const auto& value = s->at(p.name);
      values.push_back(write_value(value));
      if (const auto* o = std::get_if<std::shared_ptr<settings>>(&value.value))
        objects.push_back(o->get());
    }
    if (objects.size() == all.size())
      add_values(p.fields, objects, name + '.', table);
    else
      table.add({name, joined(values), source_in_words(all.front()->at(p.name))});
  }
}

std::string explain_graph(const checked_graph& graph) {
  text_table table;
  const auto add = [&](const char* name, const setting& s, const std::string& value) {
    table.add({name, value, source_in_words(s)});
  };
  add("latency_budget", graph.latency_budget, write_value(graph.latency_budget));
  add(
    "memory", graph.memory,
    write_bytes(static_cast<std::uint64_t>(std::get<std::int64_t>(graph.memory.value))));
  add("seed", graph.seed, write_value(graph.seed));
  return "graph " + graph.name + '\n' + table.text();
}

std::string rate_in_words(const camera_info& info) {
  return info.fps > 0 ? write_number(std::round(info.fps * 100) / 100) + " fps" : "rate unknown";
}

std::string explain_stream(const checked_graph& graph, const graph_plan& plan, stream_index i) {
  const auto& s = graph.streams[i];
  const auto& info = *s.info;
  auto text =
    info.media.to_string() + ", " + rate_in_words(info) + ", "
    + (info.live ? "live" : "file, " + counted(plan.prefetch[i], "frame") + " read ahead");
  if (info.frame_count)
    text += ", " + counted(*info.frame_count, "frame");
  return text + ", pool of " + counted(plan.frames_ahead[i] + info.own_frames, "slot") + " ("
         + std::to_string(plan.frames_ahead[i]) + " for the graph, "
         + std::to_string(info.own_frames) + " for the camera)";
}

std::string explain_streams(const checked_graph& graph, const graph_plan& plan) {
  std::string result;
  for (const auto& e : entries_of(graph)) {
    const auto& first = graph.streams[e.front()];
    result +=
      '\n' + std::string{e.size() > 1 ? "streams " : "stream "} + first.id
      + (e.size() > 1 ? " ... " + graph.streams[e.back()].id + " (" + std::to_string(e.size()) + ')' : "")
      + ", camera " + first.camera->name + "  " + first.mark.to_string() + '\n';
    std::vector<std::string> groups, priorities, facts;
    std::vector<const settings*> configs;
    for (const auto i : e) {
      groups.push_back(graph.streams[i].group);
      priorities.push_back(std::to_string(graph.streams[i].priority));
      facts.push_back(explain_stream(graph, plan, i));
      configs.push_back(graph.streams[i].config.get());
    }
    for (std::size_t i = 0; i < facts.size(); ++i)
      if (
        std::ranges::find(facts.begin(), facts.begin() + static_cast<std::ptrdiff_t>(i), facts[i])
        == facts.begin() + static_cast<std::ptrdiff_t>(i))
        result += wrap((facts.size() > 1 ? graph.streams[e[i]].id + ": " : "") + facts[i], 2);
    text_table table;
    table.add({"group", joined(groups), source_in_words(first.entry->at("group"))});
    table.add({"priority", joined(priorities), source_in_words(first.entry->at("priority"))});
    add_values(first.camera->parameters, configs, "", table);
    result += table.text();
  }
  return result;
}

std::string explain_edge(const checked_graph& graph, const graph_plan& plan, std::size_t i) {
  const auto& e = graph.edges[i];
  const auto per = e.type == port_type::frame ? " per stream" : "";
  text_table table;
  const auto from =
    graph.stages[e.from].kind->outputs.size() > 1
      ? graph.stages[e.from].name + '.' + graph.stages[e.from].kind->outputs[e.from_port].name
      : graph.stages[e.from].name;
  table.add({"from", from, "carries " + std::string{to_string(e.type)} + " items"});
  table.add({"from.capacity", write_value(e.capacity) + per, source_in_words(e.capacity)});
  table.add(
    {"from.capacity_bytes", write_value(e.capacity_bytes), source_in_words(e.capacity_bytes)});
  table.add({"from.overflow", write_value(e.overflow), source_in_words(e.overflow)});
  if (plan.edges[i].frames_per_stream > 0)
    table.add(
      {"", "",
       "holds at most " + counted(plan.edges[i].frames_per_stream, "frame") + " of a stream"});
  return table.text();
}

/// "runs on node a (10.0.0.2:4100), or on b (10.0.0.3:4100) where that is gone".
std::string place_in_words(const checked_graph& graph, const checked_stage& s) {
  std::vector<std::string> nodes;
  for (const auto n : s.nodes)
    nodes.push_back(graph.nodes[n].name + " (" + graph.nodes[n].at.to_string() + ')');
  const auto list = join_words(nodes, runs_elsewhere(s) ? " or " : " and ");
  return runs_elsewhere(s)
           ? "runs in another process, on node " + list + (nodes.size() > 1 ? ", the first that takes it" : "")
           : "its workers are in other processes, on node " + list;
}

std::string explain_stage(const checked_graph& graph, const graph_plan& plan, std::size_t i) {
  const auto& s = graph.stages[i];
  std::string result =
    '\n' + s.name + ", stage of type " + s.kind->name + "  " + s.mark.to_string() + '\n';
  result += wrap(s.kind->summary, 2);
  if (s.resource)
    result += wrap(s.resource->summary, 2);
  if (!s.nodes.empty())
    result += wrap(place_in_words(graph, s), 2);
  for (const auto e : s.inputs)
    result += explain_edge(graph, plan, e);
  text_table table;
  add_values(s.kind->parameters, {s.config.get()}, "", table);
  if (plan.tensors[i] > 0)
    table.add(
      {"tensors", std::to_string(plan.tensors[i]) + " of " + about_bytes(plan.tensor_bytes[i]),
       "derived: hyperframes that can be open, queued or under way at once"});
  if (plan.first_tensors[i] > 0)
    table.add(
      {"first tensors",
       std::to_string(plan.first_tensors[i]) + " of " + about_bytes(plan.first_tensor_bytes[i]),
       "derived: first parts that can be queued or under way at once"});
  if (plan.reorder[i] > 0)
    table.add(
      {"reorder space", counted(plan.reorder[i], "frame") + " per stream",
       "derived: what the stages above can hold"});
  if (const auto& f = plan.fill[i]; f.room > 0)
    table.add(
      {"batch fill",
       "at most "
         + write_number(std::round(
           100.0 * static_cast<double>(f.hyperframes * f.slots + f.firsts * f.first_slots)
           / static_cast<double>(f.room)))
         + " %",
       "derived: " + counted(f.hyperframes, "hyperframe") + " of " + counted(f.slots, "slot")
         + (f.firsts > 0 ? " and " + counted(f.firsts, "first part") + " of " + counted(f.first_slots, "slot") : "")
         + " in a batch of " + counted(f.room, "slot")
         + "; the summary counts the slots with a frame in them"});
  table.add({"passed by", counted(s.streams.size(), "stream"), "derived"});
  return result + table.text();
}

/// What is known of how long a batch takes before the graph runs.
std::string service_in_words(const checked_stage& s) {
  const auto* model = dynamic_cast<const model_resource*>(s.resource.get());
  const auto time = model
                      ? model->loaded->simulated_time(static_cast<std::uint32_t>(batch_slots(s)))
                      : std::nullopt;
  if (time)
    return "a full batch takes " + write_duration(*time);
  return "how long a batch takes is not known before the graph runs; `infer` in the summary's "
         "latency shows both together";
}

/// What a dispatched batch, which nothing ends any more, waits for.
std::string explain_dispatch(const checked_graph& graph, const graph_plan& plan) {
  std::string result;
  for (const auto& e : graph.edges) {
    if (e.type != port_type::batch)
      continue;
    const auto& from = graph.stages[e.from];
    const auto& to = graph.stages[e.to];
    const auto* written = integer_at(*to.config, "workers");
    const auto workers = written ? *written : 1;
    const auto behind = std::max<std::int64_t>(0, (capacity_of(e) + workers - 1) / workers - 1);
    std::string text = "a batch that " + from.name + " has dispatched to " + to.name + ' ';
    if (behind == 0)
      text += "waits for no other one";
    else
      text += "waits for at most " + counted(static_cast<std::uint64_t>(behind), "batch")
              + " that came to the same worker before it";
    const bool expires =
      duration_at(*from.config, "ttl")
      || (plan.facts->latency_budget != duration::max() && std::ranges::any_of(from.streams, [&](stream_index s) {
            return graph.streams[s].info->live;
          }));
    if (behind > 0 && expires)
      text += ", and for none while batches take " + write_duration(defaults::quick_batch)
              + " or longer: what can expire waits in " + from.name;
    result += wrap(text + "; " + service_in_words(to), 2);
  }
  return result;
}

std::string explain_waits(const checked_graph& graph, const graph_plan& plan) {
  const auto endless = [](const graph_plan::wait_line& w) { return w.longest == duration::max(); };
  const bool live = std::ranges::any_of(plan.facts->streams, &stream_facts::live);
  text_table table;
  for (const auto& w : plan.waits)
    table.add({endless(w) ? "no bound" : write_duration(w.longest), w.what, w.why});
  std::string sum = "together " + write_duration(plan.longest_wait);
  if (std::ranges::any_of(plan.waits, endless))
    sum += " and what has no bound";
  if (const auto* budget = std::get_if<duration>(&graph.latency_budget.value); budget && live)
    sum += ", leaves " + write_duration(*budget - plan.longest_wait)
           + " of the latency budget for the work itself";
  else
    sum += budget ? "; the latency budget holds for live streams, and there are none"
                  : "; no latency budget";
  std::string firsts;
  for (const auto& sentence : plan.first_waits)
    firsts += wrap(sentence, 2);
  return "\nworst wait of a frame, by the rules of the graph\n"
         + (plan.waits.empty() ? "  no rule makes a frame wait\n" : table.text()) + "  " + sum
         + '\n' + firsts + explain_dispatch(graph, plan);
}

std::string explain_memory(const checked_graph& graph, const graph_plan& plan) {
  text_table table;
  for (const auto& l : plan.memory)
    table.add({about_bytes(l.bytes), l.what, l.how});
  const auto allowed = static_cast<std::uint64_t>(std::get<std::int64_t>(graph.memory.value));
  table.add(
    {about_bytes(plan.memory_total), "together", "of " + about_bytes(allowed) + " allowed"});
  table.add(
    {about_bytes(allowed - std::min(allowed, plan.memory_total)), "left",
     "for frames that become larger, while those before them are in use; beyond it they fail "
     "(no_memory)"});
  return "\nmemory (models and libraries not counted)\n" + table.text();
}

std::string explain_threads(const checked_graph& graph, unsigned cores) {
  text_table table;
  std::size_t blocking = 0, shared = 0;
  for (const auto& s : graph.streams)
    ++(s.info->blocks ? blocking : shared);
  table.add({std::to_string(cores), "for the stages", "one for each core"});
  if (blocking > 0)
    table.add({std::to_string(blocking), "for cameras that may block", "one each"});
  if (shared > 0)
    table.add(
      {std::to_string(std::min<std::size_t>(shared, cores)), "for the other cameras",
       "shared, at most one for each core"});
  for (const auto& s : graph.stages)
    if (const auto* workers = integer_at(*s.config, "workers")) {
      const auto* inner = integer_at(*s.config, "threads");
      const auto each = inner ? *inner : 1;
      table.add(
        {std::to_string(*workers * each), "for " + s.name,
         counted(static_cast<std::uint64_t>(*workers), "worker") + " of "
           + counted(static_cast<std::uint64_t>(each), "thread")});
    }
  return "\nthreads\n" + table.text();
}

std::string explain_remarks(const graph_plan& plan) {
  if (plan.remarks.empty())
    return {};
  std::string result = "\nremarks\n";
  for (const auto& r : plan.remarks) {
    auto text = wrap(r, 4);
    text[2] = '-';
    result += text;
  }
  return result;
}

} // namespace

std::string source_in_words(const setting& s) {
  if (std::holds_alternative<std::monostate>(s.value))
    return "default";
  switch (s.source) {
    case value_source::built_in:
      return "default";
    case value_source::derived:
      return "derived";
    case value_source::environment:
      return "environment, at " + s.mark.to_string();
    case value_source::program:
      return s.mark.file.empty() ? "program" : "program, " + s.mark.to_string();
    case value_source::file:
    case value_source::command_line:
      return s.mark.to_string();
  }
  return {};
}

std::string explain(const checked_graph& graph, const graph_plan& plan, unsigned cores) {
  auto result = explain_graph(graph) + explain_streams(graph, plan);
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    result += explain_stage(graph, plan, i);
  return result + explain_waits(graph, plan) + explain_memory(graph, plan)
         + explain_threads(graph, std::max(1U, cores)) + explain_remarks(plan);
}

} // namespace hyperframes
