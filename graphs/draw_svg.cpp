#include "graphs/check.hpp"
#include "graphs/draw.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace hyperframes {

namespace {

// Pixels.
constexpr double box_height = 54, row_height = 104, margin = 28, title_height = 34;
constexpr double label_height = 52, label_above = 18; ///< of three lines with some air; above its middle

/// A box, or a bend where an edge passes a layer without ending there.
struct place {
  std::vector<std::string> lines; ///< empty: a bend
  bool is_source = false;         ///< a box of streams
  std::size_t layer = 0;
  double row = 0; ///< place in its layer, may be a fraction while rows are sought
  double x = 0, y = 0, width = 0;
  std::vector<std::size_t> before, after; ///< neighbours
};

struct link {
  std::vector<std::size_t> along; ///< places, both ends included
  std::vector<std::string> label;
  double label_x = 0, label_y = 0; ///< its middle
};

struct picture {
  std::vector<place> places;
  std::vector<link> links;
  std::size_t layers = 0;
};

std::string in_xml(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string{c};
  return result;
}

std::string pixels(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", v);
  return text.data();
}

double width_of(const std::vector<std::string>& lines) {
  double width = 84;
  for (std::size_t i = 0; i < lines.size(); ++i)
    width = std::max(width, static_cast<double>(lines[i].size()) * (i == 0 ? 8 : 6.4) + 24);
  return width;
}

std::size_t add_place(picture& p, std::vector<std::string> lines, std::size_t layer) {
  place n;
  n.width = lines.empty() ? 0 : width_of(lines);
  n.lines = std::move(lines);
  n.layer = layer;
  p.places.push_back(std::move(n));
  return p.places.size() - 1;
}

/// Joins two places, with a bend in each layer between them.
void add_link(picture& p, std::size_t from, std::size_t to, std::vector<std::string> label) {
  link l;
  l.label = std::move(label);
  l.along.push_back(from);
  for (auto layer = p.places[from].layer + 1; layer < p.places[to].layer; ++layer)
    l.along.push_back(add_place(p, {}, layer));
  l.along.push_back(to);
  for (std::size_t i = 1; i < l.along.size(); ++i) {
    p.places[l.along[i - 1]].after.push_back(l.along[i]);
    p.places[l.along[i]].before.push_back(l.along[i - 1]);
  }
  p.links.push_back(std::move(l));
}

/// The streams that a source captures, by camera.
std::vector<std::vector<std::string>>
stream_boxes(const checked_graph& graph, const checked_stage& s) {
  std::map<std::string, std::vector<stream_index>> by_camera;
  for (const auto i : s.streams)
    by_camera[graph.streams[i].camera->name].push_back(i);
  std::vector<std::vector<std::string>> boxes;
  for (const auto& [camera, streams] : by_camera) {
    auto name = graph.streams[streams.front()].id;
    auto detail = camera;
    if (streams.size() > 1) {
      name += " ... " + graph.streams[streams.back()].id;
      detail = std::to_string(streams.size()) + " x " + camera;
    }
    boxes.push_back({name, detail});
  }
  return boxes;
}

std::vector<std::size_t> layers_of(const checked_graph& graph) {
  std::vector<std::size_t> layer(graph.stages.size());
  for (const auto i : topological_order(graph))
    for (const auto e : graph.stages[i].inputs)
      layer[i] = std::max(layer[i], layer[graph.edges[e].from] + 1);
  return layer;
}

picture make_picture(const checked_graph& graph) {
  picture p;
  const auto layer = layers_of(graph);
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    add_place(p, {graph.stages[i].name, graph.stages[i].kind->name}, layer[i] + 1);
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    if (graph.stages[i].inputs.empty())
      for (auto& box : stream_boxes(graph, graph.stages[i])) {
        const auto streams = add_place(p, std::move(box), layer[i]);
        p.places[streams].is_source = true;
        add_link(p, streams, i, {});
      }
  for (const auto& e : graph.edges)
    add_link(p, e.from, e.to, label_of(graph, e));
  for (const auto& n : p.places)
    p.layers = std::max(p.layers, n.layer + 1);
  return p;
}

std::vector<std::size_t> layer_members(const picture& p, std::size_t layer) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < p.places.size(); ++i)
    if (p.places[i].layer == layer)
      members.push_back(i);
  return members;
}

/// Orders each layer by the mean row of its neighbours, forth and back (Sugiyama's barycentre
/// rule).
void order_rows(picture& p) {
  for (std::size_t l = 0; l < p.layers; ++l) {
    double row = 0;
    for (const auto i : layer_members(p, l))
      p.places[i].row = row++;
  }
  for (int round = 0; round < 6; ++round)
    for (std::size_t k = 0; k < p.layers; ++k) {
      const bool forth = round % 2 == 0;
      auto members = layer_members(p, forth ? k : p.layers - 1 - k);
      std::vector<double> wish(p.places.size());
      for (const auto i : members) {
        const auto& around = forth ? p.places[i].before : p.places[i].after;
        double sum = 0;
        for (const auto n : around)
          sum += p.places[n].row;
        wish[i] = around.empty() ? p.places[i].row : sum / static_cast<double>(around.size());
      }
      std::ranges::stable_sort(members, {}, [&](std::size_t i) { return wish[i]; });
      double row = 0;
      for (const auto i : members)
        p.places[i].row = row++;
    }
}

/// Room for the labels between a layer and the next.
double gap_behind(const picture& p, std::size_t layer) {
  double gap = 44;
  for (const auto& l : p.links)
    if (p.places[l.along.front()].layer == layer)
      for (const auto& line : l.label)
        gap = std::max(gap, static_cast<double>(line.size()) * 6.2 + 26);
  return gap;
}

