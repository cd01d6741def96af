#include "actors/half_float.hpp"
#include "actors/pack.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

using namespace hyperframes;

namespace {

/// What a value should be, and how far the rounding of row weights may move it.
struct bounded {
  double value = 0, rounding = 0;
};

bounded operator*(double factor, bounded b) {
  return {factor * b.value, std::abs(factor) * b.rounding};
}
bounded operator+(bounded a, bounded b) {
  return {a.value + b.value, a.rounding + b.rounding};
}

using rgb_value = std::array<bounded, 3>;

/// A frame with rows that are longer than their pixels, filled with a pattern that has both
/// smooth parts and hard edges.
frame make_frame(const video_format& format) {
  buffer_pool pool(1, format.size_bytes());
  frame f;
  f.media = make_video_type(format);
  f.buffer = pool.acquire();
  auto* bytes = reinterpret_cast<std::uint8_t*>(f.buffer.data());
  std::uint32_t noise = 12345;
  for (std::size_t i = 0; i < format.size_bytes(); ++i) {
    noise = noise * 1664525U + 1013904223U;
    const auto edge = (i / 7) % 5 == 0 ? 90U : 0U;
    bytes[i] = static_cast<std::uint8_t>((i * 3 % 120) + (noise >> 27) + edge);
  }
  return f;
}

// --- the reference: slow, in double precision, pixel by pixel

double
plane_value(const frame& f, std::size_t p, std::size_t parts, std::size_t part, long x, long y) {
  const auto& v = f.media->video;
  const long w = static_cast<long>(v.row_bytes(p) / parts);
  const long h = static_cast<long>(v.plane_rows(p));
  x = std::clamp(x, 0L, w - 1);
  y = std::clamp(y, 0L, h - 1);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(f.buffer.data());
  return bytes
    [v.planes[p].offset + static_cast<std::size_t>(y) * v.planes[p].stride
     + static_cast<std::size_t>(x) * parts + part];
}

/// Samples and weights of target pixel `i` along one axis.
std::vector<std::pair<long, double>> taps(long samples, double begin, double step, long i) {
  std::vector<std::pair<long, double>> result;
  if (step >= 2) {
    const double from = begin + double(i) * step;
    const double to = std::min(double(samples), from + step);
    for (long s = 0; s < samples; ++s) {
      const double covered = std::min(to, s + 1.0) - std::max(from, double(s));
      if (covered > 0)
        result.emplace_back(s, covered / (to - from));
    }
  } else {
    const double centre = begin + (double(i) + 0.5) * step - 0.5;
    const long first = static_cast<long>(std::floor(centre));
    result.emplace_back(first, 1 - (centre - double(first)));
    result.emplace_back(first + 1, centre - double(first));
  }
  return result;
}

struct window {
  double x, y, step_x, step_y; // frame pixels of the first target pixel's corner, and per pixel
};

/// Sum of w[k] s[k] over the rows k. The packer rounds the sums w[0] + ... + w[k] to 32768ths, by
/// e[k] <= 1/65536 each, and the last is 1: its value is off by the sum of e[k] (s[k] - s[k + 1]).
bounded sampled(
  const frame& f, std::size_t p, std::size_t parts, std::size_t part, double shrink,
  const window& w, long tx, long ty) {
  const auto& v = f.media->video;
  const auto across =
    taps(static_cast<long>(v.row_bytes(p) / parts), w.x * shrink, w.step_x * shrink, tx);
  const auto down = taps(static_cast<long>(v.plane_rows(p)), w.y * shrink, w.step_y * shrink, ty);
  bounded sum;
  double above = 0;
  for (std::size_t k = 0; k < down.size(); ++k) {
    double row = 0;
    for (auto [x, wx] : across)
      row += wx * plane_value(f, p, parts, part, x, down[k].first);
    sum.value += down[k].second * row;
    if (k > 0)
      sum.rounding += std::abs(row - above) / 65536;
    above = row;
  }
  return sum;
}

bounded cut_off(bounded b) {
  return {std::clamp(b.value, 0.0, 255.0), b.rounding};
}

rgb_value reference_pixel(const frame& f, const window& w, long tx, long ty, bool gray) {
  const auto& v = f.media->video;
  const auto component = [&](std::size_t p, std::size_t parts, std::size_t part, double shrink) {
    return sampled(f, p, parts, part, shrink, w, tx, ty);
  };
  rgb_value rgb{};
  if (v.format == pixel_format::gray8) {
    rgb.fill(component(0, 1, 0, 1));
    return rgb;
  }
  if (v.format == pixel_format::i420 || v.format == pixel_format::nv12) {
    const bool planar = v.format == pixel_format::i420;
    auto y = component(0, 1, 0, 1);
    auto u = (planar ? component(1, 1, 0, 0.5) : component(1, 2, 0, 0.5)) + bounded{-128};
    auto vv = (planar ? component(2, 1, 0, 0.5) : component(1, 2, 1, 0.5)) + bounded{-128};
    if (!v.full_range) {
      y = 255.0 / 219 * (y + bounded{-16});
      u = 255.0 / 224 * u;
      vv = 255.0 / 224 * vv;
    }
    if (gray) {
      rgb.fill(cut_off(y));
      return rgb;
    }
    // R = Y + 2 (1 - kr) V, B = Y + 2 (1 - kb) U, Y = kr R + kg G + kb B
    const double kr = v.bt709 ? 0.2126 : 0.299;
    const double kb = v.bt709 ? 0.0722 : 0.114;
    const double kg = 1 - kr - kb;
    rgb[0] = cut_off(y + 2 * (1 - kr) * vv);
    rgb[1] = cut_off(y + -2 * kr * (1 - kr) / kg * vv + -2 * kb * (1 - kb) / kg * u);
    rgb[2] = cut_off(y + 2 * (1 - kb) * u);
    return rgb;
  }
  for (std::size_t c = 0; c < 3; ++c)
    rgb[c] = component(0, 3, v.format == pixel_format::rgb24 ? c : 2 - c, 1);
  if (gray)
    rgb.fill(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]);
  return rgb;
}

