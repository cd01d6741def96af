#pragma once

#include "actors/infer/model.hpp"
#include "runtime/description.hpp"

#include <cstdint>
#include <optional>
#include <vector>

/// Faults on request: what the workers of an `infer` stage do wrong because it carries `faults:`.
///
///   infer: { type: infer, ..., faults: [
///     { kind: hang, at: [100] },
///     { kind: slow, rate: 0.05, by: 80ms, seed: 3 } ] }
namespace hyperframes {

enum class worker_fault_kind : std::uint8_t {
  slow,        ///< the batch takes `by` longer
  failing,     ///< "throw": the model throws whenever the batch's first valid frame is in the run
  wrong_shape, ///< it gives too few results then
  hang,        ///< the call does not return
  vanish,      ///< the worker is gone
};
const char* to_string(worker_fault_kind k);

/// One entry of `faults`, checked.
struct worker_fault {
  worker_fault_kind kind = worker_fault_kind::slow;
  std::vector<std::uint64_t> at{}; ///< batch numbers, from 0
  std::optional<double> rate{};    ///< share of the batches, in place of `at`
  duration by{};
  std::uint32_t tries = 1; ///< of the same batch that it happens to
  std::uint64_t seed = 0;
};

/// The entries in `faults` of an infer stage; an entry without a seed takes the graph's.
std::vector<worker_fault> worker_faults_of(const settings& config, std::uint64_t seed);
parameter worker_faults_parameter();
void check_worker_faults(const settings& config, std::vector<fault>& faults);

/// @returns the first entry that hits try `tries` (from 0) of batch `number`, by a draw that depends on
/// the seed, the entry and the number only; null where none does.
const worker_fault* fault_at(const std::vector<worker_fault>& faults, std::uint64_t number, std::uint32_t tries);

/// A session whose runs fail as they are told. Used by one thread at a time.
class faulty_session final : public infer_session {
public:
  explicit faulty_session(std::unique_ptr<infer_session> inside) : inside_(std::move(inside)) {}
  /// From now on, until it is armed anew, `failing` or `wrong_shape` hits every run that holds the first
  /// valid slot of the next one.
  void arm(std::optional<worker_fault_kind> fault);
  expected<recycled_vector<inference_ptr>> run(const infer_input& input) override;

private:
  std::unique_ptr<infer_session> inside_;
  std::optional<worker_fault_kind> fault_;
  const std::byte* hit_ = nullptr; ///< the slot
};

} // namespace hyperframes
