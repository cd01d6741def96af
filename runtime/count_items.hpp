#pragma once

#include "runtime/item.hpp"
#include "runtime/telemetry.hpp"

#include <cstdint>

/// What passing items tell of a graph's work.
namespace hyperframes {

/// Frames whose pixels a stage has written to make `i`: a source writes what it captures, a bundler
/// what it packs. (Context that a bundler repeats is counted as a copy.)
std::uint64_t pixel_writes_of(const item& i, bool source);

/// Counts how full a batch is that goes to a model.
/// @param wish slots that the model's batches may have.
void count_batch(const batch& b, std::uint32_t wish, telemetry& numbers);

/// Counts where the time of a delivered frame went, and whether its class is the true one.
void count_delivered(const frame_result& r, telemetry& numbers);

} // namespace hyperframes
