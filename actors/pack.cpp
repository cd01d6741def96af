#include "actors/pack.hpp"

#include "actors/half_float.hpp"
#include "actors/pack_sampling.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace hyperframes {

namespace {

// --- where pixels go

/// The part of the slot that the frame fills, and the part of the frame that is seen there.
struct placement {
  std::uint32_t left, top, width, height; // slot pixels
  double x, y, seen_width, seen_height;   // frame pixels
};

placement place(const pack_spec& spec, std::uint32_t width, std::uint32_t height) {
  placement p{0, 0, spec.width, spec.height, 0, 0, double(width), double(height)};
  const double across = double(spec.width) / width;
  const double down = double(spec.height) / height;
  if (spec.fit == fit_mode::letterbox) {
    const double scale = std::min(across, down);
    const auto side = [scale](std::uint32_t frame_side, std::uint32_t slot_side) {
      const auto pixels = static_cast<std::uint32_t>(std::lround(frame_side * scale));
      return std::clamp(pixels, 1U, slot_side);
    };
    p.width = side(width, spec.width);
    p.height = side(height, spec.height);
    p.left = (spec.width - p.width) / 2;
    p.top = (spec.height - p.height) / 2;
  } else if (spec.fit == fit_mode::crop) {
    const double scale = std::max(across, down);
    p.seen_width = spec.width / scale;
    p.seen_height = spec.height / scale;
    p.x = (width - p.seen_width) / 2;
    p.y = (height - p.seen_height) / 2;
  }
  return p;
}

slot_geometry geometry_from(const placement& p, std::uint32_t width, std::uint32_t height) {
  slot_geometry g;
  g.scale_x = static_cast<float>(p.width / p.seen_width);
  g.scale_y = static_cast<float>(p.height / p.seen_height);
  g.offset_x = static_cast<float>(p.left - p.x * p.width / p.seen_width);
  g.offset_y = static_cast<float>(p.top - p.y * p.height / p.seen_height);
  g.frame_width = width;
  g.frame_height = height;
  return g;
}

// --- colour, on rows of floats; plain loops that compilers turn into vector code

float within_pixel(float v) {
  v = v < 0.0F ? 0.0F : v;
  return v > 255.0F ? 255.0F : v;
}

/// ITU-R BT.601 and BT.709, for 8 bits: luma is scaled and moved, chroma scaled.
struct yuv_matrix {
  float luma_scale, luma_offset, v_red, u_green, v_green, u_blue;
  explicit yuv_matrix(const video_format& f) {
    const double red = f.bt709 ? 0.2126 : 0.299;
    const double blue = f.bt709 ? 0.0722 : 0.114;
    const double green = 1 - red - blue;
    const double luma = f.full_range ? 1.0 : 255.0 / 219;
    const double chroma = f.full_range ? 1.0 : 255.0 / 224;
    luma_scale = static_cast<float>(luma);
    luma_offset = static_cast<float>(f.full_range ? 0 : -16 * luma);
    v_red = static_cast<float>(chroma * 2 * (1 - red));
    u_blue = static_cast<float>(chroma * 2 * (1 - blue));
    v_green = static_cast<float>(-chroma * 2 * (1 - red) * red / green);
    u_green = static_cast<float>(-chroma * 2 * (1 - blue) * blue / green);
  }
};

void yuv_to_rgb(
  const yuv_matrix& m, float* __restrict y, float* __restrict u, float* __restrict v,
  std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float luma = y[i] * m.luma_scale + m.luma_offset;
    const float du = u[i] - 128.0F;
    const float dv = v[i] - 128.0F;
    y[i] = within_pixel(luma + m.v_red * dv);
    u[i] = within_pixel(luma + m.u_green * du + m.v_green * dv);
    v[i] = within_pixel(luma + m.u_blue * du);
  }
}

void luma_to_gray(const yuv_matrix& m, float* __restrict y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    y[i] = within_pixel(y[i] * m.luma_scale + m.luma_offset);
}

void rgb_to_gray(
  float* __restrict r, const float* __restrict g, const float* __restrict b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    r[i] = 0.299F * r[i] + 0.587F * g[i] + 0.114F * b[i];
}

// --- writing values

/// value = pixel * factor + term.
struct normalisation {
  float factor = 1, term = 0;
};

template <class T>
T stored(float pixel, normalisation n);
template <>
float stored<float>(float pixel, normalisation n) {
  return pixel * n.factor + n.term;
}
template <>
std::uint16_t stored<std::uint16_t>(float pixel, normalisation n) {
  return half_from_float(pixel * n.factor + n.term);
}
template <>
std::uint8_t stored<std::uint8_t>(float pixel, normalisation) {
  return static_cast<std::uint8_t>(static_cast<int>(pixel + 0.5F));
}

