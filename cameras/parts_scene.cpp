#include "cameras/parts_scene.hpp"

#include "cameras/random_draw.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace hyperframes {

namespace {

constexpr double pi = std::numbers::pi;
constexpr int subpixel_bits = 4; ///< fixed point of OpenCV's drawing
constexpr int brushed_rows = 256;
constexpr int grain_starts = 8192; ///< different rows of noise

enum class defect { none, scratch, missing_hole, chipped };
enum class kind { gear, flange, plate };

struct spot {
  double x = 0, y = 0, radius = 0; ///< in radii of the part
};

/// All that varies from picture to picture.
struct part {
  defect what = defect::none;
  kind shape = kind::gear;
  double x = 0, y = 0, radius = 0, angle = 0; ///< pixels, radians
  std::array<int, 3> tint{};                  ///< B G R, 256 is neutral
  int gain = 256, gain_x = 0, gain_y = 0;     ///< 256ths; the last two from one side to the other
  int texture_x = 0, texture_y = 0, noise = 0; ///< where in the prepared patterns to start
};

defect draw_defect(random_draw& draw) {
  const double x = draw.unit();
  if (x < 0.55)
    return defect::none;
  return x < 0.70 ? defect::scratch : x < 0.85 ? defect::missing_hole : defect::chipped;
}

part draw_part(random_draw& draw, double width, double height) {
  constexpr std::array<std::array<int, 3>, 3> alloys{{{256, 252, 246}, {172, 232, 262}, {236, 238, 238}}};
  part p;
  p.what = draw_defect(draw);
  p.shape = static_cast<kind>(draw.below(3));
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

/// Maps a part's own coordinates (radius 1) to a canvas around its centre, and draws there.
class pencil {
public:
  pencil(cv::Mat canvas, const part& p, double centre_x, double centre_y)
    : canvas_(std::move(canvas)), radius_(p.radius), sine_(std::sin(p.angle)),
      cosine_(std::cos(p.angle)), x_(centre_x), y_(centre_y) {}

  void polygon(std::span<const spot> corners, int value) {
    points_.clear();
    for (const auto& c : corners)
      points_.push_back(at(c.x, c.y));
    cv::fillPoly(canvas_, std::vector<std::vector<cv::Point>>{points_}, value, cv::LINE_AA, subpixel_bits);
  }
  void disc(const spot& s, int value) {
    cv::circle(canvas_, at(s.x, s.y), length(s.radius), value, cv::FILLED, cv::LINE_AA, subpixel_bits);
  }
  void ring(const spot& s, double thickness, int value) {
    cv::circle(canvas_, at(s.x, s.y), length(s.radius), value, pixels(thickness), cv::LINE_AA, subpixel_bits);
  }
  void line(std::span<const spot> corners, double thickness, int value) {
    for (std::size_t i = 1; i < corners.size(); ++i)
      cv::line(canvas_, at(corners[i - 1].x, corners[i - 1].y), at(corners[i].x, corners[i].y),
               value, pixels(thickness), cv::LINE_AA, subpixel_bits);
  }

private:
  cv::Point at(double x, double y) const {
    const double one = 1 << subpixel_bits;
    return {static_cast<int>(std::lround((x_ + radius_ * (x * cosine_ - y * sine_)) * one)),
            static_cast<int>(std::lround((y_ + radius_ * (x * sine_ + y * cosine_)) * one))};
  }
  int length(double units) const {
    return static_cast<int>(std::lround(units * radius_ * (1 << subpixel_bits)));
  }
  int pixels(double units) const {
    return std::max(1, static_cast<int>(std::lround(units * radius_)));
  }

  cv::Mat canvas_;
  std::vector<cv::Point> points_;
  double radius_, sine_, cosine_, x_, y_;
};

std::vector<spot> outline(kind shape) {
  std::vector<spot> corners;
  if (shape == kind::flange) {
    for (int i = 0; i < 96; ++i)
      corners.push_back({std::cos(2 * pi * i / 96), std::sin(2 * pi * i / 96)});
  } else if (shape == kind::gear) {
    constexpr int teeth = 20;
    constexpr std::array<std::array<double, 2>, 4> tooth{{{-0.40, 0.86}, {-0.22, 1}, {0.22, 1}, {0.40, 0.86}}};
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
        corners.push_back({sx * (half_width - corner) + corner * std::cos(angle),
                           sy * (half_height - corner) + corner * std::sin(angle)});
      }
  }
  return corners;
}

std::vector<spot> bolt_holes(kind shape) {
  std::vector<spot> holes;
  if (shape == kind::plate)
    return {{0.74, 0.46, 0.125}, {-0.74, 0.46, 0.125}, {-0.74, -0.46, 0.125}, {0.74, -0.46, 0.125}};
  const int count = shape == kind::gear ? 5 : 6;
  const double distance = shape == kind::gear ? 0.57 : 0.68;
  for (int i = 0; i < count; ++i)
    holes.push_back({distance * std::cos(2 * pi * i / count), distance * std::sin(2 * pi * i / count), 0.125});
  return holes;
}

/// A piece broken out of the rim, half-way between two bolt holes.
std::vector<spot> broken_piece(kind shape, random_draw& draw) {
  double x = 0, y = 0;
  if (shape == kind::plate) {
    const bool end = draw.unit() < 0.4;
    const double sign = draw.unit() < 0.5 ? -1 : 1;
    x = end ? sign * 1.0 : draw.between(-0.35, 0.35);
    y = end ? draw.between(-0.12, 0.12) : sign * 0.72;
  } else {
    const int count = shape == kind::gear ? 5 : 6;
    const double angle = 2 * pi * (draw.below(count) + 0.5 + draw.between(-0.15, 0.15)) / count;
    x = std::cos(angle);
    y = std::sin(angle);
  }
  const double size = draw.between(0.24, 0.33);
  std::vector<spot> corners;
  for (int i = 0; i < 11; ++i) {
    const double radius = size * draw.between(0.78, 1.12);
    corners.push_back({x + radius * std::cos(2 * pi * i / 11), y + radius * std::sin(2 * pi * i / 11)});
  }
  return corners;
}

/// A slightly bent line over the metal, beside the bore.
std::vector<spot> scratch_path(kind shape, random_draw& draw) {
  const double half = draw.between(0.42, 0.62), bend = draw.between(-0.12, 0.12);
  const double away = shape == kind::plate ? draw.between(0.22, 0.36) : draw.between(0.38, 0.50);
  const double turn = shape == kind::plate ? draw.between(-0.22, 0.22) + pi * draw.below(2)
                                           : draw.between(0, 2 * pi);
  const double shift = draw.between(-0.1, 0.1);
  std::vector<spot> corners;
  for (int i = -3; i <= 3; ++i) {
    const double x = half * i / 3 + shift, y = away + bend * (1 - i * i / 9.0);
    corners.push_back({x * std::cos(turn) - y * std::sin(turn), x * std::sin(turn) + y * std::cos(turn)});
  }
  return corners;
}

/// Where metal is: 255.
void draw_body(pencil& pen, const part& p, random_draw& draw) {
  const auto body = outline(p.shape);
  pen.polygon(body, 255);
  const auto holes = bolt_holes(p.shape);
  const auto missing = p.what == defect::missing_hole ? draw.below(static_cast<int>(holes.size())) : -1;
  for (int i = 0; i < static_cast<int>(holes.size()); ++i)
    if (i != missing)
      pen.disc(holes[static_cast<std::size_t>(i)], 0);
  if (p.shape == kind::plate) {
    pen.disc({-0.2, 0, 0.13}, 0);
    pen.disc({0.2, 0, 0.13}, 0);
    constexpr std::array<spot, 4> slot{{{-0.2, -0.13}, {0.2, -0.13}, {0.2, 0.13}, {-0.2, 0.13}}};
    pen.polygon(slot, 0);
  } else {
    pen.disc({0, 0, p.shape == kind::gear ? 0.24 : 0.32}, 0);
    constexpr std::array<spot, 4> keyway{{{0.1, -0.07}, {0.31, -0.07}, {0.31, 0.07}, {0.1, 0.07}}};
    if (p.shape == kind::gear)
      pen.polygon(keyway, 0);
  }
  if (p.what == defect::chipped)
    pen.polygon(broken_piece(p.shape, draw), 0);
}

/// What is on the metal: 128 is nothing, more is brighter.
void draw_marks(pencil& pen, const part& p, random_draw& draw) {
  if (p.shape == kind::gear)
    pen.ring({0, 0, 0.78}, 0.012, 100);
  if (p.shape == kind::flange)
    pen.ring({0, 0, 0.46}, 0.02, 98);
  for (int stains = draw.below(3); stains > 0; --stains) {
    const spot s{draw.between(-0.7, 0.7), draw.between(-0.6, 0.6), draw.between(0.08, 0.2)};
    for (int layer = 0; layer < 3; ++layer)
      pen.disc({s.x, s.y, s.radius * (1 - 0.25 * layer)}, 121 - 6 * layer);
  }
  for (int hairlines = draw.below(4); hairlines > 0; --hairlines) {
    const double x = draw.between(-0.7, 0.7), y = draw.between(-0.6, 0.6), turn = draw.between(0, pi);
    const std::array<spot, 2> hair{{{x, y}, {x + 0.4 * std::cos(turn), y + 0.4 * std::sin(turn)}}};
    pen.line(hair, 0.004, 112);
  }
  for (int specks = draw.below(8); specks > 0; --specks)
    pen.disc({draw.between(-0.9, 0.9), draw.between(-0.9, 0.9), draw.between(0.008, 0.018)},
             draw.unit() < 0.5 ? 190 : 70);
  if (p.what == defect::scratch) {
    auto path = scratch_path(p.shape, draw);
    const double thickness = draw.between(0.05, 0.068);
    pen.line(path, thickness + 0.03, 172);
    pen.line(path, thickness, 50);
  }
}

std::uint8_t clamped(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

} // namespace

/// What stays the same for a camera, and the canvases that pictures are drawn on.
struct parts_scene::studio {
  studio(pixel_size size, std::uint64_t seed_)
    : width(static_cast<int>(size.width)), height(static_cast<int>(size.height)),
      side(2 * static_cast<int>(std::ceil(0.41 * std::min(width, height) * 1.17 + 8)) + 1), seed(seed_) {
    draw_belt();
    draw_metal();
    for (auto* canvas : {&body, &soft, &marks})
      canvas->create(side, side, CV_8UC1);
    shine.resize(static_cast<std::size_t>(side));
    slope.resize(static_cast<std::size_t>(side));
    for (auto& colour : metal)
      colour.resize(static_cast<std::size_t>(side));
  }

