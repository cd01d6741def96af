#pragma once

#include "actors/pack/rows.hpp"

namespace hyperframes {

/// For x86 machines with AVX2 and F16C only: ask `fastest_rows`.
extern const row_kernels avx2_rows;

} // namespace hyperframes
