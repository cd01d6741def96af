#include "graphs/draw.hpp"

#include "graphs/values.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

std::string replaced(std::string text, const std::vector<std::pair<char, std::string>>& by) {
  std::string result;
  for (const char c : text) {
    const auto found = std::ranges::find(by, c, &std::pair<char, std::string>::first);
    result += found == by.end() ? std::string{c} : found->second;
  }
  return result;
}

std::string in_dot(const std::string& text) {
  return replaced(text, {{'"', "\\\""}, {'\\', "\\\\"}});
}

std::string in_mermaid(const std::string& text) {
  return replaced(text, {{'"', "#quot;"}, {'<', "#lt;"}, {'>', "#gt;"}});
}

/// What a box says below its name.
std::string detail_of(const checked_stage& s) {
  std::string text = s.kind->name;
  if (s.inputs.empty())
    text +=
      ", " + std::to_string(s.streams.size()) + (s.streams.size() == 1 ? " stream" : " streams");
  if (s.kind->bundle_size)
    text += ", B = " + std::to_string(s.kind->bundle_size(*s.config, 1));
  return text;
}

} // namespace

std::vector<std::string> label_of(const checked_graph& graph, const checked_edge& edge) {
  std::vector<std::string> lines{replaced(to_string(edge.type), {{'_', " "}})};
  if (graph.stages[edge.from].kind->outputs.size() > 1)
    lines.front() += " (" + graph.stages[edge.from].kind->outputs[edge.from_port].name + ')';
  lines.push_back(
    write_value(edge.capacity) + (edge.type == port_type::frame ? " per stream" : ""));
  lines.push_back(
    std::holds_alternative<std::monostate>(edge.overflow.value) ? "live: drop_oldest"
                                                                : write_value(edge.overflow));
  return lines;
}

std::string draw_dot(const checked_graph& graph) {
  std::string out = "digraph \"" + in_dot(graph.name)
                    + "\" {\n  rankdir=LR;\n"
                      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef3fb\", "
                      "color=\"#4a6fa5\", fontname=\"sans-serif\"];\n"
                      "  edge [color=\"#5b6573\", fontname=\"sans-serif\", fontsize=10];\n";
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    out += "  s" + std::to_string(i) + " [label=\"" + in_dot(graph.stages[i].name) + "\\n"
           + in_dot(detail_of(graph.stages[i])) + "\"];\n";
  for (const auto& e : graph.edges) {
    std::string label;
    for (const auto& line : label_of(graph, e))
      label += (label.empty() ? "" : "\\n") + in_dot(line);
    out += "  s" + std::to_string(e.from) + " -> s" + std::to_string(e.to) + " [label=\"" + label
           + "\"];\n";
  }
  return out + "}\n";
}

std::string draw_mermaid(const checked_graph& graph) {
  std::string out = "flowchart LR\n";
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    out += "  s" + std::to_string(i) + "(\"" + in_mermaid(graph.stages[i].name) + "<br/>"
           + in_mermaid(detail_of(graph.stages[i])) + "\")\n";
  for (const auto& e : graph.edges) {
    std::string label;
    for (const auto& line : label_of(graph, e))
      label += (label.empty() ? "" : "<br/>") + in_mermaid(line);
    out +=
      "  s" + std::to_string(e.from) + " -- \"" + label + "\" --> s" + std::to_string(e.to) + '\n';
  }
  return out;
}

} // namespace hyperframes
