#include "actors/pack.hpp"

#include "actors/pack/axis.hpp"
#include "actors/pack/colour.hpp"
#include "actors/pack/placement.hpp"
#include "actors/pack/slot_writer.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace hyperframes {

namespace {

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

/// One plane of the frame: `parts` interleaved components, sampled along two axes.
struct plane_sampler {
  std::uint32_t parts = 1;
  axis x;
  std::uint32_t box_step = 0; // of `x`
  column_table columns;
  row_table rows;
};

} // namespace

/// What depends on the frame's format, and the rows in work.
struct packer::tables {
  video_format video; // whose planes' places may differ from one frame to the next
  placement place;
  slot_geometry geometry;
  colour_mix mix;
  std::vector<plane_sampler> planes;        // those that are needed
  std::array<std::vector<float>, 3> across; // one row of a plane's parts, not yet scaled across
  std::array<std::vector<float>, 3> scaled; // one target row's components
  std::array<const float*, 3> components{}; // those of `scaled`
  slot_writer writer;

  tables(const pack_spec& spec, const row_kernels& rows, const video_format& f)
    : video(f),
      place(hyperframes::place(spec, f.width, f.height)),
      geometry(geometry_from(place, f.width, f.height)),
      mix(mix_for(f, spec)),
      writer(spec, rows) {
    const bool yuv = f.format == pixel_format::i420 || f.format == pixel_format::nv12;
    const auto components_needed = components_used(f, spec);
    std::size_t used = 0;
    for (std::size_t p = 0; used < components_needed; ++p) {
      plane_sampler s;
      if (f.format == pixel_format::bgr24 || f.format == pixel_format::rgb24)
        s.parts = 3;
      else if (f.format == pixel_format::nv12 && p == 1)
        s.parts = 2;
      const double part = yuv && p > 0 ? 0.5 : 1;
      const auto samples_x = static_cast<std::uint32_t>(f.row_bytes(p) / s.parts);
      const auto samples_y = static_cast<std::uint32_t>(f.plane_rows(p));
      s.x = axis(samples_x, place.x * part, place.seen_width * part, place.width);
      s.box_step = s.parts == 1 ? s.x.box_step() : 0;
      s.columns = column_table(s.x);
      s.rows = row_table(axis(samples_y, place.y * part, place.seen_height * part, place.height));
      const auto length = std::max<std::size_t>(s.x.high() - s.x.low(), s.columns.reach());
      for (std::uint32_t c = 0; c < s.parts; ++c, ++used) {
        across[c].resize(std::max(across[c].size(), whole_blocks(length)));
        scaled[used].resize(whole_blocks(place.width));
        components[used] = scaled[used].data();
      }
      planes.push_back(std::move(s));
    }
  }

  /// Fills `scaled` with one target row's components in the frame's own order.
  void sample(
    const row_kernels& rows, const video_format& f, const std::uint8_t* pixels, std::uint32_t row) {
    std::size_t filled = 0;
    for (std::size_t p = 0; p < planes.size(); ++p) {
      const auto& s = planes[p];
      const auto down = s.rows[row];
      const std::size_t stride = f.planes[p].stride;
      const source_rows in{
        pixels + f.planes[p].offset + down.first * stride + std::size_t{s.x.low()} * s.parts,
        stride,
        down.weights,
        down.count,
        s.parts,
        s.x.high() - s.x.low()};
      if (s.box_step > 0) {
        rows.down_boxes(in, s.box_step, scaled[filled++].data());
        continue;
      }
      float* out[3] = {};
      for (std::uint32_t c = 0; c < s.parts; ++c)
        out[c] = s.x.copies() ? scaled[filled + c].data() : across[c].data();
      rows.down(in, out);
      if (!s.x.copies()) {
        const auto scale = s.columns.pairs() ? rows.across_pairs : rows.across_boxes;
        for (std::uint32_t c = 0; c < s.parts; ++c)
          scale(s.columns.runs(), across[c].data(), scaled[filled + c].data());
      }
      filled += s.parts;
    }
  }

  bool serves(const video_format& f) const {
    return f.format == video.format && f.width == video.width && f.height == video.height
           && f.full_range == video.full_range && f.bt709 == video.bt709;
  }
};

packer::packer(pack_spec spec, const row_kernels& rows) : spec_(spec), rows_(&rows) {
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
  if (!tables_ || !tables_->serves(video))
    tables_ = std::make_unique<tables>(spec_, *rows_, video);

  auto& t = *tables_;
  const auto& p = t.place;
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(f.buffer.data());
  const auto out = slot.data();
  t.writer.pad(out, {0, 0, spec_.width, p.top});
  for (std::uint32_t row = 0; row < p.height; ++row) {
    t.sample(*rows_, video, pixels, row);
    t.writer.pad(out, {0, p.top + row, p.left, 1});
    t.writer.write(out, {p.left, p.top + row, p.width, 1}, t.mix, t.components.data());
    t.writer.pad(out, {p.left + p.width, p.top + row, spec_.width - p.left - p.width, 1});
  }
  t.writer.pad(out, {0, p.top + p.height, spec_.width, spec_.height - p.top - p.height});
  return t.geometry;
}

void packer::fill(std::span<std::byte> slot) const {
  slot_writer(spec_, *rows_).pad(slot.data(), {0, 0, spec_.width, spec_.height});
}

} // namespace hyperframes
