#include "actors/infer/backends.hpp"
#include "actors/infer/network.hpp"
#include "actors/infer/onnx_header.hpp"

#include <onnxruntime_cxx_api.h>

#include <mutex>

namespace hyperframes {

namespace {

/// One for the process, as ONNX Runtime wants it. Never destroyed: sessions may outlive main.
const Ort::Env& environment() {
  static const auto* env = new Ort::Env(ORT_LOGGING_LEVEL_FATAL, "hyperframes");
  return *env;
}

error failed(const std::string& file, const std::string& what, const Ort::Exception& e) {
  return make_error(errc::model_failed, file, what + ": " + e.what());
}

ONNXTensorElementDataType onnx_type(data_type type) {
  switch (type) {
    case data_type::float32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case data_type::float16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case data_type::uint8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case data_type::int32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case data_type::int64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

Ort::Session open_session(const std::string& file, int threads) {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(threads);
  options.SetInterOpNumThreads(1);
  options.SetExecutionMode(ORT_SEQUENTIAL);
  // Threads that spin while they wait take the cores from decoding and packing.
  options.AddConfigEntry("session.intra_op.allow_spinning", "0");
  options.AddConfigEntry("session.inter_op.allow_spinning", "0");
  return {environment(), file.c_str(), options};
}

network_value value_of(std::string name, const Ort::TypeInfo& info) {
  network_value value;
  value.name = std::move(name);
  if (info.GetONNXType() != ONNX_TYPE_TENSOR)
    return value;
  const auto tensor = info.GetTensorTypeAndShapeInfo();
  value.type = type_from_onnx(static_cast<int>(tensor.GetElementType()));
  value.shape = tensor.GetShape();
  for (auto& side : value.shape)
    side = side < 0 ? -1 : side;
  return value;
}

network_facts facts_of(const Ort::Session& session, const std::string& file) {
  network_facts facts;
  facts.backend = "onnxruntime";
  facts.file = file;
  Ort::AllocatorWithDefaultOptions allocator;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i)
    facts.inputs.push_back(
      value_of(session.GetInputNameAllocated(i, allocator).get(), session.GetInputTypeInfo(i)));
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i)
    facts.outputs.push_back(
      value_of(session.GetOutputNameAllocated(i, allocator).get(), session.GetOutputTypeInfo(i)));
  const auto metadata = session.GetModelMetadata();
  if (const auto names = metadata.LookupCustomMetadataMapAllocated("names", allocator))
    facts.class_names = names_in_metadata(names.get());
  return facts;
}

class onnxruntime_executor final : public network_executor {
public:
  onnxruntime_executor(std::shared_ptr<const network_plan> plan, Ort::Session session)
    : plan_(std::move(plan)),
      session_(std::move(session)),
      memory_(Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault)) {
    for (const auto& v : plan_->facts.inputs)
      input_names_.push_back(v.name.c_str());
    for (const auto& v : plan_->facts.outputs)
      output_names_.push_back(v.name.c_str());
  }

  expected<std::span<const tensor_view>> execute(const network_input& input) override try {
    inputs_.clear();
    prepare_further(input.samples);
    auto next = further_.begin();
    for (std::size_t i = 0; i < input_names_.size(); ++i)
      inputs_.push_back(i == plan_->frames_input ? frames(input) : next++->view(memory_));
    outputs_.clear();
    for (std::size_t i = 0; i < output_names_.size(); ++i)
      outputs_.emplace_back(nullptr); // the run makes them
    session_.Run(
      Ort::RunOptions{nullptr}, input_names_.data(), inputs_.data(), inputs_.size(),
      output_names_.data(), outputs_.data(), outputs_.size());
    shapes_.resize(outputs_.size());
    views_.resize(outputs_.size());
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const auto info = outputs_[i].GetTensorTypeAndShapeInfo();
      shapes_[i].resize(info.GetDimensionsCount());
      // GetShape would allocate
      Ort::ThrowOnError(Ort::GetApi().GetDimensions(info, shapes_[i].data(), shapes_[i].size()));
      const auto type = type_from_onnx(static_cast<int>(info.GetElementType()));
      if (!type)
        return make_error(
          errc::model_failed, plan_->facts.file,
          "output '" + plan_->facts.outputs[i].name + "' has a type that results cannot hold");
      views_[i] = {
        plan_->facts.outputs[i].name, *type, shapes_[i],
        static_cast<const std::byte*>(outputs_[i].GetTensorRawData())};
    }
    return std::span<const tensor_view>{views_};
  } catch (const Ort::Exception& e) {
    return failed(plan_->facts.file, "the run failed", e);
  }

