#include "actors/infer/backends.hpp"
#include "actors/infer/network.hpp"
#include "actors/infer/onnx_header.hpp"

#include <opencv2/core/utils/logger.hpp>
#include <opencv2/dnn.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>

namespace hyperframes {

namespace {

/// OpenCV's readers print what they also throw; only what is thrown is wanted. The level is the
/// process's: one reader at a time.
class quiet_opencv {
public:
  quiet_opencv()
    : lock_(guard()),
      before_(cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT)) {}
  ~quiet_opencv() { cv::utils::logging::setLogLevel(before_); }
  quiet_opencv(const quiet_opencv&) = delete;
  quiet_opencv& operator=(const quiet_opencv&) = delete;

private:
  static std::mutex& guard() {
    static std::mutex m;
    return m;
  }

  std::lock_guard<std::mutex> lock_;
  cv::utils::logging::LogLevel before_;
};

/// The first sentence of what OpenCV says; the rest is a list of its layers.
std::string sentence_of(const cv::Exception& e) {
  auto text = e.err.substr(0, e.err.find('\n'));
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text.empty() ? e.func + " failed" : text;
}

bool is_onnx(const std::string& file) {
  return std::filesystem::path{file}.extension() == ".onnx";
}

expected<cv::dnn::Net> open_net(const std::string& file, const std::string& config) {
  std::string reason = "it holds no layers";
  try {
    const quiet_opencv quiet;
    auto net = cv::dnn::readNet(file, config);
    if (!net.empty()) {
      net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
      net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
      return net;
    }
  } catch (const cv::Exception& e) {
    reason = sentence_of(e);
  }
  return make_error(
    errc::model_failed, file,
    "OpenCV " + cv::getVersionString() + " cannot read this model (" + reason
      + "): use backend onnxruntime, or export the model again, simplified or with an older opset");
}

/// Shapes of the outputs for one sample, where OpenCV knows them without a run.
void add_opencv_outputs(cv::dnn::Net& net, const cv::dnn::MatShape& input, network_facts& facts) {
  const auto ids = net.getUnconnectedOutLayers();
  const auto names = net.getUnconnectedOutLayersNames();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    network_value out{names[i], data_type::float32, {}};
    try {
      std::vector<cv::dnn::MatShape> in, shapes;
      net.getLayerShapes(input, ids[i], in, shapes);
      if (!shapes.empty())
        out.shape.assign(shapes[0].begin(), shapes[0].end());
    } catch (const cv::Exception&) {
      out.shape = {-1, -1}; // only a run can tell
    }
    // Formats other than ONNX have no fixed number of samples.
    if (!out.shape.empty() && !(out.shape.size() == 4 && out.shape[1] == 1 && out.shape[3] == 7))
      out.shape[0] = -1;
    facts.outputs.push_back(std::move(out));
  }
}

/// OpenCV takes float32 and converts by itself, whatever the file declares.
void as_float32(std::vector<network_value>& values) {
  for (auto& v : values)
    if (v.type)
      v.type = data_type::float32;
}

expected<network_facts> facts_of(cv::dnn::Net& net, const model_settings& s) {
  network_facts facts;
  facts.backend = "opencv";
  facts.file = s.model;
  if (is_onnx(s.model)) {
    std::ifstream in(s.model, std::ios::binary);
    auto header = read_onnx_header(in);
    if (!header)
      return make_error(errc::model_failed, s.model, header.error().message);
    facts.inputs = std::move(header->inputs);
    facts.outputs = std::move(header->outputs);
    facts.class_names = std::move(header->class_names);
    as_float32(facts.inputs);
    as_float32(facts.outputs);
    return facts;
  }
  if (!s.input.size)
    return make_error(
      errc::model_failed, s.model,
      "this format does not tell the size of the input: set `input.size`");
  const int channels = s.input.color == channel_order::gray ? 1 : 3;
  const int width = static_cast<int>(s.input.size->width),
            height = static_cast<int>(s.input.size->height);
  facts.inputs.push_back({"", data_type::float32, {-1, channels, height, width}});
  add_opencv_outputs(net, {1, channels, height, width}, facts);
  return facts;
}

