#include "cameras/machined_part.hpp"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace hyperframes {

namespace {

constexpr double pi = std::numbers::pi;
constexpr int subpixel_bits = 4; ///< fixed point of OpenCV's drawing

std::vector<part_spot> outline(part_shape shape) {
  std::vector<part_spot> corners;
  if (shape == part_shape::flange) {
    for (int i = 0; i < 96; ++i)
      corners.push_back({std::cos(2 * pi * i / 96), std::sin(2 * pi * i / 96)});
  } else if (shape == part_shape::gear) {
    constexpr int teeth = 20;
    constexpr std::array<std::array<double, 2>, 4> tooth{
      {{-0.40, 0.86}, {-0.22, 1}, {0.22, 1}, {0.40, 0.86}}};
    for (int i = 0; i < teeth; ++i)
      for (const auto& [turn, radius] : tooth) {
        const double angle = 2 * pi * (i + turn) / teeth;
        corners.push_back({radius * std::cos(angle), radius * std::sin(angle)});
      }
  } else {
    constexpr double half_width = 0.98, half_height = 0.70, corner = 0.16;
    constexpr std::array<std::array<int, 2>, 4> quadrants{{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}};
    for (int q = 0; q < 4; ++q)
      for (int i = 0; i <= 8; ++i) {
        const double angle = pi / 2 * (q + i / 8.0);
        const auto [sx, sy] = quadrants[static_cast<std::size_t>(q)];
        corners.push_back(
          {sx * (half_width - corner) + corner * std::cos(angle),
           sy * (half_height - corner) + corner * std::sin(angle)});
      }
  }
  return corners;
}

std::vector<part_spot> bolt_holes(part_shape shape) {
  std::vector<part_spot> holes;
  if (shape == part_shape::plate)
    return {{0.74, 0.46, 0.125}, {-0.74, 0.46, 0.125}, {-0.74, -0.46, 0.125}, {0.74, -0.46, 0.125}};
  const int count = shape == part_shape::gear ? 5 : 6;
  const double distance = shape == part_shape::gear ? 0.57 : 0.68;
  for (int i = 0; i < count; ++i)
    holes.push_back(
      {distance * std::cos(2 * pi * i / count), distance * std::sin(2 * pi * i / count), 0.125});
  return holes;
}

/// The contours that all parts of a shape share, made once.
struct contours {
  std::vector<part_spot> body, holes;
};
const contours& contours_of(part_shape shape) {
  static const auto all = [] {
    std::array<contours, 3> made;
    for (const auto s : {part_shape::gear, part_shape::flange, part_shape::plate})
      made[static_cast<std::size_t>(s)] = {outline(s), bolt_holes(s)};
    return made;
  }();
  return all[static_cast<std::size_t>(shape)];
}

/// A piece broken out of the rim, half-way between two bolt holes.
std::array<part_spot, 11> broken_piece(part_shape shape, random_draw& draw) {
  double x = 0, y = 0;
  if (shape == part_shape::plate) {
    const bool end = draw.unit() < 0.4;
    const double sign = draw.unit() < 0.5 ? -1 : 1;
    x = end ? sign * 1.0 : draw.between(-0.35, 0.35);
    y = end ? draw.between(-0.12, 0.12) : sign * 0.72;
  } else {
    const int count = shape == part_shape::gear ? 5 : 6;
    const int gap = draw.below(count);
    const double angle = 2 * pi * (gap + 0.5 + draw.between(-0.15, 0.15)) / count;
    x = std::cos(angle);
    y = std::sin(angle);
  }
  const double size = draw.between(0.24, 0.33);
  std::array<part_spot, 11> corners;
  for (int i = 0; i < 11; ++i) {
    const double radius = size * draw.between(0.78, 1.12);
    corners[static_cast<std::size_t>(i)] = {
      x + radius * std::cos(2 * pi * i / 11), y + radius * std::sin(2 * pi * i / 11)};
  }
  return corners;
}

/// A slightly bent line over the metal, beside the bore.
std::array<part_spot, 7> scratch_path(part_shape shape, random_draw& draw) {
  const double half = draw.between(0.42, 0.62), bend = draw.between(-0.12, 0.12);
  const double away =
    shape == part_shape::plate ? draw.between(0.22, 0.36) : draw.between(0.38, 0.50);
  double turn = shape == part_shape::plate ? draw.between(-0.22, 0.22) : draw.between(0, 2 * pi);
  if (shape == part_shape::plate)
    turn += pi * draw.below(2);
  const double shift = draw.between(-0.1, 0.1);
  std::array<part_spot, 7> corners;
  for (int i = -3; i <= 3; ++i) {
    const double x = half * i / 3 + shift, y = away + bend * (1 - i * i / 9.0);
    corners[static_cast<std::size_t>(i + 3)] = {
      x * std::cos(turn) - y * std::sin(turn), x * std::sin(turn) + y * std::cos(turn)};
  }
  return corners;
}

} // namespace

part_defect draw_defect(random_draw& draw) {
  const double x = draw.unit();
  if (x < 0.55)
    return part_defect::none;
  return x < 0.70   ? part_defect::scratch
         : x < 0.85 ? part_defect::missing_hole
                    : part_defect::chipped;
}

machined_part draw_part(random_draw& draw, double width, double height) {
  constexpr std::array<std::array<int, 3>, 3> alloys{
    {{256, 252, 246}, {172, 232, 262}, {236, 238, 238}}};
  machined_part p;
  p.what = draw_defect(draw);
  p.shape = static_cast<part_shape>(draw.below(3));
  const double side = std::min(width, height);
  p.x = width / 2 + side * draw.between(-0.10, 0.10);
  p.y = height / 2 + side * draw.between(-0.03, 0.03);
  p.radius = side * draw.between(0.35, 0.41);
  p.angle = draw.between(0, 2 * pi);
  p.tint = alloys[static_cast<std::size_t>(draw.below(3))];
  p.gain = static_cast<int>(draw.between(205, 290));
  p.gain_x = static_cast<int>(draw.between(-50, 50));
  p.gain_y = static_cast<int>(draw.between(-40, 40));
  p.texture_x = draw.below(16384);
  p.texture_y = draw.below(brushed_rows);
  p.noise = draw.below(grain_starts);
  return p;
}

