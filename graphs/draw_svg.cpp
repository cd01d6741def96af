#include "graphs/draw.hpp"
#include "graphs/svg_layout.hpp"
#include "graphs/svg_text.hpp"

namespace hyperframes {

namespace {

std::string draw_box(const svg_place& n) {
  if (n.lines.empty())
    return {};
  const auto left = pixels(n.x), middle = pixels(n.x + n.width / 2);
  return std::string{"<g class=\""} + (n.is_source ? "streams" : "stage") + "\"><rect x=\"" + left
         + "\" y=\"" + pixels(n.y - svg_box_height / 2) + "\" width=\"" + pixels(n.width)
         + "\" height=\"" + pixels(svg_box_height) + "\" rx=\"10\"/><text class=\"name\" x=\""
         + middle + "\" y=\"" + pixels(n.y - 3) + "\">" + in_xml(n.lines[0])
         + "</text><text class=\"kind\" x=\"" + middle + "\" y=\"" + pixels(n.y + 15) + "\">"
         + in_xml(n.lines[1]) + "</text></g>\n";
}

std::string draw_edge(const svg_picture& p, const svg_link& l) {
  std::string path;
  for (std::size_t i = 1; i < l.along.size(); ++i) {
    const auto& a = p.places[l.along[i - 1]];
    const auto& b = p.places[l.along[i]];
    const auto [ax, bx] = svg_ends_of(a, b);
    const auto half = (bx - ax) / 2;
    if (path.empty())
      path = "M" + pixels(ax) + ',' + pixels(a.y);
    path += " C" + pixels(ax + half) + ',' + pixels(a.y) + ' ' + pixels(bx - half) + ','
            + pixels(b.y) + ' ' + pixels(bx) + ',' + pixels(b.y);
  }
  return "<path class=\"edge\" d=\"" + path + "\" marker-end=\"url(#arrow)\"/>\n";
}

std::string draw_label(const svg_link& l) {
  std::string text;
  for (std::size_t i = 0; i < l.label.size(); ++i)
    text += "<text class=\"" + std::string{i == 0 ? "type" : "label"} + "\" x=\""
            + pixels(l.label_x) + "\" y=\""
            + pixels(l.label_y + (i == 0 ? -7 : 3 + 13 * static_cast<double>(i))) + "\">"
            + in_xml(l.label[i]) + "</text>\n";
  return text;
}

constexpr const char* style = R"(<style>
text { font-family: system-ui, sans-serif; text-anchor: middle; fill: #1d2733; }
.title { font-size: 17px; font-weight: 600; text-anchor: start; }
.name { font-size: 14px; font-weight: 600; }
.kind { font-size: 11px; fill: #52606f; }
.type { font-size: 11px; font-weight: 600; fill: #2f5d94; }
.label { font-size: 10.5px; fill: #52606f; }
.type, .label { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; }
.stage rect { fill: #eef3fb; stroke: #4a6fa5; stroke-width: 1.4; }
.streams rect { fill: #f3f7ee; stroke: #6f9350; stroke-width: 1.4; stroke-dasharray: 5 3; }
.edge { fill: none; stroke: #6b7787; stroke-width: 1.5; }
</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#6b7787"/></marker></defs>
)";

} // namespace

std::string draw_svg(const checked_graph& graph) {
  const auto p = lay_out_svg(graph);
  const auto w = pixels(p.width), h = pixels(p.height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h
                    + "\" viewBox=\"0 0 " + w + ' ' + h + "\" role=\"img\">\n<title>"
                    + in_xml(graph.name) + "</title>\n" + style
                    + "<rect width=\"100%\" height=\"100%\" rx=\"12\" fill=\"#ffffff\"/>\n<text "
                      "class=\"title\" x=\""
                    + pixels(svg_margin) + "\" y=\"34\">" + in_xml(graph.name) + "</text>\n";
  for (const auto& l : p.links)
    out += draw_edge(p, l);
  for (const auto& l : p.links) // above all edges
    out += draw_label(l);
  for (const auto& n : p.places)
    out += draw_box(n);
  return out + "</svg>\n";
}

} // namespace hyperframes