/// Every value of the slot, in the slot's own order.
std::vector<bounded> reference(const pack_spec& spec, const frame& f) {
  const double fw = f.media->video.width;
  const double fh = f.media->video.height;
  long left = 0, top = 0, width = spec.width, height = spec.height;
  window w{0, 0, fw / spec.width, fh / spec.height};
  if (spec.fit == fit_mode::letterbox) {
    const double scale = std::min(spec.width / fw, spec.height / fh);
    width = std::max(1L, std::lround(fw * scale));
    height = std::max(1L, std::lround(fh * scale));
    left = (long(spec.width) - width) / 2;
    top = (long(spec.height) - height) / 2;
    w = {0, 0, fw / double(width), fh / double(height)};
  } else if (spec.fit == fit_mode::crop) {
    const double scale = std::max(spec.width / fw, spec.height / fh);
    w = {(fw - spec.width / scale) / 2, (fh - spec.height / scale) / 2, 1 / scale, 1 / scale};
  }
  const auto channels = spec.channel_count();
  std::vector<bounded> values(std::size_t{spec.width} * spec.height * channels);
  for (long y = 0; y < long(spec.height); ++y)
    for (long x = 0; x < long(spec.width); ++x) {
      rgb_value rgb;
      rgb.fill({double(spec.pad_value), 0});
      if (x >= left && x < left + width && y >= top && y < top + height)
        rgb = reference_pixel(f, w, x - left, y - top, spec.channels == channel_order::gray);
      for (std::uint32_t c = 0; c < channels; ++c) {
        const bounded pixel = rgb[spec.channels == channel_order::bgr ? 2 - c : c];
        const auto at =
          spec.layout == tensor_layout::nchw
            ? (std::size_t{c} * spec.height + std::size_t(y)) * spec.width + std::size_t(x)
            : (std::size_t(y) * spec.width + std::size_t(x)) * channels + c;
        values[at] = 1 / double(spec.deviation[c])
                     * (double(spec.scale) * pixel + bounded{-double(spec.mean[c])});
      }
    }
  return values;
}

double value_at(const std::vector<std::byte>& slot, data_type type, std::size_t i) {
  if (type == data_type::float32) {
    float v;
    std::memcpy(&v, slot.data() + i * 4, 4);
    return v;
  }
  if (type == data_type::float16) {
    std::uint16_t v;
    std::memcpy(&v, slot.data() + i * 2, 2);
    return float_from_half(v);
  }
  return static_cast<std::uint8_t>(slot[i]);
}

