#include "graphs/node_look.hpp"

#include "graphs/check.hpp"
#include "graphs/files.hpp"
#include "graphs/found_facts.hpp"
#include "graphs/nodes.hpp"
#include "graphs/plan.hpp"
#include "graphs/text_table.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <map>

namespace hyperframes {

namespace {

constexpr std::chrono::seconds meet_patience{2};
/// A camera of the network may be slow to answer, and a model to load.
constexpr std::chrono::seconds look_time{60};

bool captures(const checked_stage& s) {
  return s.kind && s.kind->inputs.empty();
}

/// @returns the faults of `stages` on one node, which is then known in `graph`; an error where it
/// could not look.
expected<std::vector<fault>> look_on(
  const checked_node& node, const std::vector<std::string>& stages, checked_graph& graph,
  node_network& network) {
  auto order = order_of(graph);
  order.stages = stages;
  const auto found = network.look(node.at, order, meet_patience, look_time);
  if (!found)
    return found.error();
  auto faults = read_facts(*found, graph);
  if (!faults)
    return make_error(
      errc::io_failed, node.at.to_string(), "answered with the facts of another graph");
  for (auto& f : *faults)
    f.message = "on node '" + node.name + "': " + f.message;
  return std::move(*faults);
}

/// Stages that have to be looked at elsewhere, by the nodes that can.
std::map<std::vector<std::size_t>, std::vector<std::size_t>>
to_look_at(const checked_graph& graph) {
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> stages;
  for (std::size_t i = 0; i < graph.stages.size(); ++i) {
    const auto& s = graph.stages[i];
    const bool cameras = captures(s) && runs_elsewhere(s);
    if (s.sound && (cameras || (has_workers_elsewhere(s) && !is_here(graph, s))))
      stages[s.nodes].push_back(i);
  }
  return stages;
}

/// Nobody looks here at what nodes have looked at in vain.
void give_up(checked_graph& graph, const std::vector<std::size_t>& stages) {
  for (const auto i : stages) {
    auto& stage = graph.stages[i];
    if (!stage.resource)
      stage.sound = false;
    if (captures(stage))
      for (const auto s : stage.streams)
        if (!graph.streams[s].info)
          graph.streams[s].sound = false;
  }
}

std::vector<std::string>
names_of(const checked_graph& graph, const std::vector<std::size_t>& stages) {
  std::vector<std::string> names;
  for (const auto i : stages)
    names.push_back(graph.stages[i].name);
  return names;
}

} // namespace

deployment_order order_of(const checked_graph& graph) {
  deployment_order order;
  order.graph = graph.source.name;
  order.text = graph.source.text;
  order.overrides = graph.source.options.overrides;
  const auto& environment = graph.source.options.environment;
  order.environment.assign(environment.begin(), environment.end());
  return order;
}

std::vector<std::byte> look_here(checked_graph graph, const std::vector<std::string>& stages) {
  std::vector<bool> mine(graph.streams.size());
  for (auto& stage : graph.stages) {
    stage.sound = (runs_elsewhere(stage) || has_workers_elsewhere(stage))
                  && std::ranges::count(stages, stage.name) > 0;
    if (stage.sound && captures(stage))
      for (const auto s : stage.streams)
        mine[s] = true;
  }
  for (std::size_t s = 0; s < mine.size(); ++s)
    graph.streams[s].sound = mine[s];
  std::vector<fault> faults;
  check_resources(graph, faults);
  return write_facts(graph, faults);
}

void look_on_nodes(checked_graph& graph, node_network& network, std::vector<fault>& faults) {
  for (const auto& [nodes, stages] : to_look_at(graph)) {
    std::string nobody;
    std::optional<std::vector<fault>> found;
    for (const auto n : nodes) {
      auto trial = graph;
      auto here = look_on(graph.nodes[n], names_of(graph, stages), trial, network);
      if (!here) {
        nobody += (nobody.empty() ? "" : "; ") + ("node '" + graph.nodes[n].name + "': ")
                  + here.error().message;
        continue;
      }
      if (here->empty() || !found) {
        found = std::move(*here);
        if (found->empty()) {
          graph = std::move(trial);
          break;
        }
      }
    }
    if (!found) {
      found = {{graph.stages[stages.front()].mark,
                join_words(names_of(graph, stages), " and ") + (stages.size() > 1 ? " run" : " runs")
                  + " on nodes, and none of them could be asked for its cameras and models: " + nobody}};
    }
    give_up(graph, stages);
    std::ranges::move(*found, std::back_inserter(faults));
  }
}

std::vector<node_look> look_on_all_nodes(const checked_graph& graph, node_network& network) {
  std::vector<node_look> looks;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    node_look look{network.ask(node.at, meet_patience), {}, {}};
    for (const auto& s : graph.stages)
      if (std::ranges::count(s.nodes, n) > 0)
        look.stages.push_back(s.name);
    if (look.facts && !look.stages.empty()) {
      auto there = graph;
      for (auto& s : there.streams)
        s.info.reset();
      for (auto& s : there.stages)
        s.resource.reset();
      if (auto found = look_on(node, look.stages, there, network))
        look.faults = std::move(*found);
      else
        look.faults.push_back({node.mark, "on node '" + node.name + "': " + found.error().message});
      for (std::size_t i = 0; i < graph.stages.size(); ++i) {
        const auto &here = graph.stages[i].resource, &its = there.stages[i].resource;
        if (here && its && here->summary != its->summary)
          look.faults.push_back(
            {graph.stages[i].mark, "on node '" + node.name + "': " + graph.stages[i].name
                                     + " has another model, " + its->summary + ": expected "
                                     + here->summary});
      }
    }
    looks.push_back(std::move(look));
  }
  return looks;
}

