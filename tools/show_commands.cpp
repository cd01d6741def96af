#include "graphs/describe.hpp"
#include "graphs/draw.hpp"
#include "graphs/explain.hpp"
#include "graphs/report.hpp"
#include "graphs/schema.hpp"
#include "tools/commands.hpp"

#include <iostream>

namespace hyperframes::command {

namespace {

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

} // namespace

int validate(const graph_arguments& arguments) {
  const auto g = load(arguments);
  std::cout << arguments.path << ": " << counted(g.checked().streams.size(), "stream") << ", "
            << counted(g.checked().stages.size(), "stage") << ", no faults\n";
  return done;
}

int explain(const graph_arguments& arguments) {
  const auto g = load(arguments);
  std::cout << hyperframes::explain(g.checked(), g.plan());
  return done;
}

int draw(const graph_arguments& arguments, const std::string& format) {
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
