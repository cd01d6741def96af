#pragma once

#include <bit>
#include <cstdint>

/// IEEE 754 binary16 as bits, rounded to nearest even; without branches, so that loops over it
/// become vector code. After Fabian Giesen, "float->half variants" (public domain, 2016).
namespace hyperframes {

inline std::uint16_t half_from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits & 0x80000000U;
  const std::uint32_t magnitude = bits ^ sign;
  // Adding 0.5 lets the float unit shift and round what becomes denormal.
  const std::uint32_t denormal =
    std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  const std::uint32_t normal = (magnitude + 0xc8000fffU + odd) >> 13;
  const std::uint32_t special = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
  std::uint32_t half = magnitude < 0x38800000U ? denormal : normal;
  half = magnitude >= 0x47800000U ? special : half;
  return static_cast<std::uint16_t>(half | (sign >> 16));
}

inline float float_from_half(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  // 2^112 makes up for the difference of the exponents' biases, denormals included.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(scaled);
  bits = magnitude >= 0x7c00U ? bits | 0x7f800000U : bits;
  return std::bit_cast<float>(bits | sign);
}

} // namespace hyperframes
