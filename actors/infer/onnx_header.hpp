#pragma once

#include "actors/infer/network.hpp"
#include "runtime/error.hpp"

#include <istream>
#include <string>
#include <vector>

namespace hyperframes {

/// What an ONNX file declares of itself, for backends that do not tell.
struct onnx_header {
  std::vector<network_value> inputs; ///< without initializers
  std::vector<network_value> outputs;
  std::vector<std::string> class_names; ///< from the metadata entry `names`; empty: none
};

/// Reads the declarations and passes over the weights. Format: protobuf, messages of
/// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
/// @returns `errc::model_failed` with a sentence where `in` does not hold an ONNX model; never
/// takes more memory than the declarations need.
expected<onnx_header> read_onnx_header(std::istream& in);

/// The names in a text such as `{0: 'person', 1: "bicycle"}`, as YOLO exports hold them.
std::vector<std::string> names_in_metadata(const std::string& text);

/// The type of a tensor by its ONNX number; none where tensors here cannot have it.
std::optional<data_type> type_from_onnx(int number);

} // namespace hyperframes