part_pencil::part_pencil(cv::Mat canvas, const machined_part& p, double centre_x, double centre_y)
  : canvas_(std::move(canvas)),
    radius_(p.radius),
    sine_(std::sin(p.angle)),
    cosine_(std::cos(p.angle)),
    x_(centre_x),
    y_(centre_y) {}

void part_pencil::polygon(std::span<const part_spot> corners, int value) {
  std::array<cv::Point, 128> points; // an outline has 96 at most
  const auto count = std::min(points.size(), corners.size());
  for (std::size_t i = 0; i < count; ++i)
    points[i] = at(corners[i].x, corners[i].y);
  const cv::Point* first = points.data();
  const int number = static_cast<int>(count);
  cv::fillPoly(canvas_, &first, &number, 1, value, cv::LINE_AA, subpixel_bits);
}

void part_pencil::disc(const part_spot& s, int value) {
  cv::circle(
    canvas_, at(s.x, s.y), length(s.radius), value, cv::FILLED, cv::LINE_AA, subpixel_bits);
}

void part_pencil::ring(const part_spot& s, double thickness, int value) {
  cv::circle(
    canvas_, at(s.x, s.y), length(s.radius), value, pixels(thickness), cv::LINE_AA, subpixel_bits);
}

void part_pencil::line(std::span<const part_spot> corners, double thickness, int value) {
  for (std::size_t i = 1; i < corners.size(); ++i)
    cv::line(
      canvas_, at(corners[i - 1].x, corners[i - 1].y), at(corners[i].x, corners[i].y), value,
      pixels(thickness), cv::LINE_AA, subpixel_bits);
}

cv::Point part_pencil::at(double x, double y) const {
  const double one = 1 << subpixel_bits;
  return {
    static_cast<int>(std::lround((x_ + radius_ * (x * cosine_ - y * sine_)) * one)),
    static_cast<int>(std::lround((y_ + radius_ * (x * sine_ + y * cosine_)) * one))};
}

int part_pencil::length(double units) const {
  return static_cast<int>(std::lround(units * radius_ * (1 << subpixel_bits)));
}

int part_pencil::pixels(double units) const {
  return std::max(1, static_cast<int>(std::lround(units * radius_)));
}

void draw_body(part_pencil& pen, const machined_part& p, random_draw& draw) {
  const auto& [body, holes] = contours_of(p.shape);
  pen.polygon(body, 255);
  const auto missing =
    p.what == part_defect::missing_hole ? draw.below(static_cast<int>(holes.size())) : -1;
  for (int i = 0; i < static_cast<int>(holes.size()); ++i)
    if (i != missing)
      pen.disc(holes[static_cast<std::size_t>(i)], 0);
  if (p.shape == part_shape::plate) {
    pen.disc({-0.2, 0, 0.13}, 0);
    pen.disc({0.2, 0, 0.13}, 0);
    constexpr std::array<part_spot, 4> slot{
      {{-0.2, -0.13}, {0.2, -0.13}, {0.2, 0.13}, {-0.2, 0.13}}};
    pen.polygon(slot, 0);
  } else {
    pen.disc({0, 0, p.shape == part_shape::gear ? 0.24 : 0.32}, 0);
    constexpr std::array<part_spot, 4> keyway{
      {{0.1, -0.07}, {0.31, -0.07}, {0.31, 0.07}, {0.1, 0.07}}};
    if (p.shape == part_shape::gear)
      pen.polygon(keyway, 0);
  }
  if (p.what == part_defect::chipped)
    pen.polygon(broken_piece(p.shape, draw), 0);
}

void draw_marks(part_pencil& pen, const machined_part& p, random_draw& draw) {
  if (p.shape == part_shape::gear)
    pen.ring({0, 0, 0.78}, 0.012, 100);
  if (p.shape == part_shape::flange)
    pen.ring({0, 0, 0.46}, 0.02, 98);
  for (int stains = draw.below(3); stains > 0; --stains) {
    const part_spot s{draw.between(-0.7, 0.7), draw.between(-0.6, 0.6), draw.between(0.08, 0.2)};
    for (int layer = 0; layer < 3; ++layer)
      pen.disc({s.x, s.y, s.radius * (1 - 0.25 * layer)}, 121 - 6 * layer);
  }
  for (int hairlines = draw.below(4); hairlines > 0; --hairlines) {
    const double x = draw.between(-0.7, 0.7), y = draw.between(-0.6, 0.6),
                 turn = draw.between(0, pi);
    const std::array<part_spot, 2> hair{
      {{x, y}, {x + 0.4 * std::cos(turn), y + 0.4 * std::sin(turn)}}};
    pen.line(hair, 0.004, 112);
  }
  for (int specks = draw.below(8); specks > 0; --specks) {
    const int value = draw.unit() < 0.5 ? 190 : 70;
    pen.disc({draw.between(-0.9, 0.9), draw.between(-0.9, 0.9), draw.between(0.008, 0.018)}, value);
  }
  if (p.what == part_defect::scratch) {
    auto path = scratch_path(p.shape, draw);
    const double thickness = draw.between(0.05, 0.068);
    pen.line(path, thickness + 0.03, 172);
    pen.line(path, thickness, 50);
  }
}

} // namespace hyperframes