/// @returns the largest difference, in units of what is allowed: the rounding of row weights, that
/// of single precision, whose terms are larger than their sum, and that of the type.
double worst_difference(
  const pack_spec& spec, const std::vector<std::byte>& slot, const std::vector<bounded>& wanted) {
  double worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double found = value_at(slot, spec.type, i);
    const double size = std::max(1.0, std::abs(wanted[i].value));
    double allowed = wanted[i].rounding + (spec.type == data_type::uint8 ? 255 : 8) * 0x1p-22;
    if (spec.type == data_type::float16)
      allowed += 0x1p-11 * std::exp2(std::floor(std::log2(size + allowed)));
    if (spec.type == data_type::uint8)
      allowed += 0.5;
    worst = std::max(worst, std::abs(found - wanted[i].value) / allowed);
  }
  return worst;
}

struct source_case {
  pixel_format format;
  bool full_range, bt709;
};

constexpr source_case sources[] = {
  {pixel_format::gray8, false, false}, {pixel_format::bgr24, false, false},
  {pixel_format::rgb24, false, false}, {pixel_format::i420, false, false},
  {pixel_format::i420, true, false},   {pixel_format::i420, false, true},
  {pixel_format::i420, true, true},    {pixel_format::nv12, false, false},
  {pixel_format::nv12, true, true},
};

struct size_case {
  std::uint32_t width, height; // frame
  std::uint32_t columns, rows; // slot
};

constexpr size_case sizes[] = {
  {16, 12, 16, 12},                // as it is
  {37, 23, 16, 16},                // odd, shrinks by more and by less than 2
  {40, 30, 30, 25},                // shrinks a little
  {9, 7, 20, 26},                  // grows
  {64, 48, 8, 8},                  // shrinks a lot
  {57, 27, 19, 16},                // three columns become one,
  {44, 12, 22, 12},                // two,
  {68, 33, 17, 3},                 // four, and two of chroma
  {1, 1, 3, 2},     {50, 3, 7, 7}, // long and thin
};

pack_spec spec_for(
  const size_case& s, channel_order channels, tensor_layout layout, data_type type, fit_mode fit) {
  pack_spec spec;
  spec.width = s.columns;
  spec.height = s.rows;
  spec.channels = channels;
  spec.layout = layout;
  spec.type = type;
  spec.fit = fit;
  if (type == data_type::uint8) {
    spec.scale = 1;
  } else {
    spec.mean = {0.4F, 0.5F, 0.3F};
    spec.deviation = {0.2F, 0.25F, 0.3F};
  }
  return spec;
}

} // namespace

TEST_CASE(
  "packing equals the reference for every source, size, channel order, layout, type and fit") {
  for (const auto& source : sources)
    for (const auto& size : sizes) {
      auto format = video_format::packed(source.format, size.width, size.height, 16);
      format.full_range = source.full_range;
      format.bt709 = source.bt709;
      const auto f = make_frame(format);
      for (auto channels : {channel_order::rgb, channel_order::bgr, channel_order::gray})
        for (auto fit : {fit_mode::stretch, fit_mode::letterbox, fit_mode::crop})
          for (auto layout : {tensor_layout::nchw, tensor_layout::nhwc})
            for (auto type : {data_type::float32, data_type::float16, data_type::uint8}) {
              const auto spec = spec_for(size, channels, layout, type, fit);
              packer p(spec);
              std::vector<std::byte> slot(spec.slot_bytes(), std::byte{0xee});
              const auto geometry = p.pack(f, slot);
              REQUIRE(geometry.has_value());
              const auto worst = worst_difference(spec, slot, reference(spec, f));
              INFO(
                f.media->to_string(), " full range ", source.full_range, " BT.709 ", source.bt709,
                " to ", size.columns, "x", size.rows, " channels ", int(channels), " fit ",
                int(fit), " layout ", int(layout), " type ", to_string(type));
              CHECK(worst <= 1);
            }
    }
}