  void draw_belt();
  void draw_metal();
  void copy_belt(const part& p, std::uint64_t index, std::uint8_t* bgr, std::size_t stride) const;
  void light_metal(const part& p, int v, int from, int to, const std::int8_t* grain);
  void compose(const part& p, int left, int top, std::uint8_t* bgr, std::size_t stride);
  const std::int8_t* grain_of_row(const part& p, int y) const {
    return grain.data() + static_cast<std::size_t>((p.noise + y * 2741) % grain_starts) * 3;
  }

  int width, height;
  int side; ///< of the canvases
  std::uint64_t seed;
  std::vector<std::uint8_t> belt;    ///< B G R, [height][width], joins itself at left and right
  std::vector<std::uint8_t> brushed; ///< gray metal with straight marks, [brushed_rows][2 * side]
  std::vector<std::uint8_t> turned;  ///< gray metal with round marks, [side][side]
  std::vector<std::int8_t> grain;    ///< noise of the sensor, each value three times
  cv::Mat body, soft, marks;         ///< where metal is; the same, blurred; what is on it
  std::vector<std::int16_t> shine, slope;            ///< of one row of the canvas
  std::array<std::vector<std::uint8_t>, 3> metal{};  ///< the same in colour
};

void parts_scene::studio::draw_belt() {
  random_draw draw{seed, ~std::uint64_t{0}};
  belt.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  const int rail = std::max(1, height / 20);
  const int ribs = std::max(1, width / std::max(8, height / 12));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int value = 58 + static_cast<int>(draw.between(-9, 9));
      const double phase = static_cast<double>(x) * ribs / width;
      if (phase - std::floor(phase) < 0.12)
        value -= 14;
      const int edge = std::min(y, height - 1 - y);
      if (edge < rail) // the rails stand still: no structure along x
        value = 96 + 40 * edge / rail + static_cast<int>(draw.between(-3, 3));
      else if (edge < rail + std::max(1, rail / 3))
        value = 26;
      for (const int tint : {4, 1, 0})
        belt.push_back(clamped(value + tint));
    }
  grain.reserve(static_cast<std::size_t>(grain_starts + width) * 3);
  for (int i = 0; i < grain_starts + width; ++i)
    grain.insert(grain.end(), 3, static_cast<std::int8_t>(draw.between(-4, 4) + draw.between(-4, 4)));
}

