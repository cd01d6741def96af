#include "actors/infer/network.hpp"

#include "actors/half_float.hpp"

#include <algorithm>
#include <cstring>

namespace hyperframes {

namespace {

/// [1,1,K,7]: rows that name their picture, see `network_plan`.
bool rows_name_pictures(const tensor_view& v) {
  return v.shape.size() == 4 && v.shape[1] == 1 && v.shape[3] == 7;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

void append_as(data_type type, float value, std::vector<std::byte>& bytes) {
  switch (type) {
    case data_type::float32:
      return append(bytes, value);
    case data_type::float16:
      return append(bytes, half_from_float(value));
    case data_type::uint8:
      return append(bytes, static_cast<std::uint8_t>(value));
    case data_type::int32:
      return append(bytes, static_cast<std::int32_t>(value));
    case data_type::int64:
      return append(bytes, static_cast<std::int64_t>(value));
  }
}

} // namespace

void shape_of(
  const network_plan& plan, const network_input& input, std::vector<std::int64_t>& shape) {
  shape = plan.input_shape;
  shape[0] = input.samples;
  const bool nchw = plan.pack.layout == tensor_layout::nchw;
  const auto rank = shape.size();
  shape[rank - (nchw ? 2 : 3)] = input.height;
  shape[rank - (nchw ? 1 : 2)] = input.width;
}

std::pair<std::vector<std::byte>, std::vector<std::int64_t>>
values_of(const further_input& input, std::uint32_t samples) {
  auto shape = input.shape;
  std::uint32_t copies = 1;
  if (!shape.empty() && shape[0] < 0) {
    shape[0] = samples;
    copies = samples;
  }
  std::vector<std::byte> bytes;
  for (std::uint32_t i = 0; i < copies; ++i)
    for (float v : input.values)
      append_as(input.type, v, bytes);
  return {std::move(bytes), std::move(shape)};
}

expected<network_facts>
with_observed_outputs(const network_plan& plan, network_executor& executor) {
  auto facts = plan.facts;
  if (plan.pack.width == 0)
    return facts;
  network_input input;
  input.samples = plan.fixed_samples ? plan.fixed_samples : 1;
  input.width = plan.pack.width;
  input.height = plan.pack.height;
  const std::vector<std::byte> zeros(
    plan.pack.slot_bytes() * plan.slots_per_sample() * input.samples);
  input.data = zeros.data();
  const auto outputs = executor.execute(input);
  if (!outputs)
    return make_error(
      errc::model_failed, facts.file,
      "the shapes of its outputs show only when it runs, and a trial failed ("
        + outputs.error().message + "): set `output.decode`");
  for (std::size_t i = 0; i < facts.outputs.size(); ++i) {
    auto& shape = facts.outputs[i].shape;
    const auto& seen = (*outputs)[i].shape;
    if (shape.size() != seen.size())
      shape.assign(seen.size(), -1);
    for (std::size_t k = 1; k < seen.size(); ++k)
      shape[k] = seen[k];
  }
  return facts;
}

expected<std::unique_ptr<infer_session>> network_model::make_session() const {
  auto executor = make_();
  if (!executor)
    return executor.error();
  return std::unique_ptr<infer_session>(new network_session(plan_, std::move(*executor)));
}

// --- sessions

struct network_session::work {
  const infer_input& input;
  pixel_size slot;
  std::size_t sample_bytes = 0;
  std::uint32_t samples = 0;
  recycled_vector<std::uint32_t> chosen; ///< samples that are computed, ascending
  recycled_vector<inference_ptr> results;

