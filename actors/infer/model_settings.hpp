#pragma once

#include "actors/infer/postprocess.hpp"
#include "runtime/error.hpp"
#include "runtime/settings.hpp"
#include "runtime/tensor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

enum class decode_kind : std::uint8_t { automatic, classify, raw, yolov5, yolov8, ssd };
const char* to_string(decode_kind k);

/// What the settings of an `infer` stage say of its model, defaults filled in. Where a value is
/// left to the model it is empty.
struct model_settings {
  std::string folder;  ///< that relative paths start from
  std::string backend; ///< "auto" was replaced
  std::string model;   ///< path, from the graph's folder on; may be empty for `hog`
  std::string config;  ///< path of a second file, or empty
  int threads = 1;

  struct input_settings {
    std::string name;
    std::optional<pixel_size> size;
    std::optional<channel_order> color;
    std::optional<tensor_layout> layout;
    std::optional<fit_mode> fit;
    std::optional<float> scale;
    std::vector<float> mean, std; ///< empty, one, or one per channel
    std::uint8_t pad = 114;
    std::uint32_t time = 0;
    std::vector<std::string> values; ///< "name=1" or "name=1,2,3"
  } input;

  struct output_settings {
    decode_kind decode = decode_kind::automatic;
    std::string name;
    std::optional<std::vector<std::string>> labels; ///< as given: names, or one file
    std::uint32_t top_k = 1;
    softmax_rule softmax = softmax_rule::automatic;
    detection_limits limits;
    ssd_rule ssd;
  } output;

  /// Of the backends `hog` and `cascade`; empty: that of the backend.
  struct detector_settings {
    std::optional<double> threshold, scale, group;
    std::optional<int> stride, neighbours;
    std::optional<pixel_size> least, most;
  } detector;

  /// Of the backend `simulated`: a run takes fixed + per_slot x slots.
  struct simulated_settings {
    duration fixed = std::chrono::microseconds{1286}; ///< with the next: 2 ms alone, 7 ms for eight
    duration per_slot = std::chrono::microseconds{714};
  } simulated;
};

/// @param folder that relative paths start from.
/// @returns the settings, or `errc::graph_invalid` with a sentence where two of them contradict
/// each other or a file is missing.
expected<model_settings>
read_model_settings(const settings& infer_settings, const std::string& folder);

/// The names of classes: the lines of a file where `given` is one name of a file, else as given.
expected<std::vector<std::string>>
read_labels(const std::vector<std::string>& given, const std::string& folder);

} // namespace hyperframes
