#pragma once

#include "actors/sinks/item_json.hpp"
#include "actors/sinks/json_text.hpp"
#include "runtime/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// What a model found, as JSON (docs/results.md).
namespace hyperframes {

/// Appends the members `label` and `name`; the name is null where `names` has none.
void write_label(json_text& json, std::int32_t label, const std::vector<std::string>* names);

/// Appends an object with classes, boxes and raw tensors; null where nothing was inferred.
/// @param names of the classes; may be null.
void write_inference(
  json_text& json, const inference* inferred, const std::vector<std::string>* names,
  const raw_detail& raw);

} // namespace hyperframes
