#pragma once

#include "actors/infer/model.hpp"
#include "actors/infer/model_settings.hpp"
#include "actors/infer/postprocess.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What all backends that run networks share: from the shapes of a model and the settings to a
/// plan, from batches of slots to runs of the network, from outputs to results. A backend adds a
/// reader of shapes and a `network_executor`.
namespace hyperframes {

/// An input or output as the model's file declares it.
struct network_value {
  std::string name;
  std::optional<data_type> type;   ///< none: a type that tensors cannot have here
  std::vector<std::int64_t> shape; ///< -1: open

  std::string to_string() const; ///< "image [N,3,64,64]"
};

struct network_facts {
  std::string backend;
  std::string file; ///< path
  std::vector<network_value> inputs;
  std::vector<network_value> outputs;
  std::vector<std::string> class_names; ///< from the file's metadata; empty: none
};

/// A further input with its value, of one sample or of all.
struct further_input {
  std::string name;
  data_type type = data_type::float32;
  std::vector<std::int64_t> shape; ///< the first side is -1 where it is the number of samples
  std::vector<float> values;       ///< of one sample where it is, else of the whole input
};

/// How a network is used. Immutable once made.
struct network_plan {
  network_facts facts;
  int threads = 1;

  std::size_t frames_input = 0;          ///< index into `facts.inputs`
  pack_spec pack;                        ///< width and height 0: the frames' own size
  std::vector<std::int64_t> input_shape; ///< first side: samples; -1 where open
  std::uint32_t fixed_samples = 0;       ///< 0: any
  std::uint32_t time_axis = 0;           ///< slots of a sample; 0: one, without an axis
  std::vector<further_input> further;

  bool result_per_sample = true;
  decode_kind decode = decode_kind::raw; ///< never `automatic`
  std::size_t decoded_output = 0;        ///< index; for ssd that of the boxes or the rows
  std::size_t scores_output = 0;         ///< ssd with two outputs
  model_settings::output_settings output;
  label_names labels;
  std::string labels_from; ///< where they come from, for the summary

  std::uint32_t slots_per_sample() const { return time_axis ? time_axis : 1; }
  std::string summary() const;
};

/// Makes a plan from what a model declares and what the settings say.
/// @returns the plan or an error whose sentence names what was expected and found.
/// Where `output_shapes_open` is true in the error-free case, `decode: auto` had to do without
/// shapes that only a run can tell: run once and call again with `facts` completed.
struct planned_network {
  network_plan plan;
  bool output_shapes_open = false;
};
expected<planned_network> plan_network(network_facts facts, const model_settings& from);

/// Samples of the frames' input for one run of the network.
struct network_input {
  const std::byte* data = nullptr;
  std::uint32_t samples = 0;
  std::uint32_t width = 0, height = 0; ///< of a slot
};

/// Runs a network on samples; one per session. Used by one thread at a time.
class network_executor {
public:
  virtual ~network_executor() = default;
  /// @returns the outputs, valid until the next call, in the order of `network_facts::outputs`.
  virtual expected<std::span<const tensor_view>> execute(const network_input& input) = 0;
};

/// The input's shape for a run of `input.samples`.
void shape_of(
  const network_plan& plan, const network_input& input, std::vector<std::int64_t>& shape);

/// A further input's values for a run of `samples`, as bytes of its type, and its shape.
std::pair<std::vector<std::byte>, std::vector<std::int64_t>>
values_of(const further_input& input, std::uint32_t samples);

/// Runs one sample of zeros to learn the shapes of the outputs: @returns `facts` with them,
/// first sides kept.
expected<network_facts> with_observed_outputs(const network_plan& plan, network_executor& executor);

/// Feeds batches of slots to an executor: leaves out what is masked, pads and splits to a fixed
/// number of samples, decodes. The input is copied only where samples that are left out lie
/// between others or a fixed number has to be filled up.
class network_session final : public infer_session {
public:
  network_session(
    std::shared_ptr<const network_plan> plan, std::unique_ptr<network_executor> executor);
  expected<recycled_vector<inference_ptr>> run(const infer_input& input) override;

private:
  struct work;
  /// One run of the network: samples [first, first + count) of `work::chosen`.
  std::optional<error> run_part(work& w, std::size_t first, std::size_t count);
  expected<inference_ptr> decode(
    std::span<const tensor_view> outputs, std::size_t sample, const slot_geometry& geometry,
    pixel_size slot);
  expected<inference_ptr> decode_boxes(
    std::span<const tensor_view> outputs, std::size_t sample, const slot_geometry& geometry,
    pixel_size slot);

  std::shared_ptr<const network_plan> plan_;
  std::unique_ptr<network_executor> executor_;
  std::vector<std::byte> gathered_;
  std::vector<float> scratch_, more_scratch_;
};

/// A network with its plan and a way to make executors.
class network_model final : public model {
public:
  using executor_factory = std::function<expected<std::unique_ptr<network_executor>>()>;
  network_model(std::shared_ptr<const network_plan> plan, executor_factory make)
    : plan_(std::move(plan)), make_(std::move(make)) {}

  std::string summary() const override { return plan_->summary(); }
  const pack_spec& input() const override { return plan_->pack; }
  std::uint32_t fixed_batch() const override {
    return plan_->fixed_samples * plan_->slots_per_sample();
  }
  std::uint32_t time_axis() const override { return plan_->time_axis; }
  bool result_per_slot() const override {
    return plan_->result_per_sample && plan_->time_axis == 0;
  }
  label_names labels() const override { return plan_->labels; }
  expected<std::unique_ptr<infer_session>> make_session() const override;

private:
  std::shared_ptr<const network_plan> plan_;
  executor_factory make_;
};

} // namespace hyperframes
