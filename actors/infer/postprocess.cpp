#include "actors/infer/postprocess.hpp"

#include "actors/half_float.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace hyperframes {

namespace {

error not_a_number(const char* what) {
  return make_error(
    errc::model_failed, "output",
    std::string{what} + " that are not finite numbers (NaN or infinite)");
}

bool finite(const detection& d) {
  return std::isfinite(d.x) && std::isfinite(d.y) && std::isfinite(d.width)
         && std::isfinite(d.height) && std::isfinite(d.score);
}

/// Collects boxes above the least score. NaN scores are counted, not kept.
class candidates {
public:
  explicit candidates(const detection_limits& limits) : least_(limits.score) {}

  /// `d` is asked for only where the score is high enough.
  template <class Box>
  void offer(float score, Box d) {
    ++seen_;
    if (std::isnan(score)) {
      ++bad_;
      return;
    }
    if (score < least_)
      return;
    const detection box = d();
    if (finite(box) && box.width > 0 && box.height > 0)
      kept_.push_back(box);
  }

  expected<recycled_vector<detection>> take() {
    if (seen_ > 0 && bad_ == seen_)
      return not_a_number("the model gave box scores");
    return std::move(kept_);
  }

private:
  float least_;
  std::size_t seen_ = 0, bad_ = 0;
  recycled_vector<detection> kept_;
};

detection from_centre(float x, float y, float width, float height, float score, std::size_t label) {
  return {x - width / 2, y - height / 2, width, height, score, static_cast<std::int32_t>(label)};
}

detection
from_ssd(const float* v, float score, std::int32_t label, const ssd_rule& rule, pixel_size slot) {
  const float sx = rule.relative ? static_cast<float>(slot.width) : 1.0F;
  const float sy = rule.relative ? static_cast<float>(slot.height) : 1.0F;
  if (rule.format == box_format::centre)
    return from_centre(
      v[0] * sx, v[1] * sy, v[2] * sx, v[3] * sy, score, static_cast<std::size_t>(label));
  const bool yx = rule.format == box_format::corners_yx;
  const float left = v[yx ? 1 : 0] * sx, top = v[yx ? 0 : 1] * sy;
  const float right = v[yx ? 3 : 2] * sx, bottom = v[yx ? 2 : 3] * sy;
  return {left, top, right - left, bottom - top, score, label};
}

float overlap(const detection& a, const detection& b) {
  const float width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const float height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (width <= 0 || height <= 0)
    return 0;
  const float both = width * height;
  return both / (a.width * a.height + b.width * b.height - both);
}

} // namespace

// --- views

std::size_t tensor_view::elements() const {
  return std::accumulate(
    shape.begin(), shape.end(), std::size_t{1}, [](std::size_t n, std::int64_t side) {
      return n * static_cast<std::size_t>(std::max<std::int64_t>(side, 0));
    });
}

tensor_view slice(const tensor_view& whole, std::size_t index) {
  tensor_view part = whole;
  part.shape = whole.shape.subspan(1);
  part.data = whole.data + index * part.elements() * size_of(whole.type);
  return part;
}

tensor copy_of(const tensor_view& view) {
  tensor t;
  t.name = view.name;
  t.type = view.type;
  t.shape.assign(view.shape.begin(), view.shape.end());
  t.bytes.assign(view.data, view.data + view.elements() * size_of(view.type));
  return t;
}

std::span<const float> floats_of(const tensor_view& view, std::vector<float>& scratch) {
  const auto n = view.elements();
  if (view.type == data_type::float32)
    return {reinterpret_cast<const float*>(view.data), n};
  scratch.resize(n);
  const auto convert = [&]<class T>(T, auto to_float) {
    for (std::size_t i = 0; i < n; ++i) {
      T value;
      std::memcpy(&value, view.data + i * sizeof(T), sizeof(T));
      scratch[i] = to_float(value);
    }
  };
  const auto cast = [](auto v) { return static_cast<float>(v); };
  switch (view.type) {
    case data_type::float16:
      convert(std::uint16_t{}, float_from_half);
      break;
    case data_type::uint8:
      convert(std::uint8_t{}, cast);
      break;
    case data_type::int32:
      convert(std::int32_t{}, cast);
      break;
    case data_type::int64:
      convert(std::int64_t{}, cast);
      break;
    case data_type::float32:
      break;
  }
  return scratch;
}

// --- classes

namespace {

/// The `k` largest with their places, largest first; of equal ones the first.
recycled_vector<classification> best_scores(std::span<const float> scores, std::size_t k) {
  recycled_vector<classification> best;
  best.reserve(std::min(k, scores.size()));
  for (std::size_t i = 0; i < scores.size() && k > 0; ++i) {
    if (best.size() == k && scores[i] <= best.back().score)
      continue;
    if (best.size() == k)
      best.pop_back();
    const auto before = std::ranges::find_if(
      best, [&](const classification& c) { return c.score < scores[i]; });
    best.insert(before, {static_cast<std::int32_t>(i), scores[i]});
  }
  return best;
}

} // namespace

expected<recycled_vector<classification>>
top_classes(std::span<const float> scores, softmax_rule rule, std::uint32_t k) {
  if (scores.empty())
    return make_error(errc::model_failed, "output", "there are no class scores");
  if (!std::all_of(scores.begin(), scores.end(), [](float s) { return std::isfinite(s); }))
    return not_a_number("the model gave class scores");

  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
  const bool probabilities = *least >= 0 && *most <= 1 && std::abs(sum - 1) < 1e-2;
  const bool apply = rule == softmax_rule::always
                     || (rule == softmax_rule::automatic && scores.size() > 1 && !probabilities);

  // The largest is taken away first, so that no exponential overflows.
  double total = 1;
  if (apply)
    total = std::accumulate(
      scores.begin(), scores.end(), 0.0,
      [&, top = double(*most)](double n, float s) { return n + std::exp(double(s) - top); });
  auto best = best_scores(scores, k);
  if (apply)
    for (auto& c : best)
      c.score = static_cast<float>(std::exp(double(c.score) - double(*most)) / total);
  return best;
}