/// @returns width and height of the whole.
std::pair<double, double> set_places(picture& p) {
  std::size_t most = 1;
  for (std::size_t l = 0; l < p.layers; ++l)
    most = std::max(most, layer_members(p, l).size());
  double x = margin;
  for (std::size_t l = 0; l < p.layers; ++l) {
    const auto members = layer_members(p, l);
    double width = 0;
    for (const auto i : members)
      width = std::max(width, p.places[i].width);
    const auto free = static_cast<double>(most - members.size()) / 2;
    for (const auto i : members) {
      auto& n = p.places[i];
      n.x = x + (width - n.width) / 2;
      n.y = title_height + margin + (n.row + free) * row_height + box_height / 2;
    }
    x += width + (l + 1 < p.layers ? gap_behind(p, l) : 0);
  }
  return {
    x + margin,
    title_height + 2 * margin + static_cast<double>(most) * row_height - (row_height - box_height)};
}

/// Where an edge leaves its first place and where it enters the next one.
std::pair<double, double> ends_of(const place& a, const place& b) {
  return {a.x + a.width, b.x - (b.lines.empty() ? 0 : 6)};
}

/// Puts a label where it wants to stand: by the end that has the fewer edges.
void wish_label(const picture& p, link& l) {
  const auto& a = p.places[l.along[0]];
  const auto& b = p.places[l.along[1]];
  const auto [ax, bx] = ends_of(a, b);
  const bool fans_out = a.after.size() > 1;
  l.label_x = (ax + bx) / 2 + (fans_out ? 14 : 0);
  l.label_y = fans_out              ? a.y + (b.y - a.y) * 0.72
              : b.before.size() > 1 ? a.y + (b.y - a.y) * 0.28
                                    : (a.y + b.y) / 2;
}

/// Moves labels, which stand in the order of their wishes, apart with the least sum of squared moves
/// (isotonic regression by pooling adjacent violators).
void move_apart(const std::vector<link*>& labels) {
  struct block {
    double sum = 0;
    std::size_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<block> blocks;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    blocks.push_back({labels[i]->label_y - static_cast<double>(i) * label_height, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      const auto last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  const auto top = title_height + label_above;
  std::size_t i = 0;
  for (const auto& b : blocks)
    for (std::size_t k = 0; k < b.count; ++k, ++i)
      labels[i]->label_y = std::max(b.mean(), top) + static_cast<double>(i) * label_height;
}

/// @returns how far down the labels reach.
double set_labels(picture& p) {
  double bottom = 0;
  for (std::size_t l = 0; l < p.layers; ++l) {
    std::vector<link*> labels;
    for (auto& one : p.links)
      if (!one.label.empty() && p.places[one.along.front()].layer == l) {
        wish_label(p, one);
        labels.push_back(&one);
      }
    const auto ends_at = [&](const link* one) { return p.places[one->along[1]].y; };
    std::ranges::stable_sort(labels, [&](const link* a, const link* b) {
      return std::pair{a->label_y, ends_at(a)} < std::pair{b->label_y, ends_at(b)};
    });
    move_apart(labels);
    if (!labels.empty())
      bottom = std::max(bottom, labels.back()->label_y + label_height - label_above);
  }
  return bottom;
}

std::string draw_box(const place& n) {
  if (n.lines.empty())
    return {};
  const auto left = pixels(n.x), middle = pixels(n.x + n.width / 2);
  return std::string{"<g class=\""} + (n.is_source ? "streams" : "stage") + "\"><rect x=\"" + left
         + "\" y=\"" + pixels(n.y - box_height / 2) + "\" width=\"" + pixels(n.width)
         + "\" height=\"" + pixels(box_height) + "\" rx=\"10\"/><text class=\"name\" x=\"" + middle
         + "\" y=\"" + pixels(n.y - 3) + "\">" + in_xml(n.lines[0])
         + "</text><text class=\"kind\" x=\"" + middle + "\" y=\"" + pixels(n.y + 15) + "\">"
         + in_xml(n.lines[1]) + "</text></g>\n";
}

std::string draw_edge(const picture& p, const link& l) {
  std::string path;
  for (std::size_t i = 1; i < l.along.size(); ++i) {
    const auto& a = p.places[l.along[i - 1]];
    const auto& b = p.places[l.along[i]];
    const auto [ax, bx] = ends_of(a, b);
    const auto half = (bx - ax) / 2;
    if (path.empty())
      path = "M" + pixels(ax) + ',' + pixels(a.y);
    path += " C" + pixels(ax + half) + ',' + pixels(a.y) + ' ' + pixels(bx - half) + ','
            + pixels(b.y) + ' ' + pixels(bx) + ',' + pixels(b.y);
  }
  return "<path class=\"edge\" d=\"" + path + "\" marker-end=\"url(#arrow)\"/>\n";
}

std::string draw_label(const link& l) {
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
  auto p = make_picture(graph);
  order_rows(p);
  const auto [width, height] = set_places(p);
  const auto w = pixels(width), h = pixels(std::max(height, set_labels(p) + margin / 2));
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h
                    + "\" viewBox=\"0 0 " + w + ' ' + h + "\" role=\"img\">\n<title>"
                    + in_xml(graph.name) + "</title>\n" + style
                    + "<rect width=\"100%\" height=\"100%\" rx=\"12\" fill=\"#ffffff\"/>\n<text "
                      "class=\"title\" x=\""
                    + pixels(margin) + "\" y=\"34\">" + in_xml(graph.name) + "</text>\n";
  for (const auto& l : p.links)
    out += draw_edge(p, l);
  for (const auto& l : p.links) // above all edges
    out += draw_label(l);
  for (const auto& n : p.places)
    out += draw_box(n);
  return out + "</svg>\n";
}

} // namespace hyperframes