void parts_scene::studio::draw_metal() {
  random_draw draw{seed, ~std::uint64_t{1}};
  brushed.reserve(static_cast<std::size_t>(brushed_rows) * static_cast<std::size_t>(side) * 2);
  for (int y = 0; y < brushed_rows; ++y) {
    double value = draw.between(-10, 10);
    const double row = draw.between(-7, 7);
    for (int x = 0; x < 2 * side; ++x) {
      value = 0.97 * value + draw.between(-2.2, 2.2);
      brushed.push_back(clamped(static_cast<int>(162 + row + value)));
    }
  }
  turned.reserve(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  std::vector<double> ring(static_cast<std::size_t>(side) + 2);
  for (auto& r : ring)
    r = draw.between(-10, 10);
  const double light = draw.between(0, pi);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const double dx = x - side / 2, dy = y - side / 2;
      const double distance = std::sqrt(dx * dx + dy * dy);
      const double fan = std::cos(std::atan2(dy, dx) - light);
      const auto i = static_cast<std::size_t>(distance);
      const double mark = ring[i] + (ring[i + 1] - ring[i]) * (distance - std::floor(distance));
      turned.push_back(clamped(static_cast<int>(142 + mark + 44 * std::pow(fan * fan, 4) + draw.between(-4, 4))));
    }
}

