#pragma once

#include "runtime/media_type.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hyperframes {

enum class tensor_layout : std::uint8_t { nchw, nhwc };
enum class fit_mode : std::uint8_t {
  stretch,   ///< to the target size, aspect ratio ignored
  letterbox, ///< aspect ratio kept, centred, the rest filled with `pad_value`
  crop,      ///< aspect ratio kept, centred, what stands out is cut off
};
enum class channel_order : std::uint8_t { rgb, bgr, gray };

/// How a frame becomes a slot of a tensor: value = (pixel * scale - mean[c]) / deviation[c].
struct pack_spec {
  std::uint32_t width = 0;  ///< pixels of the slot; 0: as the stream's frames are
  std::uint32_t height = 0; ///< as `width`
  channel_order channels = channel_order::rgb;
  tensor_layout layout = tensor_layout::nchw;
  data_type type = data_type::float32; ///< float32, float16 or uint8
  fit_mode fit = fit_mode::stretch;
  float scale = 1.0F / 255.0F; ///< uint8 tensors take scale 1, mean 0 and deviation 1 only
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> deviation{1, 1, 1};
  std::uint8_t pad_value = 114; ///< pixel value around a letterboxed frame

  std::uint32_t channel_count() const { return channels == channel_order::gray ? 1 : 3; }
  std::size_t slot_bytes() const {
    return std::size_t{width} * height * channel_count() * size_of(type);
  }
};

/// Where a frame's pixels went in its slot, so that boxes can be mapped back:
///   frame_x = (slot_x - offset_x) / scale_x, the same for y.
struct slot_geometry {
  float scale_x = 1, scale_y = 1;
  float offset_x = 0, offset_y = 0;
  std::uint32_t frame_width = 0, frame_height = 0; ///< pixels
};

/// A dense tensor that owns its values; outputs of models.
struct tensor {
  std::string name;
  data_type type = data_type::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  const float* floats() const { return reinterpret_cast<const float*>(bytes.data()); }
  std::size_t elements() const;
};

} // namespace hyperframes
