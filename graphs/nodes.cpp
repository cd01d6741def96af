#include "graphs/nodes.hpp"

#include "graphs/values.hpp"
#include "runtime/net/item_wire.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

using kind = document_node::kind;

std::vector<std::string> names_of(const std::vector<checked_node>& nodes) {
  std::vector<std::string> names;
  for (const auto& n : nodes)
    names.push_back(n.name);
  return names;
}

} // namespace

void check_nodes(const document_node& nodes, graph_check& check) {
  const bool null = nodes.what == kind::null
                    || (nodes.what == kind::scalar && (nodes.text == "null" || nodes.text == "~"));
  if (null)
    return;
  if (nodes.what != kind::map)
    return check.fail(
      nodes.mark, "nodes is " + in_words(nodes)
                    + ": expected names and addresses, such as nodes: { line1: 10.0.0.2:4100 }");
  for (const auto& e : nodes.entries) {
    checked_node n;
    n.name = e.key;
    n.mark = e.value.mark;
    if (e.value.unknown)
      continue;
    if (e.key == "any" || !is_plain_name(e.key, "_-"))
      check.fail(
        e.mark, "the node '" + e.key
                  + "' may hold letters, digits and the signs _- only, and not be 'any'");
    if (e.value.what != kind::scalar) {
      check.fail(
        e.value.mark, "nodes." + e.key + " is " + in_words(e.value)
                        + ": expected its address, host:port, such as 10.0.0.2:4100");
      continue;
    }
    const auto at = read_node_address(e.value.text);
    if (!at) {
      check.fail(
        e.value.mark,
        "nodes." + e.key + " is '" + e.value.text + "': expected host:port, such as 10.0.0.2:4100");
      continue;
    }
    n.at = *at;
    for (const auto& other : check.graph.nodes)
      if (other.at == n.at)
        check.fail(
          e.value.mark, "the nodes '" + other.name + "' and '" + n.name
                          + "' have the same address: remove one of them");
    check.graph.nodes.push_back(std::move(n));
  }
}

void check_placement(
  const document_node& written, const std::string& name, checked_stage& stage, graph_check& check) {
  if (has_unknown(written))
    return;
  if (stage.kind && stage.kind->on_nodes == node_use::none)
    return check.fail(
      written.mark, name + ".node: a stage of type '" + stage.kind->name
                      + "' runs in the process that runs the graph; remove `node`");
  const auto& nodes = check.graph.nodes;
  const auto add = [&](const document_node& one) {
    if (one.what != kind::scalar)
      return check.fail(
        one.mark, name + ".node is " + in_words(one)
                    + ": expected the name of a node, a list of names, or any");
    if (one.text == "any") {
      for (std::size_t i = 0; i < nodes.size(); ++i)
        stage.nodes.push_back(i);
      if (nodes.empty())
        check.fail(one.mark, name + ".node is any, but the graph has no `nodes`");
      return;
    }
    const auto found = std::ranges::find(nodes, one.text, &checked_node::name);
    if (found == nodes.end())
      return check.fail(
        one.mark,
        name + ".node is '" + one.text + "', but there is no such node: "
          + (nodes.empty() ? std::string{"the graph has no `nodes`"} : suggestion(one.text, names_of(nodes))));
    const auto at = static_cast<std::size_t>(found - nodes.begin());
    if (std::ranges::count(stage.nodes, at) > 0)
      return check.fail(
        one.mark, name + ".node names '" + one.text + "' twice: remove one of them");
    stage.nodes.push_back(at);
  };
  if (written.what == kind::list)
    for (const auto& i : written.items)
      add(i);
  else
    add(written);
  if (written.what == kind::list && written.items.empty())
    check.fail(written.mark, name + ".node is an empty list: name a node, or remove `node`");
}

namespace {

/// Where the whole of a stage runs, as `checked_stage::nodes`.
std::vector<std::size_t> place_of(const checked_stage& stage) {
  return runs_elsewhere(stage) ? stage.nodes : std::vector<std::size_t>{};
}

std::string in_words(const checked_graph& graph, const checked_stage& stage) {
  std::string words;
  for (const auto n : place_of(stage))
    words += (words.empty() ? "on " : " or ") + graph.nodes[n].name;
  return words.empty() ? "in the process that runs the graph" : words;
}

} // namespace

bool runs_elsewhere(const checked_stage& stage) {
  return stage.kind && stage.kind->on_nodes == node_use::whole && !stage.nodes.empty();
}

bool has_workers_elsewhere(const checked_stage& stage) {
  return stage.kind && stage.kind->on_nodes == node_use::workers && !stage.nodes.empty();
}

void leave_to_nodes(checked_graph& graph) {
  for (auto& stage : graph.stages) {
    if (!runs_elsewhere(stage) && !has_workers_elsewhere(stage))
      continue;
    stage.sound = false;
    if (stage.kind->inputs.empty())
      for (const auto s : stage.streams)
        graph.streams[s].sound = false;
  }
}

void check_places(graph_check& check) {
  const auto& graph = check.graph;
  for (const auto& e : graph.edges) {
    const auto &from = graph.stages[e.from], &to = graph.stages[e.to];
    if (!crosses_processes(e.type) && place_of(from) != place_of(to))
      check.fail(
        e.mark, to.name + " runs " + in_words(graph, to) + " and takes items of type "
                  + to_string(e.type) + " from '" + from.name + "', which runs "
                  + in_words(graph, from)
                  + ": only hyperframes, batches and triggers leave their process; give both the same `node`");
  }
  for (const auto& stage : graph.stages)
    if (runs_elsewhere(stage) && stage.kind->inputs.empty())
      for (const auto s : stage.streams)
        if (const auto& stream = graph.streams[s]; stream.camera && stream.camera->name == "push")
          check.fail(
            stream.mark, "stream '" + stream.id + "' has camera 'push', whose frames come from the program, and '"
                           + stage.name + "' runs " + in_words(graph, stage)
                           + ": capture it in the process that runs the graph");
}

} // namespace hyperframes
