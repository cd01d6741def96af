#pragma once

#include "actors/infer/model_settings.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A choice's words and what they mean; the parameters' descriptions and the reader of settings
/// share them.
namespace hyperframes::model_words {

template <class T>
using word = std::pair<const char*, T>;

inline constexpr word<channel_order> colors[]{
  {"rgb", channel_order::rgb}, {"bgr", channel_order::bgr}, {"gray", channel_order::gray}};
inline constexpr word<std::optional<tensor_layout>> layouts[]{
  {"auto", std::nullopt}, {"nchw", tensor_layout::nchw}, {"nhwc", tensor_layout::nhwc}};
inline constexpr word<fit_mode> fits[]{
  {"stretch", fit_mode::stretch}, {"letterbox", fit_mode::letterbox}, {"crop", fit_mode::crop}};
inline constexpr word<decode_kind> decodes[]{
  {"auto", decode_kind::automatic}, {"classify", decode_kind::classify}, {"raw", decode_kind::raw},
  {"yolov5", decode_kind::yolov5},  {"yolov8", decode_kind::yolov8},     {"ssd", decode_kind::ssd}};
inline constexpr word<softmax_rule> softmaxes[]{
  {"auto", softmax_rule::automatic},
  {"always", softmax_rule::always},
  {"never", softmax_rule::never}};
inline constexpr word<box_format> box_formats[]{
  {"corners", box_format::corners},
  {"corners_yx", box_format::corners_yx},
  {"centre", box_format::centre}};

template <class T, std::size_t N>
std::vector<std::string> names(const word<T> (&words)[N]) {
  std::vector<std::string> result;
  for (const auto& [name, value] : words)
    result.emplace_back(name);
  return result;
}

} // namespace hyperframes::model_words