class opencv_executor final : public network_executor {
public:
  opencv_executor(std::shared_ptr<const network_plan> plan, cv::dnn::Net net)
    : plan_(std::move(plan)), net_(std::move(net)) {
    for (const auto& v : plan_->facts.outputs)
      names_.push_back(v.name);
  }

  expected<std::span<const tensor_view>> execute(const network_input& input) override try {
    shape_of(*plan_, input, frames_shape_);
    set_input(plan_->facts.inputs[plan_->frames_input].name, frames_shape_, input.data);
    for (auto further : plan_->further) {
      further.type = data_type::float32;
      const auto [bytes, shape] = values_of(further, input.samples);
      set_input(further.name, shape, bytes.data());
    }
    net_.forward(outputs_, names_);
    shapes_.resize(outputs_.size());
    views_.resize(outputs_.size());
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].isContinuous())
        outputs_[i] = outputs_[i].clone();
      shapes_[i] = shape_seen(i, input.samples);
      views_[i] = {
        plan_->facts.outputs[i].name, data_type::float32, shapes_[i],
        reinterpret_cast<const std::byte*>(outputs_[i].data)};
      if (outputs_[i].depth() != CV_32F)
        return make_error(
          errc::model_failed, plan_->facts.file,
          "output '" + names_[i] + "' is not float32, which OpenCV is expected to give");
    }
    return std::span<const tensor_view>{views_};
  } catch (const cv::Exception& e) {
    return make_error(errc::model_failed, plan_->facts.file, "the run failed: " + sentence_of(e));
  }

private:
  /// OpenCV copies what it is given.
  void set_input(
    const std::string& name, const std::vector<std::int64_t>& shape, const std::byte* data) {
    std::vector<int> sides(shape.begin(), shape.end());
    if (sides.empty())
      sides = {1, 1};
    net_.setInput(cv::Mat(sides, CV_32F, const_cast<std::byte*>(data)), name);
  }

  /// The declared shape where it agrees with what came: OpenCV's matrices have two axes at least.
  std::vector<std::int64_t> shape_seen(std::size_t output, std::uint32_t samples) const {
    const auto& mat = outputs_[output];
    auto declared = plan_->facts.outputs[output].shape;
    if (!declared.empty() && declared[0] < 0)
      declared[0] = samples;
    const bool known = std::all_of(declared.begin(), declared.end(), [](auto n) { return n >= 0; });
    if (known && tensor_view{{}, data_type::float32, declared, nullptr}.elements() == mat.total())
      return declared;
    return {mat.size.p, mat.size.p + mat.dims};
  }

  std::shared_ptr<const network_plan> plan_;
  cv::dnn::Net net_;
  std::vector<cv::String> names_;
  std::vector<cv::Mat> outputs_;
  std::vector<std::int64_t> frames_shape_;
  std::vector<std::vector<std::int64_t>> shapes_;
  std::vector<tensor_view> views_;
};

} // namespace

expected<model_ptr> load_opencv(const model_settings& s) try {
  cv::setNumThreads(s.threads);
  auto net = open_net(s.model, s.config);
  if (!net)
    return net.error();
  auto facts = facts_of(*net, s);
  if (!facts)
    return facts.error();
  auto planned = plan_network(std::move(*facts), s);
  if (!planned)
    return planned.error();
  auto plan = std::make_shared<const network_plan>(planned->plan);
  if (planned->output_shapes_open) {
    opencv_executor trial(plan, *net);
    auto observed = with_observed_outputs(*plan, trial);
    if (!observed)
      return observed.error();
    planned = plan_network(std::move(*observed), s);
    if (!planned)
      return planned.error();
    plan = std::make_shared<const network_plan>(planned->plan);
  }
  return model_ptr{std::make_shared<network_model>(
    plan, [plan, config = s.config]() -> expected<std::unique_ptr<network_executor>> {
      auto own = open_net(plan->facts.file, config);
      if (!own)
        return own.error();
      return std::unique_ptr<network_executor>(new opencv_executor(plan, std::move(*own)));
    })};
} catch (const cv::Exception& e) {
  return make_error(errc::model_failed, s.model, "OpenCV cannot use this model: " + sentence_of(e));
}

} // namespace hyperframes