template <class T, std::size_t Step>
void store_row(
  const float* __restrict pixels, normalisation norm, T* __restrict out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i * Step] = stored<T>(pixels[i], norm);
}

template <class T>
class slot_writer {
public:
  slot_writer(const pack_spec& spec, std::span<std::byte> slot)
    : spec_(spec), values_(reinterpret_cast<T*>(slot.data())), channels_(spec.channel_count()) {
    for (std::uint32_t c = 0; c < channels_; ++c)
      norms_[c] = {spec.scale / spec.deviation[c], -spec.mean[c] / spec.deviation[c]};
  }

  void write(
    std::uint32_t channel, std::uint32_t x, std::uint32_t y, const float* pixels,
    std::size_t n) const {
    if (spec_.layout == tensor_layout::nchw || channels_ == 1)
      store_row<T, 1>(
        pixels, norms_[channel],
        values_ + (std::size_t{channel} * spec_.height + y) * spec_.width + x, n);
    else
      store_row<T, 3>(
        pixels, norms_[channel], values_ + (std::size_t{y} * spec_.width + x) * 3 + channel, n);
  }

  void pad(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height) const {
    const bool planar = spec_.layout == tensor_layout::nchw || channels_ == 1;
    for (std::uint32_t c = 0; c < channels_; ++c) {
      const T value = stored<T>(spec_.pad_value, norms_[c]);
      for (auto row = y; row < y + height; ++row) {
        T* out = planar ? values_ + (std::size_t{c} * spec_.height + row) * spec_.width + x
                        : values_ + (std::size_t{row} * spec_.width + x) * 3 + c;
        const std::size_t step = planar ? 1 : 3;
        for (std::uint32_t i = 0; i < width; ++i)
          out[i * step] = value;
      }
    }
  }

private:
  const pack_spec& spec_;
  T* values_;
  std::uint32_t channels_;
  std::array<normalisation, 3> norms_;
};

template <class F>
void with_value_type(data_type type, F f) {
  if (type == data_type::float32)
    f(float{});
  else if (type == data_type::float16)
    f(std::uint16_t{});
  else
    f(std::uint8_t{});
}

void check(const pack_spec& spec) {
  const auto refuse = [](std::string sentence) {
    throw failure(make_error(errc::graph_invalid, "pack", std::move(sentence)));
  };
  if (spec.width == 0 || spec.height == 0)
    refuse(
      "a slot's width and height must be known before frames can be packed, found "
      + std::to_string(spec.width) + 'x' + std::to_string(spec.height));
  if (
    spec.type != data_type::float32 && spec.type != data_type::float16
    && spec.type != data_type::uint8)
    refuse(
      std::string{"frames can be packed as float32, float16 or uint8, not as "}
      + to_string(spec.type));
  for (std::uint32_t c = 0; c < spec.channel_count(); ++c) {
    if (spec.deviation[c] == 0)
      refuse("the deviation that pixels are divided by must not be 0");
    if (
      spec.type == data_type::uint8
      && (spec.scale != 1 || spec.mean[c] != 0 || spec.deviation[c] != 1))
      refuse("uint8 tensors hold pixels as they are: scale must be 1, mean 0 and deviation 1");
  }
}

error refused(const frame& f, const std::string& sentence) {
  return make_error(errc::stage_failed, "frame " + std::to_string(f.meta.frame_id), sentence);
}

} // namespace

// --- the packer

/// What depends on the frame's format and size, and the rows in work.
struct packer::tables {
  pixel_format format;
  std::uint32_t width, height;
  placement place;
  slot_geometry geometry;
  std::vector<plane_sampler> planes; // those that are needed
  std::vector<float> columns;        // one row of a plane, not yet scaled across
  std::array<std::vector<float>, 3> rows;

  tables(const pack_spec& spec, const video_format& f)
    : format(f.format),
      width(f.width),
      height(f.height),
      place(hyperframes::place(spec, f.width, f.height)),
      geometry(geometry_from(place, f.width, f.height)) {
    const bool yuv = format == pixel_format::i420 || format == pixel_format::nv12;
    const std::size_t used = spec.channels == channel_order::gray ? 1 : f.plane_count();
    for (std::size_t p = 0; p < used; ++p) {
      plane_sampler s;
      if (format == pixel_format::bgr24 || format == pixel_format::rgb24)
        s.parts = 3;
      else if (format == pixel_format::nv12 && p == 1)
        s.parts = 2;
      const double part = yuv && p > 0 ? 0.5 : 1;
      const auto samples_x = static_cast<std::uint32_t>(f.row_bytes(p) / s.parts);
      const auto samples_y = static_cast<std::uint32_t>(f.plane_rows(p));
      s.x = axis(samples_x, place.x * part, place.seen_width * part, place.width);
      s.y = axis(samples_y, place.y * part, place.seen_height * part, place.height);
      columns.resize(std::max(columns.size(), std::size_t{s.x.high - s.x.low} * s.parts));
      planes.push_back(std::move(s));
    }
    for (auto& row : rows)
      row.resize(place.width);
  }

