#include "actors/sinks/inference_json.hpp"

#include "actors/half_float.hpp"

#include <algorithm>
#include <cstring>

namespace hyperframes {

namespace {

template <class Stored>
Stored stored_at(const tensor& t, std::size_t i) {
  Stored v;
  std::memcpy(&v, t.bytes.data() + i * sizeof v, sizeof v);
  return v;
}

void write_values(json_text& json, const tensor& t, std::uint64_t limit) {
  const auto all = t.bytes.size() / size_of(t.type);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(all, limit));
  json.key("values").array([&] {
    for (std::size_t i = 0; i < count; ++i) {
      switch (t.type) {
        case data_type::float32:
          json.value(stored_at<float>(t, i));
          break;
        case data_type::float16:
          json.value(float_from_half(stored_at<std::uint16_t>(t, i)));
          break;
        case data_type::uint8:
          json.value(static_cast<unsigned>(stored_at<std::uint8_t>(t, i)));
          break;
        case data_type::int32:
          json.value(stored_at<std::int32_t>(t, i));
          break;
        case data_type::int64:
          json.value(stored_at<std::int64_t>(t, i));
          break;
      }
    }
  });
  json.field("left_out", all - count);
}

void write_raw(json_text& json, const tensor& t, const raw_detail& raw) {
  json.object([&] {
    json.field("name", t.name);
    json.field("type", to_string(t.type));
    json.key("shape").array([&] {
      for (auto d : t.shape)
        json.value(d);
    });
    if (raw.values)
      write_values(json, t, raw.limit);
  });
}

} // namespace

void write_label(json_text& json, std::int32_t label, const std::vector<std::string>* names) {
  json.field("label", label);
  if (names && label >= 0 && static_cast<std::size_t>(label) < names->size())
    json.field("name", (*names)[static_cast<std::size_t>(label)]);
  else
    json.field("name", nullptr);
}

void write_inference(
  json_text& json, const inference* inferred, const std::vector<std::string>* names,
  const raw_detail& raw) {
  if (!inferred) {
    json.value(nullptr);
    return;
  }
  json.object([&] {
    json.key("classes").array([&] {
      for (const auto& c : inferred->classes)
        json.object([&] {
          write_label(json, c.label, names);
          json.field("score", c.score);
        });
    });
    json.key("boxes").array([&] {
      for (const auto& b : inferred->boxes)
        json.object([&] {
          json.field("x", b.x);
          json.field("y", b.y);
          json.field("width", b.width);
          json.field("height", b.height);
          json.field("score", b.score);
          write_label(json, b.label, names);
        });
    });
    json.key("raw").array([&] {
      for (const auto& t : inferred->raw)
        write_raw(json, t, raw);
    });
  });
}

} // namespace hyperframes
