#include "graphs/check.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <map>

namespace hyperframes {

namespace {

/// Looks for edges that lead back to where a walk came from.
class cycle_search {
public:
  explicit cycle_search(graph_check& check) : check_(check), state_(check.graph.stages.size()) {}

  void run() {
    for (std::size_t i = 0; i < state_.size(); ++i)
      if (state_[i] == unseen)
        visit(i);
  }

private:
  enum state : std::uint8_t { unseen, open, done };

  void visit(std::size_t stage) {
    state_[stage] = open;
    path_.push_back(stage);
    for (const auto e : check_.graph.stages[stage].outputs) {
      const auto& edge = check_.graph.edges[e];
      if (state_[edge.to] == open)
        tell(edge);
      else if (state_[edge.to] == unseen)
        visit(edge.to);
    }
    path_.pop_back();
    state_[stage] = done;
  }

  void tell(const checked_edge& edge) {
    std::vector<std::size_t> cycle(std::ranges::find(path_, edge.to), path_.end());
    cycle.push_back(edge.to);
    check_.fail(
      edge.mark, "the stages form a cycle: " + path_in_words(check_.graph, cycle)
                   + "; frames would never leave it, remove one of its edges");
  }

  graph_check& check_;
  std::vector<std::uint8_t> state_;
  std::vector<std::size_t> path_;
};

/// The names or patterns in a source's `streams`, with their places.
std::vector<std::pair<std::string, source_mark>> patterns_of(const checked_stage& stage) {
  std::vector<std::pair<std::string, source_mark>> result;
  const auto add = [&](const setting& s) {
    if (const auto* text = std::get_if<std::string>(&s.value))
      for (auto& one : expand_ranges(*text))
        result.emplace_back(std::move(one), s.mark.file.empty() ? stage.mark : s.mark);
  };
  if (!stage.config->has("streams")) {
    result.emplace_back("*", stage.mark);
    return result;
  }
  const auto& s = stage.config->at("streams");
  if (const auto* list = std::get_if<setting::list>(&s.value))
    std::ranges::for_each(*list, add);
  else
    add(s);
  return result;
}

void capture_streams(
  checked_stage& stage, std::vector<const checked_stage*>& captured_by, graph_check& check) {
  auto& streams = check.graph.streams;
  std::vector<std::string> ids;
  for (const auto& s : streams)
    ids.push_back(s.id);
  std::map<const checked_stage*, std::vector<std::string>> twice;
  std::vector<bool> here(streams.size());
  for (const auto& [pattern, mark] : patterns_of(stage)) {
    bool found = false;
    for (std::size_t i = 0; i < streams.size(); ++i)
      if (matches(pattern, ids[i])) {
        found = true;
        here[i] = true;
      }
    if (const auto problem = range_problem(pattern); !found && !problem.empty())
      check.fail(mark, stage.name + " captures '" + pattern + "': " + problem);
    else if (!found && check.streams_known)
      check.fail(
        mark, stage.name + " captures '" + pattern
                + "', but there is no such stream: " + suggestion(pattern, ids));
  }
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (!here[i])
      continue;
    if (captured_by[i])
      twice[captured_by[i]].push_back(ids[i]);
    captured_by[i] = &stage;
    stage.streams.push_back(static_cast<stream_index>(i));
  }
  for (const auto& [other, names] : twice)
    check.fail(
      stage.mark,
      "the stream '" + names.front() + "'"
        + (names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more are" : " is")
        + " captured by " + other->name + " and by " + stage.name
        + ": name each stream in one `streams`");
}

/// Sources' streams flow along the edges.
void follow_streams(checked_graph& graph, const std::vector<std::size_t>& order) {
  for (const auto i : order) {
    auto& s = graph.stages[i];
    for (const auto e : s.inputs) {
      if (graph.edges[e].type == port_type::trigger)
        continue; // it says when, and carries no frame on
      const auto& above = graph.stages[graph.edges[e].from].streams;
      s.streams.insert(s.streams.end(), above.begin(), above.end());
    }
    std::ranges::sort(s.streams);
    const auto rest = std::ranges::unique(s.streams);
    s.streams.erase(rest.begin(), rest.end());
  }
}

bool owes_outcomes(port_type type) {
  return type != port_type::frame_result && type != port_type::outcome
         && type != port_type::trigger;
}

/// Up to two different ways from the stage that captures `stream` to `stage`.
void ways_to(
  const checked_graph& graph, std::size_t stage, stream_index stream,
  std::vector<std::size_t>& path, std::vector<std::vector<std::size_t>>& into) {
  if (into.size() == 2)
    return;
  path.push_back(stage);
  const auto& s = graph.stages[stage];
  if (s.inputs.empty())
    into.emplace_back(path.rbegin(), path.rend());
  for (const auto e : s.inputs)
    if (
      owes_outcomes(graph.edges[e].type)
      && std::ranges::binary_search(graph.stages[graph.edges[e].from].streams, stream))
      ways_to(graph, graph.edges[e].from, stream, path, into);
  path.pop_back();
}

void check_single_ways(graph_check& check, const std::vector<std::size_t>& order) {
  const auto& graph = check.graph;
  for (const auto i : order) {
    const auto& s = graph.stages[i];
    if (!ends_accounts(graph, s))
      continue;
    std::vector<std::string> names;
    std::string ways;
    for (const auto stream : s.streams) {
      std::vector<std::size_t> path;
      std::vector<std::vector<std::size_t>> found;
      ways_to(graph, i, stream, path, found);
      if (found.size() < 2)
        continue;
      if (ways.empty())
        ways = path_in_words(graph, found[0]) + " and " + path_in_words(graph, found[1]);
      names.push_back(graph.streams[stream].id);
    }
    if (!names.empty())
      check.fail(
        s.mark,
        "the stream '" + names.front() + "'"
          + (names.size() > 1 ? " (and " + std::to_string(names.size() - 1) + " more)" : "")
          + " comes to " + s.name + " by two paths, " + ways
          + ": each frame would get two outcomes; end one of them in a stage of its own of type "
          + s.kind->name);
  }
}

} // namespace

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string path_in_words(const checked_graph& graph, const std::vector<std::size_t>& stages) {
  std::string result;
  for (const auto i : stages)
    result += (result.empty() ? "" : " -> ") + graph.stages[i].name;
  return result;
}

std::vector<std::size_t> topological_order(const checked_graph& graph) {
  std::vector<std::size_t> waiting, order;
  for (const auto& s : graph.stages)
    waiting.push_back(s.inputs.size());
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    if (waiting[i] == 0)
      order.push_back(i);
  for (std::size_t k = 0; k < order.size(); ++k)
    for (const auto e : graph.stages[order[k]].outputs)
      if (--waiting[graph.edges[e].to] == 0)
        order.push_back(graph.edges[e].to);
  return order;
}

bool ends_accounts(const checked_graph& graph, const checked_stage& stage) {
  if (!stage.kind || stage.kind->settles)
    return stage.kind != nullptr;
  const bool frames_go_on = std::ranges::any_of(stage.kind->outputs, [](const port& p) {
    return std::ranges::any_of(p.types, owes_outcomes);
  });
  return !frames_go_on && std::ranges::any_of(stage.inputs, [&](std::size_t e) {
    return owes_outcomes(graph.edges[e].type);
  });
}

void check_passing_streams(graph_check& check) {
  for (const auto& s : check.graph.stages) {
    if (!s.sound || !s.kind->check_streams)
      continue;
    std::vector<std::string> ids;
    for (const auto i : s.streams)
      ids.push_back(check.graph.streams[i].id);
    const auto before = check.faults.size();
    s.kind->check_streams(*s.config, ids, s.mark, check.faults);
    for (auto i = before; i < check.faults.size(); ++i)
      check.faults[i].message.insert(0, s.name + ": ");
  }
}

void check_cycles(graph_check& check) {
  cycle_search{check}.run();
}

void check_paths(graph_check& check) {
  auto& graph = check.graph;
  std::vector<const checked_stage*> captured_by(graph.streams.size());
  bool sources_known = true;
  bool any_source = false;
  for (auto& s : graph.stages) {
    // A stage of unknown type might be a source.
    sources_known = sources_known && s.kind && s.config;
    if (!s.kind || !s.kind->inputs.empty())
      continue;
    any_source = true;
    const auto before = check.faults.size();
    capture_streams(s, captured_by, check);
    sources_known = sources_known && check.faults.size() == before;
  }
  if (!any_source && sources_known && !graph.stages.empty())
    check.fail(
      graph.stages.front().mark, "no stage captures the streams: add a stage without `from`, such "
                                 "as capture: { type: capture, streams: \"*\" }");
  for (std::size_t i = 0; i < graph.streams.size() && any_source && sources_known; ++i)
    if (!captured_by[i] && !graph.streams[i].id.empty())
      check.fail(
        graph.streams[i].mark, "nobody captures the stream '" + graph.streams[i].id
                                 + "': name it in a capture stage's `streams`, or remove it");
  const auto order = topological_order(graph);
  follow_streams(graph, order);
  check_single_ways(check, order);
}

} // namespace hyperframes
