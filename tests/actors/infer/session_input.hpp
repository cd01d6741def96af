#pragma once

#include "actors/half_float.hpp"
#include "actors/infer/model.hpp"

#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace hyperframes {

/// Slots in which every channel has one value all over; what a bundler would have packed.
class plain_slots {
public:
  using colour = std::array<float, 3>;

  /// @param width, height used where the model leaves the size open.
  plain_slots(
    const model& m, std::vector<colour> colours, std::vector<std::uint8_t> valid = {},
    std::uint32_t width = 8, std::uint32_t height = 8)
    : valid_(std::move(valid)), spec_(m.input()) {
    if (spec_.width == 0) {
      spec_.width = width;
      spec_.height = height;
    }
    const auto channels = spec_.channel_count();
    const auto pixels = std::size_t{spec_.width} * spec_.height;
    for (const auto& c : colours) {
      for (std::size_t i = 0; i < pixels * channels; ++i)
        append(c[spec_.layout == tensor_layout::nchw ? i / pixels : i % channels]);
      geometry_.push_back({1, 1, 0, 0, spec_.width, spec_.height});
    }
    input_.slots = static_cast<std::uint32_t>(colours.size());
    input_.data = bytes_;
    input_.geometry = geometry_;
    input_.valid = valid_;
    input_.width = spec_.width;
    input_.height = spec_.height;
  }
  plain_slots(const plain_slots&) = delete;
  plain_slots& operator=(const plain_slots&) = delete;

  infer_input& input() { return input_; }
  std::vector<slot_geometry>& geometry() { return geometry_; }

private:
  void append(float value) {
    const auto put = [this](auto v) {
      const auto at = bytes_.size();
      bytes_.resize(at + sizeof v);
      std::memcpy(bytes_.data() + at, &v, sizeof v);
    };
    if (spec_.type == data_type::float32)
      put(value);
    else if (spec_.type == data_type::float16)
      put(half_from_float(value));
    else
      put(static_cast<std::uint8_t>(value));
  }

  std::vector<std::byte> bytes_;
  std::vector<slot_geometry> geometry_;
  std::vector<std::uint8_t> valid_;
  pack_spec spec_;
  infer_input input_;
};

/// Settings of an infer stage for a model of tests/data/models, `name.onnx`.
inline settings model_of(const std::string& backend, const std::string& name) {
  settings s;
  s.with("backend", backend).with("model", std::string{"models/" + name + ".onnx"});
  return s;
}

inline setting::list list_of(std::initializer_list<std::string> texts) {
  setting::list result;
  for (const auto& t : texts)
    result.push_back(initial_value(t));
  return result;
}

inline std::shared_ptr<settings> group() {
  return std::make_shared<settings>();
}

} // namespace hyperframes
