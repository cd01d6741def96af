#pragma once

#include "graphs/graph.hpp"

#include <string>
#include <utility>
#include <vector>

/// Where everything of a graph's picture stands: layers from left to right. In pixels.
namespace hyperframes {

inline constexpr double svg_box_height = 54, svg_margin = 28;

/// A box, or a bend where an edge passes a layer without ending there.
struct svg_place {
  std::vector<std::string> lines; ///< empty: a bend
  bool is_source = false;         ///< a box of streams
  std::size_t layer = 0;
  double row = 0; ///< place in its layer, may be a fraction while rows are sought
  double x = 0, y = 0, width = 0;
  std::vector<std::size_t> before, after; ///< neighbours
};

struct svg_link {
  std::vector<std::size_t> along; ///< places, both ends included
  std::vector<std::string> label;
  double label_x = 0, label_y = 0; ///< its middle
};

struct svg_picture {
  std::vector<svg_place> places;
  std::vector<svg_link> links;
  std::size_t layers = 0;
  double width = 0, height = 0;
};

/// Where an edge leaves its first place and where it enters the next one.
std::pair<double, double> svg_ends_of(const svg_place& a, const svg_place& b);

/// The same graph gives the same picture.
svg_picture lay_out_svg(const checked_graph& graph);

} // namespace hyperframes