  Ort::Session take_session() && { return std::move(session_); }

private:
  struct held_value {
    data_type type;
    std::vector<std::byte> bytes;
    std::vector<std::int64_t> shape;
    Ort::Value view(const Ort::MemoryInfo& memory) {
      return Ort::Value::CreateTensor(
        memory, bytes.data(), bytes.size(), shape.data(), shape.size(), onnx_type(type));
    }
  };

  /// The caller's memory, not copied; ONNX Runtime does not write to inputs.
  Ort::Value frames(const network_input& input) {
    shape_of(*plan_, input, frames_shape_);
    std::size_t bytes = size_of(plan_->pack.type);
    for (auto side : frames_shape_)
      bytes *= static_cast<std::size_t>(side);
    return Ort::Value::CreateTensor(
      memory_, const_cast<std::byte*>(input.data), bytes, frames_shape_.data(),
      frames_shape_.size(), onnx_type(plan_->pack.type));
  }

  void prepare_further(std::uint32_t samples) {
    if (further_.size() == plan_->further.size() && samples == further_samples_)
      return;
    further_.clear();
    for (const auto& f : plan_->further) {
      auto [bytes, shape] = values_of(f, samples);
      further_.push_back({f.type, std::move(bytes), std::move(shape)});
    }
    further_samples_ = samples;
  }

  std::shared_ptr<const network_plan> plan_;
  Ort::Session session_;
  Ort::MemoryInfo memory_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<std::int64_t> frames_shape_;
  std::vector<held_value> further_;
  std::uint32_t further_samples_ = 0;
  std::vector<Ort::Value> inputs_, outputs_;
  std::vector<std::vector<std::int64_t>> shapes_;
  std::vector<tensor_view> views_;
};

/// The session that read the model's shapes; the first worker takes it over.
struct spare_session {
  std::mutex guard;
  std::optional<Ort::Session> session;
};

} // namespace

expected<model_ptr> load_onnxruntime(const model_settings& s) try {
  if (!s.config.empty())
    return make_error(
      errc::model_failed, s.model, "`config` is for backend opencv, an ONNX model is one file");
  auto session = open_session(s.model, s.threads);
  auto planned = plan_network(facts_of(session, s.model), s);
  if (!planned)
    return planned.error();
  auto plan = std::make_shared<const network_plan>(planned->plan);
  if (planned->output_shapes_open) {
    onnxruntime_executor trial(plan, std::move(session));
    auto observed = with_observed_outputs(*plan, trial);
    if (!observed)
      return observed.error();
    planned = plan_network(std::move(*observed), s);
    if (!planned)
      return planned.error();
    plan = std::make_shared<const network_plan>(planned->plan);
    session = std::move(trial).take_session();
  }
  auto spare = std::make_shared<spare_session>();
  spare->session = std::move(session);
  return model_ptr{std::make_shared<network_model>(
    plan, [plan, spare]() -> expected<std::unique_ptr<network_executor>> {
      try {
        std::optional<Ort::Session> taken;
        {
          const std::lock_guard lock(spare->guard);
          taken = std::exchange(spare->session, std::nullopt);
        }
        if (!taken)
          taken = open_session(plan->facts.file, plan->threads);
        return std::unique_ptr<network_executor>(new onnxruntime_executor(plan, std::move(*taken)));
      } catch (const Ort::Exception& e) {
        return failed(plan->facts.file, "ONNX Runtime cannot open it", e);
      }
    })};
} catch (const Ort::Exception& e) {
  return failed(s.model, "ONNX Runtime cannot read it", e);
}

} // namespace hyperframes