TEST_CASE("every set of loops gives the same bits") {
  MESSAGE("compared: portable and ", std::string{fastest_rows().name});
  std::mt19937 random(7);
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>{low, high}(random);
  };
  for (int round = 0; round < 1500; ++round) {
    // Sides that are like each other and sides that are not.
    const std::uint32_t most = round % 3 == 0 ? 40 : 300;
    const std::uint32_t columns = pick(1, 100);
    const auto frame_width = round % 4 == 1 ? columns * pick(2, 8) : pick(1, most);
    auto format = video_format::packed(
      static_cast<pixel_format>(pick(0, 4)), frame_width, pick(1, most), 1U << pick(0, 6));
    format.full_range = pick(0, 1) == 1;
    format.bt709 = pick(0, 1) == 1;
    auto spec = spec_for(
      {0, 0, columns, pick(1, 60)}, static_cast<channel_order>(pick(0, 2)),
      static_cast<tensor_layout>(pick(0, 1)), static_cast<data_type>(pick(0, 2)),
      static_cast<fit_mode>(pick(0, 2)));
    if (pick(0, 3) == 0)
      spec.deviation = {spec.deviation[0], -spec.deviation[1], 1};
    if (spec.type == data_type::uint8)
      spec.deviation = {1, 1, 1};
    const auto f = make_frame(format);
    std::vector<std::byte> slots[2];
    for (int i = 0; i < 2; ++i) {
      slots[i].assign(spec.slot_bytes(), std::byte(0xee));
      packer p(spec, i == 0 ? portable_rows : fastest_rows());
      REQUIRE(p.pack(f, slots[i]).has_value());
    }
    INFO(
      f.media->to_string(), " to ", spec.width, "x", spec.height, " channels ", int(spec.channels),
      " fit ", int(spec.fit), " layout ", int(spec.layout), " type ", int(spec.type));
    CHECK(slots[0] == slots[1]);
  }
}

TEST_CASE("loops are taken only where the machine has all their instructions") {
  CHECK(&rows_for({false, false}) == &portable_rows);
  CHECK(&rows_for({false, true}) == &portable_rows);
  CHECK(&rows_for({true, false}) == &portable_rows);
#ifdef __x86_64__
  CHECK(std::string{rows_for({true, true}).name} == "avx2");
#endif
  CHECK(std::string{portable_rows.name} == "portable");
}

TEST_CASE("rows at the edge of memory are read to their end and no further") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
    mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* bytes = static_cast<std::uint8_t*>(memory);
  REQUIRE(mprotect(bytes + page, page, PROT_NONE) == 0);
  for (std::size_t i = 0; i < page; ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 37 >> 3);
  const std::int32_t weights[3] = {10000, 20000, 2768};
  const std::int32_t whole = weight_sum;
  for (const auto* rows : {&portable_rows, &fastest_rows()})
    for (std::uint32_t parts = 1; parts <= 3; ++parts)
      for (std::uint32_t count = 1; count <= 3; ++count)
        for (std::size_t columns = 1; columns <= 140; ++columns) {
          const std::size_t stride = columns * parts;
          const std::uint8_t* first = bytes + page - count * stride;
          std::vector<float> across[3];
          float* out[3];
          for (std::size_t c = 0; c < 3; ++c) {
            across[c].resize(whole_blocks(columns));
            out[c] = across[c].data();
          }
          rows->down({first, stride, count == 1 ? &whole : weights, count, parts, columns}, out);
          std::size_t wrong = 0;
          for (std::size_t c = 0; c < parts; ++c)
            for (std::size_t i = 0; i < columns; ++i) {
              std::int32_t sum = 0;
              for (std::uint32_t k = 0; k < count; ++k)
                sum += (count == 1 ? whole : weights[k]) * first[k * stride + i * parts + c];
              wrong += across[c][i] != static_cast<float>(sum);
            }
          INFO(std::string{rows->name}, " parts ", parts, " rows ", count, " columns ", columns);
          CHECK(wrong == 0);
        }
  for (const auto* rows : {&portable_rows, &fastest_rows()})
    for (std::uint32_t step = 2; step <= most_box_step; ++step)
      for (std::uint32_t count = 1; count <= 3; ++count)
        for (std::size_t targets = 1; targets <= 60; ++targets) {
          const std::size_t stride = targets * step;
          const std::uint8_t* first = bytes + page - count * stride;
          std::vector<float> out(whole_blocks(targets));
          const auto* w = count == 1 ? &whole : weights;
          rows->down_boxes({first, stride, w, count, 1, stride}, step, out.data());
          std::size_t wrong = 0;
          for (std::size_t i = 0; i < targets; ++i) {
            std::int32_t sum = 0;
            for (std::uint32_t k = 0; k < count; ++k)
              for (std::uint32_t j = 0; j < step; ++j)
                sum += w[k] * first[k * stride + i * step + j];
            wrong += out[i] != static_cast<float>(sum) * (1.0F / static_cast<float>(step));
          }
          INFO(std::string{rows->name}, " step ", step, " rows ", count, " targets ", targets);
          CHECK(wrong == 0);
        }
  munmap(memory, 2 * page);
}

