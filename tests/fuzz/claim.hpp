#pragma once

#include <cstdio>
#include <cstdlib>

namespace hyperframes::test {

/// Ends the process where what a fuzz target claims of its result does not hold.
inline void claim(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

} // namespace hyperframes::test
