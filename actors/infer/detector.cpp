#include "actors/infer/detector.hpp"

#include "actors/infer/postprocess.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

class detector_session final : public infer_session {
public:
  detector_session(
    std::string name, pack_spec pack, std::uint32_t most, std::unique_ptr<detector> made)
    : name_(std::move(name)), pack_(pack), most_(most), detector_(std::move(made)) {}

  expected<recycled_vector<inference_ptr>> run(const infer_input& input) override try {
    auto pack = pack_;
    if (pack.width == 0) {
      pack.width = input.width;
      pack.height = input.height;
    }
    if (pack.width == 0 || pack.height == 0)
      return refuse("takes frames of any size, so a batch must say which size it has");
    if (
      input.data.size() < pack.slot_bytes() * input.slots || input.geometry.size() != input.slots
      || (!input.valid.empty() && input.valid.size() != input.slots))
      return refuse(
        "expected " + std::to_string(pack.slot_bytes())
        + " bytes, a geometry and a mask for each of " + std::to_string(input.slots) + " slots");
    recycled_vector<inference_ptr> results(input.slots);
    for (std::uint32_t s = 0; s < input.slots; ++s) {
      if (!input.valid.empty() && !input.valid[s])
        continue;
      const auto* pixels = input.data.data() + s * pack.slot_bytes();
      const cv::Mat picture(
        static_cast<int>(pack.height), static_cast<int>(pack.width),
        CV_8UC(static_cast<int>(pack.channel_count())), const_cast<std::byte*>(pixels));
      auto result = make_recycled<inference>();
      auto found = detector_->find(picture);
      std::stable_sort(
        found.begin(), found.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
      found.resize(std::min<std::size_t>(found.size(), most_));
      result->boxes = in_frame(std::move(found), input.geometry[s]);
      results[s] = std::move(result);
    }
    return results;
  } catch (const cv::Exception& e) {
    return refuse("the run failed: " + e.err);
  }

private:
  error refuse(std::string sentence) const {
    return make_error(errc::model_failed, name_, std::move(sentence));
  }

  std::string name_;
  pack_spec pack_;
  std::uint32_t most_;
  std::unique_ptr<detector> detector_;
};

class detector_model final : public model {
public:
  detector_model(
    std::string name, pack_spec pack, std::uint32_t most, label_names labels, detector_factory make)
    : name_(std::move(name)),
      pack_(pack),
      most_(most),
      labels_(std::move(labels)),
      make_(std::move(make)) {}

  std::string summary() const override {
    const char* colours[] = {"rgb", "bgr", "gray"};
    return name_ + ", " + colours[static_cast<std::size_t>(pack_.channels)] + " frames"
           + (pack_.width ? " as " + std::to_string(pack_.width) + 'x' + std::to_string(pack_.height) : " at their own size");
  }
  const pack_spec& input() const override { return pack_; }
  std::uint32_t fixed_batch() const override { return 0; }
  std::uint32_t time_axis() const override { return 0; }
  bool result_per_slot() const override { return true; }
  label_names labels() const override { return labels_; }
  expected<std::unique_ptr<infer_session>> make_session() const override {
    try {
      return std::unique_ptr<infer_session>(new detector_session(name_, pack_, most_, make_()));
    } catch (const failure& e) {
      return e.what_failed();
    } catch (const cv::Exception& e) {
      return make_error(errc::model_failed, name_, "cannot be made: " + e.err);
    }
  }

private:
  std::string name_;
  pack_spec pack_;
  std::uint32_t most_;
  label_names labels_;
  detector_factory make_;
};

} // namespace

detection detection_from(const cv::Rect& box, float score) {
  return {
    static_cast<float>(box.x),
    static_cast<float>(box.y),
    static_cast<float>(box.width),
    static_cast<float>(box.height),
    score,
    0};
}

expected<model_ptr> make_detector_model(
  const model_settings& s, std::string name, channel_order colour, std::vector<std::string> labels,
  detector_factory make) {
  const auto& in = s.input;
  if (
    in.scale || !in.mean.empty() || !in.std.empty() || in.layout || !in.name.empty() || in.time
    || !in.values.empty())
    return make_error(
      errc::model_failed, name,
      "takes pictures as they are: only `size`, `color`, `fit` and `pad` of `input` can be set");
  cv::setNumThreads(s.threads);
  pack_spec pack;
  pack.channels = in.color.value_or(colour);
  pack.layout = tensor_layout::nhwc;
  pack.type = data_type::uint8;
  pack.scale = 1;
  pack.fit = in.fit.value_or(fit_mode::stretch);
  pack.pad_value = in.pad;
  if (in.size) {
    pack.width = in.size->width;
    pack.height = in.size->height;
  }
  if (s.output.labels) {
    auto read = read_labels(*s.output.labels, s.folder);
    if (!read)
      return make_error(errc::model_failed, read.error().where, read.error().message);
    labels = std::move(*read);
  }
  label_names names;
  if (!labels.empty())
    names = std::make_shared<const std::vector<std::string>>(std::move(labels));
  auto made = std::make_shared<detector_model>(
    std::move(name), pack, s.output.limits.max, std::move(names), std::move(make));
  if (auto trial = made->make_session(); !trial)
    return trial.error();
  return model_ptr{std::move(made)};
}

} // namespace hyperframes
