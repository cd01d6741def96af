#pragma once

#include "runtime/frame.hpp"

#include <optional>

namespace hyperframes {

/// True where a stream's frames are vectors that can be interpolated: tensors of float32.
bool can_interpolate(const media_type* media);
/// @returns the bytes of such a vector.
std::size_t vector_bytes(const media_type& media);

/// Makes sensor vectors for moments at which the sensor gave none.
///
/// The results lie in a pool of its own, made with the first of them; while all its slots are in
/// use there are none. Not thread-safe.
class vector_interpolator {
public:
  /// Interpolated vectors that may be in use at once, each as large as the group's largest.
  static constexpr std::size_t slots_of_a_group = 256;
  explicit vector_interpolator(std::size_t slots) : slots_(slots) {}

  /// v = v_a + share * (v_b - v_a), element by element, and so the times; the rest is that of `a`,
  /// flagged `frame_interpolated`.
  /// @param share 0 to 1. @returns none where the two are not of one epoch and shape, one of them
  /// is corrupt or empty, or no slot is free.
  std::optional<frame> between(const frame& a, const frame& b, double share);

private:
  std::size_t slots_;
  buffer_pool pool_;
};

} // namespace hyperframes
