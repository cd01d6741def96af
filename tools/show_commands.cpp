#include "graphs/describe.hpp"
#include "graphs/draw.hpp"
#include "graphs/explain.hpp"
#include "graphs/node_look.hpp"
#include "graphs/report.hpp"
#include "graphs/schema.hpp"
#include "tools/commands.hpp"

#include <iostream>

namespace hyperframes::command {

namespace {

graph load(const shown_arguments& arguments) {
  return command::load(
    arguments.graph, arguments.connect ? network_of(arguments.tls) : network_source{});
}

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

} // namespace

int validate(const shown_arguments& arguments) {
  const auto network = network_of(arguments.tls);
  const auto g = load(arguments.graph, arguments.connect ? network : network_source{});
  if (arguments.connect && !g.checked().nodes.empty()) {
    const auto looks = look_on_all_nodes(g.checked(), *network());
    std::cout << to_text(looks, g.checked());
    if (auto faults = faults_of(looks, g.checked()); !faults.empty())
      throw graph_error(std::move(faults));
  }
  std::cout << arguments.graph.path << ": " << counted(g.checked().streams.size(), "stream") << ", "
            << counted(g.checked().stages.size(), "stage") << ", no faults\n";
  return done;
}

int explain(const shown_arguments& arguments) {
  const auto g = load(arguments);
  std::cout << hyperframes::explain(g.checked(), g.plan());
  return done;
}

int draw(const shown_arguments& arguments, const std::string& format) {
  const auto g = load(arguments);
  std::cout << (format == "dot"   ? draw_dot(g.checked())
                : format == "svg" ? draw_svg(g.checked())
                                  : draw_mermaid(g.checked()));
  return done;
}

int schema(bool of_results) {
  std::cout << (of_results ? result_schema() : graph_schema(built_in()));
  return done;
}

namespace {

int print(const expected<std::string>& text) {
  std::cout << text.value();
  return done;
}

} // namespace

int stages(const std::string& name) {
  return print(name.empty() ? describe_stages(built_in()) : describe_stage(built_in(), name));
}

int cameras(const std::string& name) {
  return print(name.empty() ? describe_cameras(built_in()) : describe_camera(built_in(), name));
}

} // namespace hyperframes::command