// --- boxes

expected<recycled_vector<detection>> yolov5_boxes(
  std::span<const float> values, std::size_t boxes, std::size_t columns,
  const detection_limits& limits) {
  candidates found(limits);
  for (std::size_t b = 0; b < boxes; ++b) {
    const float* v = values.data() + b * columns;
    // Class scores are at most 1: most boxes end here. NaN goes on, to be counted.
    if (v[4] < limits.score) {
      found.offer(v[4], [] { return detection{}; });
      continue;
    }
    std::size_t best = 5;
    bool valid = !std::isnan(v[5]);
    for (std::size_t c = 6; c < columns; ++c) {
      valid = valid && !std::isnan(v[c]);
      best = v[c] > v[best] ? c : best;
    }
    const float score = valid ? v[4] * v[best] : NAN;
    found.offer(score, [&] { return from_centre(v[0], v[1], v[2], v[3], score, best - 5); });
  }
  return found.take();
}

expected<recycled_vector<detection>> yolov8_boxes(
  std::span<const float> values, std::size_t rows, std::size_t boxes,
  const detection_limits& limits) {
  // Row by row, as the values lie in memory.
  std::vector<float> best(boxes);
  std::vector<std::uint32_t> label(boxes, 0);
  const float* scores = values.data() + 4 * boxes;
  std::copy_n(scores, boxes, best.begin());
  for (std::size_t c = 1; c + 4 < rows; ++c)
    for (std::size_t b = 0; b < boxes; ++b) {
      const float score = scores[c * boxes + b];
      // A NaN takes the place and keeps it.
      if (score > best[b] || std::isnan(score)) {
        best[b] = score;
        label[b] = static_cast<std::uint32_t>(c);
      }
    }
  candidates found(limits);
  const float* v = values.data();
  for (std::size_t b = 0; b < boxes; ++b)
    found.offer(best[b], [&] {
      return from_centre(v[b], v[boxes + b], v[2 * boxes + b], v[3 * boxes + b], best[b], label[b]);
    });
  return found.take();
}

expected<recycled_vector<detection>> ssd_boxes(
  std::span<const float> boxes, std::span<const float> scores, std::size_t classes,
  const ssd_rule& rule, pixel_size slot, const detection_limits& limits) {
  candidates found(limits);
  for (std::size_t b = 0; b * 4 < boxes.size(); ++b) {
    float best = -INFINITY;
    std::int32_t label = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const float score = scores[b * classes + c];
      if (static_cast<std::int32_t>(c) == rule.background)
        continue;
      if (score > best || std::isnan(score)) {
        best = score;
        label = static_cast<std::int32_t>(c);
      }
    }
    found.offer(best, [&] { return from_ssd(boxes.data() + b * 4, best, label, rule, slot); });
  }
  return found.take();
}

expected<recycled_vector<detection>> ssd_rows(
  std::span<const float> rows, std::int32_t picture, const ssd_rule& rule, pixel_size slot,
  const detection_limits& limits) {
  candidates found(limits);
  for (std::size_t r = 0; r + 7 <= rows.size(); r += 7) {
    const float* v = rows.data() + r;
    // Networks fill unused rows with picture -1. What is no number is nobody's: it counts as ours.
    if (!std::isnan(v[0]) && v[0] != static_cast<float>(picture))
      continue;
    const bool labelled = std::isfinite(v[1]) && std::abs(v[1]) < 1e6F;
    const auto label = labelled ? static_cast<std::int32_t>(v[1]) : 0;
    if (labelled && label == rule.background)
      continue;
    const float score = labelled && !std::isnan(v[0]) ? v[2] : NAN;
    found.offer(score, [&] { return from_ssd(v + 3, score, label, rule, slot); });
  }
  return found.take();
}

recycled_vector<detection> suppress(recycled_vector<detection> boxes, const detection_limits& limits) {
  std::stable_sort(
    boxes.begin(), boxes.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  recycled_vector<detection> kept;
  for (const auto& box : boxes) {
    if (kept.size() >= limits.max)
      break;
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const auto& better) {
      return better.label == box.label && overlap(better, box) > limits.iou;
    });
    if (!covered)
      kept.push_back(box);
  }
  return kept;
}

recycled_vector<detection> in_frame(recycled_vector<detection> boxes, const slot_geometry& g) {
  const auto width = static_cast<float>(g.frame_width);
  const auto height = static_cast<float>(g.frame_height);
  recycled_vector<detection> result;
  result.reserve(boxes.size());
  for (auto box : boxes) {
    const float left = std::clamp((box.x - g.offset_x) / g.scale_x, 0.0F, width);
    const float top = std::clamp((box.y - g.offset_y) / g.scale_y, 0.0F, height);
    const float right = std::clamp((box.x + box.width - g.offset_x) / g.scale_x, 0.0F, width);
    const float bottom = std::clamp((box.y + box.height - g.offset_y) / g.scale_y, 0.0F, height);
    if (right <= left || bottom <= top)
      continue;
    box.x = left;
    box.y = top;
    box.width = right - left;
    box.height = bottom - top;
    result.push_back(box);
  }
  return result;
}

} // namespace hyperframes
