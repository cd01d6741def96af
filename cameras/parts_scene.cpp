#include "cameras/parts_scene.hpp"

#include "cameras/machined_part.hpp"

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

std::uint8_t clamped(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

} // namespace

/// What stays the same for a camera, and the canvases that pictures are drawn on.
struct parts_scene::studio {
  studio(pixel_size size, std::uint64_t seed_)
    : width(static_cast<int>(size.width)),
      height(static_cast<int>(size.height)),
      side(2 * static_cast<int>(std::ceil(0.41 * std::min(width, height) * 1.17 + 8)) + 1),
      seed(seed_) {
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
  void copy_belt(
    const machined_part& p, std::uint64_t index, std::uint8_t* bgr, std::size_t stride) const;
  void light_metal(const machined_part& p, int v, int from, int to, const std::int8_t* grain);
  void compose(const machined_part& p, int left, int top, std::uint8_t* bgr, std::size_t stride);
  const std::int8_t* grain_of_row(const machined_part& p, int y) const {
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
  std::vector<std::int16_t> shine, slope;           ///< of one row of the canvas
  std::array<std::vector<std::uint8_t>, 3> metal{}; ///< the same in colour
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
    grain.insert(
      grain.end(), 3, static_cast<std::int8_t>(draw.between(-4, 4) + draw.between(-4, 4)));
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
      turned.push_back(
        clamped(static_cast<int>(142 + mark + 44 * std::pow(fan * fan, 4) + draw.between(-4, 4))));
    }
}

/// to = from * gain / 256 + noise, `count` bytes.
void light_row(
  const std::uint8_t* from, int gain, const std::int8_t* noise, std::uint8_t* to, int count) {
  for (int i = 0; i < count; ++i) {
    const auto lit = static_cast<std::uint16_t>(from[i] * gain) >> 8; // belt <= 140, gain <= 310
    const auto value = static_cast<std::int16_t>(lit + noise[i]);
    to[i] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

void parts_scene::studio::copy_belt(
  const machined_part& p, std::uint64_t index, std::uint8_t* bgr, std::size_t stride) const {
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
void parts_scene::studio::light_metal(
  const machined_part& p, int v, int from, int to, const std::int8_t* noise) {
  const int relief = std::max(1, side / 130);
  const auto* lit = soft.ptr(v - relief) - relief;
  const auto* dark = soft.ptr(v + relief) + relief;
  const auto* mark = marks.ptr(v);
  const auto* surface =
    p.shape == part_shape::plate
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
      const auto value =
        static_cast<std::uint16_t>(static_cast<std::uint16_t>(bright[u] * gain) >> 7);
      colour[u] = static_cast<std::uint8_t>(value > 255 ? 255 : value);
    }
  }
}

void parts_scene::studio::compose(
  const machined_part& p, int left, int top, std::uint8_t* bgr, std::size_t stride) {
  const int fall = std::max(1, side / 32); // of the shadow, to the lower right
  for (int u = 0; u < side; ++u)
    slope[static_cast<std::size_t>(u)] =
      static_cast<std::int16_t>(p.gain_x * (2 * u - side) / (2 * side));
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
    auto* out =
      bgr + static_cast<std::size_t>(y) * stride + 3 * static_cast<std::ptrdiff_t>(left + from);
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
  part_pencil body{s.body, p, p.x - left, p.y - top};
  draw_body(body, p, draw);
  s.marks.setTo(128);
  part_pencil marks{s.marks, p, p.x - left, p.y - top};
  draw_marks(marks, p, draw);
  const int softness = std::max(3, side / 60 | 1);
  cv::blur(s.body, s.soft, {softness, softness});

  s.copy_belt(p, index, bgr, stride);
  s.compose(p, left, top, bgr, stride);
  return static_cast<int>(p.what);
}

} // namespace hyperframes