TEST_CASE("one packer follows frames whose size and format change") {
  const auto spec = spec_for(
    {0, 0, 16, 16}, channel_order::rgb, tensor_layout::nchw, data_type::float32,
    fit_mode::letterbox);
  packer p(spec);
  std::vector<std::byte> slot(spec.slot_bytes());
  for (auto format : {pixel_format::bgr24, pixel_format::i420, pixel_format::bgr24})
    for (std::uint32_t width : {20U, 61U, 20U}) {
      const auto f = make_frame(video_format::packed(format, width, 24));
      REQUIRE(p.pack(f, slot).has_value());
      CHECK(worst_difference(spec, slot, reference(spec, f)) <= 1);
    }
}

TEST_CASE("geometry maps slot pixels back to the frame") {
  struct row {
    fit_mode fit;
    std::uint32_t frame_width, frame_height, width, height;
    float scale_x, scale_y, offset_x, offset_y;
  };
  const row table[] = {
    {fit_mode::stretch, 640, 480, 64, 64, 0.1F, 64.0F / 480, 0, 0},
    {fit_mode::letterbox, 1280, 720, 640, 640, 0.5F, 0.5F, 0, 140},
    {fit_mode::letterbox, 100, 200, 64, 64, 0.32F, 0.32F, 16, 0},
    {fit_mode::crop, 1280, 720, 360, 360, 0.5F, 0.5F, -140, 0},
    {fit_mode::crop, 100, 200, 50, 50, 0.5F, 0.5F, 0, -25},
    {fit_mode::stretch, 32, 32, 32, 32, 1, 1, 0, 0},
  };
  for (const auto& r : table) {
    pack_spec spec;
    spec.width = r.width;
    spec.height = r.height;
    spec.fit = r.fit;
    const auto g = geometry_of(spec, r.frame_width, r.frame_height);
    CHECK(g.scale_x == doctest::Approx(r.scale_x));
    CHECK(g.scale_y == doctest::Approx(r.scale_y));
    CHECK(g.offset_x == doctest::Approx(r.offset_x));
    CHECK(g.offset_y == doctest::Approx(r.offset_y));
    CHECK(g.frame_width == r.frame_width);
    CHECK(g.frame_height == r.frame_height);
  }
}

TEST_CASE("a mark in the frame is found where the geometry says, for every fit") {
  for (auto fit : {fit_mode::stretch, fit_mode::letterbox, fit_mode::crop})
    for (auto [width, height] : {std::pair{160U, 120U}, {90U, 200U}, {48U, 48U}}) {
      const auto format = video_format::packed(pixel_format::gray8, width, height);
      auto f = make_frame(format);
      auto* bytes = reinterpret_cast<std::uint8_t*>(f.buffer.data());
      std::fill_n(bytes, format.size_bytes(), std::uint8_t{0});
      const std::uint32_t x = width / 2 - 4, y = height / 2 + 3;
      for (std::uint32_t dy = 0; dy < 8; ++dy)
        for (std::uint32_t dx = 0; dx < 8; ++dx)
          bytes[(y + dy) * width + x + dx] = 255;
      pack_spec spec;
      spec.width = spec.height = 64;
      spec.channels = channel_order::gray;
      spec.fit = fit;
      spec.pad_value = 0;
      packer p(spec);
      std::vector<std::byte> slot(spec.slot_bytes());
      const auto g = p.pack(f, slot).value();
      double sum = 0, sum_x = 0, sum_y = 0;
      for (std::size_t i = 0; i < 64 * 64; ++i) {
        const double v = value_at(slot, data_type::float32, i);
        sum += v;
        sum_x += v * (double(i % 64) + 0.5);
        sum_y += v * (double(i / 64) + 0.5);
      }
      REQUIRE(sum > 0);
      CHECK((sum_x / sum - g.offset_x) / g.scale_x == doctest::Approx(x + 4).epsilon(0.005));
      CHECK((sum_y / sum - g.offset_y) / g.scale_y == doctest::Approx(y + 4).epsilon(0.005));
    }
}

