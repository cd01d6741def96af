#include "graphs/svg_layout.hpp"

#include "graphs/check.hpp"
#include "graphs/draw.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace hyperframes {

namespace {

// Pixels.
constexpr double row_height = 104, title_height = 34;
constexpr double label_height = 52, label_above = 18; ///< of three lines with some air; above its middle

double width_of(const std::vector<std::string>& lines) {
  double width = 84;
  for (std::size_t i = 0; i < lines.size(); ++i)
    width = std::max(width, static_cast<double>(lines[i].size()) * (i == 0 ? 8 : 6.4) + 24);
  return width;
}

std::size_t add_place(svg_picture& p, std::vector<std::string> lines, std::size_t layer) {
  svg_place n;
  n.width = lines.empty() ? 0 : width_of(lines);
  n.lines = std::move(lines);
  n.layer = layer;
  p.places.push_back(std::move(n));
  return p.places.size() - 1;
}

/// Joins two places, with a bend in each layer between them.
void add_link(svg_picture& p, std::size_t from, std::size_t to, std::vector<std::string> label) {
  svg_link l;
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

svg_picture make_picture(const checked_graph& graph) {
  svg_picture p;
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

std::vector<std::size_t> layer_members(const svg_picture& p, std::size_t layer) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < p.places.size(); ++i)
    if (p.places[i].layer == layer)
      members.push_back(i);
  return members;
}

/// Orders each layer by the mean row of its neighbours, forth and back (Sugiyama's barycentre
/// rule).
void order_rows(svg_picture& p) {
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
double gap_behind(const svg_picture& p, std::size_t layer) {
  double gap = 44;
  for (const auto& l : p.links)
    if (p.places[l.along.front()].layer == layer)
      for (const auto& line : l.label)
        gap = std::max(gap, static_cast<double>(line.size()) * 6.2 + 26);
  return gap;
}

/// @returns width and height of the whole.
std::pair<double, double> set_places(svg_picture& p) {
  std::size_t most = 1;
  for (std::size_t l = 0; l < p.layers; ++l)
    most = std::max(most, layer_members(p, l).size());
  double x = svg_margin;
  for (std::size_t l = 0; l < p.layers; ++l) {
    const auto members = layer_members(p, l);
    double width = 0;
    for (const auto i : members)
      width = std::max(width, p.places[i].width);
    const auto free = static_cast<double>(most - members.size()) / 2;
    for (const auto i : members) {
      auto& n = p.places[i];
      n.x = x + (width - n.width) / 2;
      n.y = title_height + svg_margin + (n.row + free) * row_height + svg_box_height / 2;
    }
    x += width + (l + 1 < p.layers ? gap_behind(p, l) : 0);
  }
  return {
    x + svg_margin,
    title_height + 2 * svg_margin + static_cast<double>(most) * row_height - (row_height - svg_box_height)};
}

/// Puts a label where it wants to stand: by the end that has the fewer edges.
void wish_label(const svg_picture& p, svg_link& l) {
  const auto& a = p.places[l.along[0]];
  const auto& b = p.places[l.along[1]];
  const auto [ax, bx] = svg_ends_of(a, b);
  const bool fans_out = a.after.size() > 1;
  l.label_x = (ax + bx) / 2 + (fans_out ? 14 : 0);
  l.label_y = fans_out              ? a.y + (b.y - a.y) * 0.72
              : b.before.size() > 1 ? a.y + (b.y - a.y) * 0.28
                                    : (a.y + b.y) / 2;
}

/// Moves labels, which stand in the order of their wishes, apart with the least sum of squared moves
/// (isotonic regression by pooling adjacent violators).
void move_apart(const std::vector<svg_link*>& labels) {
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
double set_labels(svg_picture& p) {
  double bottom = 0;
  for (std::size_t l = 0; l < p.layers; ++l) {
    std::vector<svg_link*> labels;
    for (auto& one : p.links)
      if (!one.label.empty() && p.places[one.along.front()].layer == l) {
        wish_label(p, one);
        labels.push_back(&one);
      }
    const auto ends_at = [&](const svg_link* one) { return p.places[one->along[1]].y; };
    std::ranges::stable_sort(labels, [&](const svg_link* a, const svg_link* b) {
      return std::pair{a->label_y, ends_at(a)} < std::pair{b->label_y, ends_at(b)};
    });
    move_apart(labels);
    if (!labels.empty())
      bottom = std::max(bottom, labels.back()->label_y + label_height - label_above);
  }
  return bottom;
}

} // namespace

std::pair<double, double> svg_ends_of(const svg_place& a, const svg_place& b) {
  return {a.x + a.width, b.x - (b.lines.empty() ? 0 : 6)};
}

svg_picture lay_out_svg(const checked_graph& graph) {
  auto p = make_picture(graph);
  order_rows(p);
  std::tie(p.width, p.height) = set_places(p);
  p.height = std::max(p.height, set_labels(p) + svg_margin / 2);
  return p;
}

} // namespace hyperframes