/// to = from * gain / 256 + noise, `count` bytes.
void light_row(const std::uint8_t* from, int gain, const std::int8_t* noise, std::uint8_t* to, int count) {
  for (int i = 0; i < count; ++i) {
    const auto lit = static_cast<std::uint16_t>(from[i] * gain) >> 8; // belt <= 140, gain <= 310
    const auto value = static_cast<std::int16_t>(lit + noise[i]);
    to[i] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

void parts_scene::studio::copy_belt(const part& p, std::uint64_t index, std::uint8_t* bgr,
                                    std::size_t stride) const {
  const auto columns = static_cast<std::uint64_t>(width);
  const auto step = std::max<std::uint64_t>(1, columns / 9);
  const int moved = static_cast<int>(index % columns * step % columns);
  const int rail = std::max(1, height / 20) + std::max(1, height / 60);
  for (int y = 0; y < height; ++y) {
    const auto* row = belt.data() + static_cast<std::ptrdiff_t>(y) * width * 3;
    const int shift = y < rail || y >= height - rail ? 0 : 3 * moved;
    const int gain = p.gain + p.gain_y * (2 * y - height) / (2 * height);
    auto* to = bgr + static_cast<std::size_t>(y) * stride;
    const auto* noise = grain_of_row(p, y);
    const int first = 3 * width - shift;
    light_row(row + shift, gain, noise, to, first);
    light_row(row, gain, noise + first, to + first, shift);
  }
}

/// The colour of row `v` of the canvas as if metal were everywhere.
void parts_scene::studio::light_metal(const part& p, int v, int from, int to, const std::int8_t* noise) {
  const int relief = std::max(1, side / 130);
  const auto* lit = soft.ptr(v - relief) - relief;
  const auto* dark = soft.ptr(v + relief) + relief;
  const auto* mark = marks.ptr(v);
  const auto* surface = p.shape == kind::plate
                          ? brushed.data() + static_cast<std::ptrdiff_t>((v + p.texture_y) % brushed_rows) * 2 * side
                              + p.texture_x % side
                          : turned.data() + static_cast<std::ptrdiff_t>(v) * side;
  auto* bright = shine.data();
  for (int u = from; u < to; ++u) {
    const auto edge = static_cast<std::int16_t>((dark[u] - lit[u]) >> 1);
    const auto value = static_cast<std::int16_t>(surface[u] + edge + mark[u] - 128 + noise[3 * u]);
    bright[u] = static_cast<std::int16_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
  const int gain_y = p.gain_y * (2 * v - side) / (2 * side);
  const auto* gain_x = slope.data();
  for (std::size_t c = 0; c < 3; ++c) {
    const int tint = p.tint[c];
    auto* colour = metal[c].data();
    for (int u = from; u < to; ++u) { // gain <= 335 and tint <= 262: 255 * 171 fits 16 bits
      const auto gain = static_cast<std::uint16_t>((p.gain + gain_y + gain_x[u]) * tint >> 9);
      const auto value = static_cast<std::uint16_t>(static_cast<std::uint16_t>(bright[u] * gain) >> 7);
      colour[u] = static_cast<std::uint8_t>(value > 255 ? 255 : value);
    }
  }
}

void parts_scene::studio::compose(const part& p, int left, int top, std::uint8_t* bgr, std::size_t stride) {
  const int fall = std::max(1, side / 32); // of the shadow, to the lower right
  for (int u = 0; u < side; ++u)
    slope[static_cast<std::size_t>(u)] = static_cast<std::int16_t>(p.gain_x * (2 * u - side) / (2 * side));
  const double reach = p.radius * 1.15 + fall * 1.5 + 4; // a corner of the plate and its shadow
  const int margin = std::max(fall, side / 130 + 1);
  for (int v = std::max(margin, -top); v < std::min(side - margin, height - top); ++v) {
    const double away = v - side / 2;
    const double half = reach * reach - away * away;
    if (half <= 0)
      continue;
    const int wide = static_cast<int>(std::sqrt(half)) + 1;
    const int from = std::max({margin, -left, side / 2 - wide});
    const int to = std::min({side - margin, width - left, side / 2 + wide});
    const int y = top + v;
    light_metal(p, v, from, to, grain_of_row(p, y) + 3 * left);
    const auto* mask = body.ptr(v);
    const auto* shade = soft.ptr(v - fall) - fall;
    const auto* blue = metal[0].data();
    const auto* green = metal[1].data();
    const auto* red = metal[2].data();
    auto* out = bgr + static_cast<std::size_t>(y) * stride + 3 * static_cast<std::ptrdiff_t>(left + from);
    for (int u = from; u < to; ++u, out += 3) {
      if (mask[u] == 255) {
        out[0] = blue[u];
        out[1] = green[u];
        out[2] = red[u];
      } else if (mask[u] || shade[u]) {
        const int alpha = mask[u] + (mask[u] >> 7), shadow = 256 - (shade[u] * 5 >> 3);
        const std::array<int, 3> colour{blue[u], green[u], red[u]};
        for (std::size_t c = 0; c < 3; ++c) {
          const int under = out[c] * shadow >> 8;
          out[c] = static_cast<std::uint8_t>(under + ((colour[c] - under) * alpha >> 8));
        }
      }
    }
  }
}

const std::vector<std::string>& parts_scene::labels() {
  static const std::vector<std::string> names{"good", "scratch", "missing_hole", "chipped"};
  return names;
}

parts_scene::parts_scene(pixel_size size, std::uint64_t seed)
  : studio_(std::make_unique<studio>(size, seed)) {}
parts_scene::~parts_scene() = default;
parts_scene::parts_scene(parts_scene&&) noexcept = default;
parts_scene& parts_scene::operator=(parts_scene&&) noexcept = default;

int parts_scene::truth(std::uint64_t index) const {
  random_draw draw{studio_->seed, index};
  return static_cast<int>(draw_defect(draw));
}

int parts_scene::render(std::uint64_t index, std::uint8_t* bgr, std::size_t stride) {
  auto& s = *studio_;
  random_draw draw{s.seed, index};
  const auto p = draw_part(draw, s.width, s.height);
  const int side = s.side;
  const int left = static_cast<int>(std::floor(p.x)) - side / 2;
  const int top = static_cast<int>(std::floor(p.y)) - side / 2;

  s.body.setTo(0);
  pencil body{s.body, p, p.x - left, p.y - top};
  draw_body(body, p, draw);
  s.marks.setTo(128);
  pencil marks{s.marks, p, p.x - left, p.y - top};
  draw_marks(marks, p, draw);
  const int softness = std::max(3, side / 60 | 1);
  cv::blur(s.body, s.soft, {softness, softness});

  s.copy_belt(p, index, bgr, stride);
  s.compose(p, left, top, bgr, stride);
  return static_cast<int>(p.what);
}

} // namespace hyperframes
