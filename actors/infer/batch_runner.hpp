#pragma once

#include "actors/infer/model.hpp"
#include "runtime/hyperframe.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes {

/// What became of one batch.
struct batch_outcome {
  /// One for each part of the batch; slots outside of the part own nothing in its descriptor.
  recycled_vector<std::shared_ptr<result>> results;
  std::size_t bytes_copied = 0;   ///< to bring the parts' tensors together
  std::vector<std::string> errors; ///< why frames failed, each sentence once
  std::string lost;                ///< why the worker cannot go on; then there are no results
  lost_by cause = lost_by::batch;  ///< of that
};

/// A result that owns the part's frames only: the rest of a split hyperframe comes with other parts.
/// Its slots are empty.
std::shared_ptr<result>
result_of(const batch& work, const batch::part& part, const label_names& labels);

/// Runs batches on one session. What fails is cut in half until the frame that the model cannot take
/// stands alone; that one is tried once more and then ends as `failed (inference)`, the others get
/// their results.
///
/// Parts whose tensors are neighbours run without a copy. Not thread-safe: one per worker.
class batch_runner {
public:
  batch_runner(model_ptr model, std::unique_ptr<infer_session> session);

  /// Throws `worker_lost` where the session does.
  batch_outcome run(const batch& work);

  /// Runs `slots` empty slots through the whole path. @returns why that failed, if it did.
  expected<void> warm_up(std::uint32_t slots, std::uint32_t width, std::uint32_t height);

private:
  struct place {
    std::size_t part = 0;
    std::uint32_t slot = 0; ///< of its hyperframe
  };
  void run_together(const batch& work, std::size_t first_part, std::size_t parts, batch_outcome& into);
  void bisect(std::size_t first, std::size_t count, std::size_t unit, batch_outcome& into);
  expected<recycled_vector<inference_ptr>> try_run(std::size_t first, std::size_t count);
  void take(std::size_t first, std::size_t count, const recycled_vector<inference_ptr>& inferred,
            std::size_t unit, batch_outcome& into);
  void reject(std::size_t first, std::size_t count, batch_outcome& into);
  std::span<const std::byte> bring_together(const batch& work, std::size_t first_part,
                                            std::size_t parts, std::size_t slot_bytes,
                                            std::size_t& copied);

  model_ptr model_;
  std::unique_ptr<infer_session> session_;
  // Of the run in hand: all its slots, in order.
  std::vector<place> places_;
  std::vector<slot_geometry> geometry_;
  std::vector<std::uint8_t> valid_;
  std::span<const std::byte> data_;
  std::size_t slot_bytes_ = 0;
  std::uint32_t width_ = 0, height_ = 0;
  std::vector<std::byte> scratch_;
};

} // namespace hyperframes