TEST_CASE("fill writes the padding's value everywhere") {
  const auto spec = spec_for(
    {0, 0, 5, 3}, channel_order::rgb, tensor_layout::nhwc, data_type::float32, fit_mode::letterbox);
  std::vector<std::byte> slot(spec.slot_bytes());
  packer(spec).fill(slot);
  for (std::size_t i = 0; i < 5 * 3 * 3; ++i)
    CHECK(
      value_at(slot, data_type::float32, i)
      == doctest::Approx((114.0 / 255 - spec.mean[i % 3]) / spec.deviation[i % 3]));
}

TEST_CASE("what cannot be packed is refused with a sentence") {
  pack_spec spec;
  spec.width = spec.height = 8;
  packer p(spec);
  std::vector<std::byte> slot(spec.slot_bytes());
  const auto f = make_frame(video_format::packed(pixel_format::bgr24, 16, 16));
  const auto message = [&](const frame& bad, std::span<std::byte> into) {
    const auto result = p.pack(bad, into);
    REQUIRE(!result.has_value());
    CHECK(result.error().code == errc::stage_failed);
    return result.error().to_string();
  };
  frame empty = f;
  empty.buffer = {};
  empty.meta.frame_id = 7;
  CHECK(message(empty, slot) == "frame 7: has no content to pack");
  CHECK(message({}, slot) == "frame 0: only video frames can be packed, found no media type");
  frame audio = f;
  auto type = std::make_shared<media_type>();
  type->what = media_type::kind::audio;
  type->audio.rate = 48000;
  type->audio.channels = 2;
  audio.media = type;
  CHECK(
    message(audio, slot)
    == "frame 0: only video frames can be packed, found audio float32 48000 Hz, 2 channels");
  frame cut = f;
  cut.media = make_video_type(video_format::packed(pixel_format::bgr24, 160, 160));
  CHECK(message(cut, slot) == "frame 0: video bgr24 160x160 needs 76800 bytes, its buffer has 768");
  CHECK(message(f, std::span{slot}.first(10)) == "frame 0: needs a slot of 768 bytes, found 10");
}

TEST_CASE("a spec that cannot be met is refused with a sentence") {
  const auto message = [](auto change) {
    pack_spec spec;
    spec.width = spec.height = 8;
    change(spec);
    try {
      packer p(spec);
    } catch (const failure& e) {
      CHECK(e.what_failed().code == errc::graph_invalid);
      return std::string{e.what()};
    }
    return std::string{};
  };
  CHECK(message([](pack_spec&) {}).empty());
  CHECK(
    message([](pack_spec& s) { s.width = 0; })
    == "pack: a slot's width and height must be known before frames can be packed, found 0x8");
  CHECK(
    message([](pack_spec& s) { s.type = data_type::int64; })
    == "pack: frames can be packed as float32, float16 or uint8, not as int64");
  CHECK(
    message([](pack_spec& s) { s.type = data_type::uint8; })
    == "pack: uint8 tensors hold pixels as they are: scale must be 1, mean 0 and deviation 1");
  CHECK(
    message([](pack_spec& s) { s.deviation[1] = 0; })
    == "pack: the deviation that pixels are divided by must not be 0");
}

TEST_CASE("half floats keep every half value and round to nearest even") {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_from_half(half);
    if (std::isnan(value)) {
      CHECK(std::isnan(float_from_half(half_from_float(value))));
    } else if (half_from_float(value) != half) {
      FAIL_CHECK("half ", bits, " became ", half_from_float(value));
    }
  }
  struct row {
    float value;
    std::uint16_t half;
  };
  const row table[] = {
    {1.0F, 0x3c00},     {-2.0F, 0xc000},      {65504.0F, 0x7bff},
    {65519.0F, 0x7bff}, {65520.0F, 0x7c00},   {1e9F, 0x7c00},
    {2049.0F, 0x6800},  {2051.0F, 0x6802},    {0x1p-24F, 0x0001},
    {0x1p-25F, 0x0000}, {0x1.8p-24F, 0x0002}, {std::numeric_limits<float>::infinity(), 0x7c00},
  };
  for (const auto& r : table)
    CHECK(half_from_float(r.value) == r.half);
}