namespace {

/// Workers that nodes have no slot for, as a sentence; empty: they have.
std::string missing_slots(const checked_stage& stage, const std::vector<node_look>& looks) {
  const auto* workers = integer_at(*stage.config, "workers");
  if (!has_workers_elsewhere(stage) || !workers)
    return {};
  std::int64_t free = 0;
  for (const auto n : stage.nodes)
    if (const auto& facts = looks[n].facts; facts && !facts->leaving)
      free += std::int64_t{facts->slots} - facts->taken;
  if (free >= *workers)
    return {};
  return stage.name + " has " + std::to_string(*workers) + " workers, and its nodes have "
         + std::to_string(free) + " free slots: the others wait until one has\n";
}

} // namespace

std::string to_text(const std::vector<node_look>& looks, const checked_graph& graph) {
  text_table table{0};
  table.add({"node", "address", "state", "slots", "in use", "version", "for"});
  for (std::size_t n = 0; n < looks.size(); ++n) {
    const auto& facts = looks[n].facts;
    table.add(
      {graph.nodes[n].name, graph.nodes[n].at.to_string(),
       !facts           ? "not there"
       : facts->leaving ? "leaving"
                        : "there",
       facts ? std::to_string(facts->slots) : "", facts ? std::to_string(facts->taken) : "",
       facts ? facts->version : "", join_words(looks[n].stages, ", ")});
  }
  auto text = table.text();
  for (const auto& s : graph.stages)
    text += missing_slots(s, looks);
  return text;
}

std::vector<fault> faults_of(const std::vector<node_look>& looks, const checked_graph& graph) {
  std::vector<fault> faults;
  for (std::size_t n = 0; n < looks.size(); ++n) {
    if (!looks[n].facts)
      faults.push_back(
        {graph.nodes[n].mark,
         "node '" + graph.nodes[n].name + "': " + looks[n].facts.error().message});
    std::ranges::copy(looks[n].faults, std::back_inserter(faults));
  }
  sort_faults(faults);
  return faults;
}

} // namespace hyperframes