  bool valid(std::size_t s) const { return input.valid.empty() || input.valid[s] != 0; }
  /// The last valid slot of slots [first, first + count), or -1.
  std::ptrdiff_t last_valid(std::size_t first, std::size_t count) const {
    for (auto s = first + count; s > first; --s)
      if (valid(s - 1))
        return static_cast<std::ptrdiff_t>(s - 1);
    return -1;
  }
};

network_session::network_session(
  std::shared_ptr<const network_plan> plan, std::unique_ptr<network_executor> executor)
  : plan_(std::move(plan)), executor_(std::move(executor)) {}

expected<recycled_vector<inference_ptr>> network_session::run(const infer_input& input) {
  const auto refuse = [this](const std::string& sentence) {
    return make_error(errc::model_failed, plan_->facts.file, sentence);
  };
  work w{input, {plan_->pack.width, plan_->pack.height}, 0, 0, {}, {}};
  if (w.slot.width == 0)
    w.slot = {input.width, input.height};
  if (w.slot.width == 0 || w.slot.height == 0)
    return refuse("takes frames of any size, so a batch must say which size it has");
  auto resolved = plan_->pack;
  resolved.width = w.slot.width;
  resolved.height = w.slot.height;
  if (input.data.size() < resolved.slot_bytes() * input.slots)
    return refuse(
      "expected " + std::to_string(resolved.slot_bytes()) + " bytes for each of "
      + std::to_string(input.slots) + " slots, found " + std::to_string(input.data.size())
      + " in all");
  if (
    (!input.valid.empty() && input.valid.size() != input.slots)
    || input.geometry.size() != input.slots)
    return refuse(
      "expected a geometry and a mask for each of " + std::to_string(input.slots) + " slots");
  const auto per_sample = plan_->slots_per_sample();
  if (input.slots % per_sample != 0)
    return refuse(
      "takes runs of " + std::to_string(per_sample) + " frames, found "
      + std::to_string(input.slots) + " slots");

  w.sample_bytes = resolved.slot_bytes() * per_sample;
  w.samples = input.slots / per_sample;
  w.results.resize(input.slots);
  for (std::uint32_t s = 0; s < w.samples; ++s)
    if (w.last_valid(std::size_t{s} * per_sample, per_sample) >= 0)
      w.chosen.push_back(s);

  const std::size_t most = plan_->fixed_samples ? plan_->fixed_samples : w.chosen.size();
  if (!plan_->result_per_sample && w.chosen.size() > most)
    return refuse(
      "gives one result for a hyperframe of at most " + std::to_string(most) + " slots, found "
      + std::to_string(w.chosen.size()));
  for (std::size_t first = 0; first < w.chosen.size(); first += most)
    if (auto fault = run_part(w, first, std::min(most, w.chosen.size() - first)))
      return std::move(*fault);
  return std::move(w.results);
}

std::optional<error> network_session::run_part(work& w, std::size_t first, std::size_t count) {
  const auto chosen = std::span{w.chosen}.subspan(first, count);
  const std::uint32_t samples =
    plan_->fixed_samples ? plan_->fixed_samples : static_cast<std::uint32_t>(count);

  // A stretch of neighbouring samples is used where it lies; with a fixed number of samples it
  // may cover ones that are masked.
  const bool fits = w.samples >= samples;
  const std::uint32_t start = fits ? std::min(chosen.front(), w.samples - samples) : 0;
  const bool in_place = fits && chosen.back() < start + samples;
  network_input input{
    w.input.data.data() + start * w.sample_bytes, samples, w.slot.width, w.slot.height};
  if (!in_place) {
    gathered_.resize(samples * w.sample_bytes);
    for (std::uint32_t i = 0; i < samples; ++i)
      std::memcpy(
        gathered_.data() + i * w.sample_bytes,
        w.input.data.data() + chosen[std::min<std::size_t>(i, count - 1)] * w.sample_bytes,
        w.sample_bytes);
    input.data = gathered_.data();
  }

  const auto outputs = executor_->execute(input);
  if (!outputs)
    return outputs.error();
  if (plan_->result_per_sample)
    for (const auto& out : *outputs)
      if (!rows_name_pictures(out) && (out.shape.empty() || out.shape[0] != samples))
        return make_error(
          errc::model_failed, plan_->facts.file,
          "output "
            + network_value{std::string{out.name}, out.type, {out.shape.begin(), out.shape.end()}}
                .to_string()
            + " is not of the " + std::to_string(samples) + " samples that it was given");

  const auto per_sample = plan_->slots_per_sample();
  const std::size_t results = plan_->result_per_sample ? count : 1;
  for (std::size_t i = 0; i < results; ++i) {
    const auto slot = static_cast<std::size_t>(
      plan_->result_per_sample ? w.last_valid(std::size_t{chosen[i]} * per_sample, per_sample)
                               : w.last_valid(0, w.input.slots));
    auto inferred =
      decode(*outputs, in_place ? chosen[i] - start : i, w.input.geometry[slot], w.slot);
    if (!inferred)
      return make_error(
        inferred.error().code, plan_->facts.file,
        "slot " + std::to_string(slot) + ": " + inferred.error().message);
    w.results[slot] = std::move(*inferred);
  }
  return std::nullopt;
}

namespace {

/// What belongs to one sample: its entry of the samples' axis, or all where there is none.
tensor_view of_sample(const tensor_view& out, std::size_t sample, bool per_sample) {
  if (per_sample && !rows_name_pictures(out))
    return slice(out, sample);
  return !per_sample && out.shape.size() > 1 && out.shape[0] == 1 ? slice(out, 0) : out;
}

} // namespace

expected<inference_ptr> network_session::decode(
  std::span<const tensor_view> outputs, std::size_t sample, const slot_geometry& geometry,
  pixel_size slot) {
  if (plan_->decode == decode_kind::classify) {
    const auto view = of_sample(outputs[plan_->decoded_output], sample, plan_->result_per_sample);
    auto classes =
      top_classes(floats_of(view, scratch_), plan_->output.softmax, plan_->output.top_k);
    if (!classes)
      return classes.error();
    auto result = make_recycled<inference>();
    result->classes = std::move(*classes);
    return inference_ptr{std::move(result)};
  }
  if (plan_->decode == decode_kind::raw) {
    auto result = make_recycled<inference>();
    for (const auto& out : outputs)
      result->raw.push_back(copy_of(of_sample(out, sample, plan_->result_per_sample)));
    return inference_ptr{std::move(result)};
  }
  return decode_boxes(outputs, sample, geometry, slot);
}

expected<inference_ptr> network_session::decode_boxes(
  std::span<const tensor_view> outputs, std::size_t sample, const slot_geometry& geometry,
  pixel_size slot) {
  const auto& limits = plan_->output.limits;
  const auto view = of_sample(outputs[plan_->decoded_output], sample, plan_->result_per_sample);
  const auto values = floats_of(view, scratch_);
  const auto side = [](const tensor_view& v, std::size_t axis) {
    return static_cast<std::size_t>(v.shape[axis]);
  };
  const auto found = [&]() -> expected<recycled_vector<detection>> {
    if (rows_name_pictures(view) && plan_->decode == decode_kind::ssd)
      return ssd_rows(values, static_cast<std::int32_t>(sample), plan_->output.ssd, slot, limits);
    const auto misshapen = [&] {
      return make_error(
        errc::model_failed, plan_->facts.file,
        "output "
          + network_value{std::string{view.name}, view.type, {view.shape.begin(), view.shape.end()}}
              .to_string()
          + " does not have the shape that `output.decode: " + to_string(plan_->decode)
          + "` expects");
    };
    if (view.shape.size() != 2)
      return misshapen();
    if (plan_->decode == decode_kind::yolov5)
      return side(view, 1) < 6 ? expected<recycled_vector<detection>>{misshapen()}
                               : yolov5_boxes(values, side(view, 0), side(view, 1), limits);
    if (plan_->decode == decode_kind::yolov8)
      return side(view, 0) < 5 ? expected<recycled_vector<detection>>{misshapen()}
                               : yolov8_boxes(values, side(view, 0), side(view, 1), limits);
    const auto scores = of_sample(outputs[plan_->scores_output], sample, plan_->result_per_sample);
    if (
      side(view, 1) != 4 || scores.shape.size() != 2 || scores.shape[0] != view.shape[0]
      || scores.shape[1] < 1)
      return misshapen();
    return ssd_boxes(
      values, floats_of(scores, more_scratch_), side(scores, 1), plan_->output.ssd, slot, limits);
  }();
  if (!found)
    return found.error();
  auto result = make_recycled<inference>();
  result->boxes = in_frame(suppress(*found, limits), geometry);
  return inference_ptr{std::move(result)};
}

} // namespace hyperframes
