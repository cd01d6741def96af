#pragma once

#include "runtime/description.hpp"
#include "runtime/error.hpp"
#include "runtime/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace hyperframes {

/// What a session is asked to infer on: `slots` slots of one tensor, in order.
struct infer_input {
  std::span<const std::byte> data; ///< [slots, slot...] as `model::input()` wants it
  std::uint32_t slots = 0;
  std::span<const slot_geometry> geometry; ///< [slots]
  std::span<const std::uint8_t> valid;     ///< [slots], the mask: 0 where the slot is padding
  /// Pixels of a slot (`hyperframe::pack`); needed only where `model::input()` leaves them open.
  std::uint32_t width = 0, height = 0;
};

/// What a batch has to do with the loss of the worker that it was given to.
enum class lost_by : std::uint8_t {
  batch,  ///< the worker itself went, at the batch
  node,   ///< its node went while it was at the batch
  nobody, ///< it was gone before the batch came to it
};

/// Thrown by a session that cannot go on: its worker is replaced. Whether the batch is tried again is
/// `worker_pool`'s to say.
class worker_lost : public std::runtime_error {
public:
  explicit worker_lost(const std::string& why, lost_by cause = lost_by::batch)
    : std::runtime_error(why), cause_(cause) {}
  lost_by cause() const { return cause_; }

private:
  lost_by cause_;
};

/// A loaded network on one device, used by one thread at a time.
class infer_session {
public:
  virtual ~infer_session() = default;
  /// @returns one inference per slot, none for slots that are not valid; where slots share a
  /// result, it stands on the last valid one of them.
  /// An error says why the batch failed; the session can be used again. A model that gives NaN
  /// for one slot fails the batch, so that bisecting finds that slot.
  virtual expected<recycled_vector<inference_ptr>> run(const infer_input& input) = 0;
};

/// What a graph knows of a model before it runs. Immutable, shared by its sessions.
class model {
public:
  virtual ~model() = default;
  virtual std::string
  summary() const = 0; ///< "onnxruntime parts.onnx [N,3,64,64] float32 -> [N,4]"
  virtual const pack_spec& input() const = 0;    ///< width and height 0: the frames' own size
  virtual std::uint32_t fixed_batch() const = 0; ///< slots per run; 0: any
  virtual std::uint32_t time_axis() const = 0;   ///< T of [N, T, C, H, W]; 0: none
  /// False: slots share results, one for each run of `time_axis()` slots or, without a time axis,
  /// one for all slots of a `run`, which must then be given exactly one hyperframe.
  virtual bool result_per_slot() const = 0;
  virtual label_names labels() const = 0; ///< null where unknown
  /// Time that a run of `slots` slots takes of a device that does not exist: whoever runs it waits so
  /// long, off the CPU. None: the device is real.
  virtual std::optional<duration> simulated_time(std::uint32_t /*slots*/) const { return std::nullopt; }
  /// Makes a session; called on the thread that will use it. May take seconds.
  virtual expected<std::unique_ptr<infer_session>> make_session() const = 0;
};
using model_ptr = std::shared_ptr<const model>;

/// What this build can infer with, as `backend:` takes it: "onnxruntime" only where it was found.
const std::vector<std::string>& model_backends();

/// The parameters of the `infer` stage that concern the model: backend, model, config, input,
/// output, detector, threads.
const std::vector<parameter>& model_parameters();

/// Reads the model's file and checks that it can be used as the settings say.
/// @param folder that relative paths start from.
/// @returns the model, or `errc::model_failed` with a sentence that says what was expected,
/// what was found and the likely fix.
expected<model_ptr> load_model(const settings& infer_settings, const std::string& folder);

} // namespace hyperframes
