#include "actors/pack/rows.hpp"

#ifdef HYPERFRAMES_WITH_AVX2
#include "actors/pack/rows_avx2.hpp"

#include <cpuid.h>
#endif

namespace hyperframes {

const row_kernels& rows_for([[maybe_unused]] instruction_sets machine) noexcept {
#ifdef HYPERFRAMES_WITH_AVX2
  if (machine.avx2 && machine.f16c)
    return avx2_rows;
#endif
  return portable_rows;
}

const row_kernels& fastest_rows() noexcept {
#ifdef HYPERFRAMES_WITH_AVX2
  // Not every compiler's __builtin_cpu_supports knows F16C.
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  return rows_for({__builtin_cpu_supports("avx2") != 0, f16c});
#else
  return rows_for({});
#endif
}

} // namespace hyperframes
