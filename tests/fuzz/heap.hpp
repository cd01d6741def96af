#pragma once

#include "tests/fuzz/claim.hpp"

#include <cstddef>

/// What a fuzz target takes of the heap by `new`; for targets that are linked with heap.cpp.
namespace hyperframes::test {

std::size_t heap_bytes();      ///< that are in use
std::size_t most_heap_bytes(); ///< that were in use at once since `forget_most_heap_bytes`
void forget_most_heap_bytes();

/// What is read of a message may take so many bytes for each of its own: an empty text takes one
/// byte there and 32 here, three times where a list of them grows. Beside it stands what is kept
/// for the next one.
class bounded_heap {
public:
  explicit bounded_heap(std::size_t message) : message_(message) { forget_most_heap_bytes(); }
  bounded_heap(const bounded_heap&) = delete;
  bounded_heap& operator=(const bounded_heap&) = delete;
  ~bounded_heap() {
    claim(
      most_heap_bytes() - before_ <= message_ * 128 + (std::size_t{1} << 20),
      "what is taken is bounded by what came");
  }

private:
  std::size_t message_, before_ = heap_bytes();
};

} // namespace hyperframes::test
