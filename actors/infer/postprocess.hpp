#pragma once

#include "actors/pack.hpp"
#include "runtime/error.hpp"
#include "runtime/result.hpp"
#include "runtime/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// What a model's outputs say of one frame. Pure functions: no state, no clock, any thread.
///
///   auto boxes = yolov8_boxes(values, 84, 8400, limits);         // pixels of the slot
///   boxes = in_frame(suppress(std::move(*boxes), limits), geometry); // pixels of the frame
///
/// Values that are no numbers: a box with one is dropped, a frame that has nothing else fails.
namespace hyperframes {

/// A tensor that somebody else owns; an output of a session until its next run.
struct tensor_view {
  std::string_view name;
  data_type type = data_type::float32;
  std::span<const std::int64_t> shape;
  const std::byte* data = nullptr;

  std::size_t elements() const; ///< 1 for a shape without axes
};

/// Entry `index` of the first axis, without that axis.
tensor_view slice(const tensor_view& whole, std::size_t index);
/// A copy that owns its values.
tensor copy_of(const tensor_view& view);
/// The values as float32; `scratch` holds them where the view's type is another.
std::span<const float> floats_of(const tensor_view& view, std::vector<float>& scratch);

enum class softmax_rule : std::uint8_t {
  automatic, ///< where the scores are not probabilities: outside 0..1 or their sum not 1
  always,
  never,
};

/// @returns the `k` best classes, best first, scores in 0..1 where softmax was applied; an error
/// where a score is not finite or there are none. One single score is left as it is by `automatic`.
expected<recycled_vector<classification>>
top_classes(std::span<const float> scores, softmax_rule rule, std::uint32_t k);

/// Which boxes are kept.
struct detection_limits {
  float score = 0.25F;     ///< at least
  float iou = 0.45F;       ///< of two boxes of one class that overlap more, the better one stays
  std::uint32_t max = 300; ///< boxes per frame
};

/// [boxes, 5 + classes]: centre x, centre y, width, height (slot pixels), objectness, class scores.
/// score = objectness * best class score.
expected<recycled_vector<detection>> yolov5_boxes(
  std::span<const float> values, std::size_t boxes, std::size_t columns,
  const detection_limits& limits);
/// [4 + classes, boxes]: the same without objectness, one column per box.
expected<recycled_vector<detection>> yolov8_boxes(
  std::span<const float> values, std::size_t rows, std::size_t boxes,
  const detection_limits& limits);

enum class box_format : std::uint8_t {
  corners,    ///< left, top, right, bottom
  corners_yx, ///< top, left, bottom, right (TensorFlow)
  centre,     ///< centre x, centre y, width, height
};

struct ssd_rule {
  box_format format = box_format::corners;
  bool relative = true;        ///< coordinates are 0..1 of the slot, not its pixels
  std::int32_t background = 0; ///< class that means "nothing here"; -1: none
};

/// [boxes, 4] and [boxes, classes]. @param width, height of the slot in pixels.
expected<recycled_vector<detection>> ssd_boxes(
  std::span<const float> boxes, std::span<const float> scores, std::size_t classes,
  const ssd_rule& rule, pixel_size slot, const detection_limits& limits);
/// [K, 7]: picture, class, score, left, top, right, bottom; rows of other pictures are passed over.
expected<recycled_vector<detection>> ssd_rows(
  std::span<const float> rows, std::int32_t picture, const ssd_rule& rule, pixel_size slot,
  const detection_limits& limits);

/// Greedy non-maximum suppression per class. @returns at most `limits.max` boxes, best first.
recycled_vector<detection> suppress(recycled_vector<detection> boxes, const detection_limits& limits);

/// From slot pixels to the frame's, clipped to the frame; what lies outside of it is left out.
recycled_vector<detection> in_frame(recycled_vector<detection> boxes, const slot_geometry& geometry);

} // namespace hyperframes
