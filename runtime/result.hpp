#pragma once

#include "runtime/hyperframe.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

struct classification {
  std::int32_t label = 0;
  float score = 0; ///< 0..1
};

/// Pixels of the original frame; the origin is its top left corner.
struct detection {
  float x = 0, y = 0, width = 0, height = 0;
  float score = 0; ///< 0..1, or what the detector gives (HOG: distance to the margin)
  std::int32_t label = 0;
};

/// What a model said about one frame.
struct inference {
  recycled_vector<classification> classes; ///< best first
  recycled_vector<detection> boxes;      ///< best first
  std::vector<tensor> raw;             ///< one per output, without the batch axis
};
using inference_ptr = std::shared_ptr<const inference>;
using label_names = std::shared_ptr<const std::vector<std::string>>;

/// When a frame passed each stage, on the graph's time line; zero where it did not.
struct stage_times {
  graph_time arrived{}, bundled{}, dispatched{}, inferred{}, delivered{};
};

/// One hyperframe's results. Holds no pixels unless frames were asked for.
struct result {
  struct slot_result {
    outcome what = outcome::delivered;
    reason why = reason::none;
    inference_ptr inferred;            ///< none where the outcome is not `delivered`
    std::int32_t refers_to = -1;       ///< slot that carries the result of the whole hyperframe
  };
  hyperframe_descriptor descriptor;
  recycled_vector<slot_result> slots; ///< [B]
  recycled_vector<frame> frames; ///< as in `hyperframe`
  label_names labels;
  graph_time dispatched{}, inferred{};
  std::uint32_t worker = 0;
  std::uint32_t batch_slots = 0; ///< how many slots shared its batch
};
using result_ptr = std::shared_ptr<const result>;

/// What a consumer sees of one captured frame: a result, or a gap with its reason, in order.
struct frame_result {
  frame_meta meta; ///< where the frame ended before its content was seen, stream, epoch and id only
  outcome what = outcome::delivered;
  reason why = reason::none;
  std::optional<hyperframe_sequence> sequence;
  std::int32_t slot = -1;
  std::int32_t refers_to = -1; ///< slot whose frame carries the result; -1: this one
  inference_ptr inferred;
  label_names labels;
  stage_times times;
  std::optional<frame> content; ///< where `keep_frames` asks for it
};
using frame_result_ptr = std::shared_ptr<const frame_result>;

} // namespace hyperframes