  /// Fills `rows` with one target row's components in the frame's own order.
  void sample(const video_format& f, const std::uint8_t* pixels, std::uint32_t row) {
    std::size_t filled = 0;
    for (std::size_t p = 0; p < planes.size(); ++p) {
      const auto& s = planes[p];
      float* out[3] = {};
      for (std::uint32_t c = 0; c < s.parts; ++c)
        out[c] = rows[filled++].data();
      const auto* start = pixels + f.planes[p].offset;
      sample_down(s, start, f.planes[p].stride, row, columns.data());
      if (s.parts == 1)
        sample_across<1>(s.x, columns.data(), out);
      else if (s.parts == 2)
        sample_across<2>(s.x, columns.data(), out);
      else
        sample_across<3>(s.x, columns.data(), out);
    }
  }

  /// Turns `rows` into colours. @returns the rows of red, green and blue; all the same where
  /// either side is gray.
  std::array<const float*, 3> colour(const yuv_matrix& matrix, bool to_gray) {
    const std::size_t n = place.width;
    auto* a = rows[0].data();
    auto* b = rows[1].data();
    auto* c = rows[2].data();
    switch (format) {
      case pixel_format::gray8:
        return {a, a, a};
      case pixel_format::i420:
      case pixel_format::nv12:
        if (to_gray) {
          luma_to_gray(matrix, a, n);
          return {a, a, a};
        }
        yuv_to_rgb(matrix, a, b, c, n);
        return {a, b, c};
      case pixel_format::bgr24:
        std::swap(a, c);
        break;
      case pixel_format::rgb24:
        break;
    }
    if (to_gray) {
      rgb_to_gray(a, b, c, n);
      return {a, a, a};
    }
    return {a, b, c};
  }
};

packer::packer(pack_spec spec) : spec_(spec) {
  check(spec_);
}
packer::~packer() = default;
packer::packer(packer&&) noexcept = default;
packer& packer::operator=(packer&&) noexcept = default;

slot_geometry geometry_of(const pack_spec& spec, std::uint32_t width, std::uint32_t height) {
  return geometry_from(place(spec, width, height), width, height);
}

expected<slot_geometry> packer::pack(const frame& f, std::span<std::byte> slot) {
  if (!f.media || f.media->what != media_type::kind::video)
    return refused(
      f, "only video frames can be packed, found "
           + (f.media ? f.media->to_string() : std::string{"no media type"}));
  const auto& video = f.media->video;
  if (!f.buffer || video.width == 0 || video.height == 0)
    return refused(f, "has no content to pack");
  if (f.buffer.size() < video.size_bytes())
    return refused(
      f, f.media->to_string() + " needs " + std::to_string(video.size_bytes())
           + " bytes, its buffer has " + std::to_string(f.buffer.size()));
  if (slot.size() < spec_.slot_bytes())
    return refused(
      f, "needs a slot of " + std::to_string(spec_.slot_bytes()) + " bytes, found "
           + std::to_string(slot.size()));
  if (
    !tables_ || tables_->format != video.format || tables_->width != video.width
    || tables_->height != video.height)
    tables_ = std::make_unique<tables>(spec_, video);

  auto& t = *tables_;
  const auto& p = t.place;
  const yuv_matrix matrix(video);
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(f.buffer.data());
  with_value_type(spec_.type, [&](auto value) {
    const slot_writer<decltype(value)> out(spec_, slot);
    out.pad(0, 0, spec_.width, p.top);
    for (std::uint32_t row = 0; row < p.height; ++row) {
      t.sample(video, pixels, row);
      auto rgb = t.colour(matrix, spec_.channels == channel_order::gray);
      if (spec_.channels == channel_order::bgr)
        std::swap(rgb[0], rgb[2]);
      out.pad(0, p.top + row, p.left, 1);
      for (std::uint32_t c = 0; c < spec_.channel_count(); ++c)
        out.write(c, p.left, p.top + row, rgb[c], p.width);
      out.pad(p.left + p.width, p.top + row, spec_.width - p.left - p.width, 1);
    }
    out.pad(0, p.top + p.height, spec_.width, spec_.height - p.top - p.height);
  });
  return t.geometry;
}

void packer::fill(std::span<std::byte> slot) const {
  with_value_type(spec_.type, [&](auto value) {
    slot_writer<decltype(value)>(spec_, slot).pad(0, 0, spec_.width, spec_.height);
  });
}

} // namespace hyperframes
