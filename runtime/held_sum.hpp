#pragma once

#include <cstdint>

namespace hyperframes {

/// How many frames the parts of a stage hold together (bundlers, aligners, streams in order),
/// however many parts there are: whoever lets a part work has a `change` around that, and no part
/// is asked that did nothing.
///
///   const held_sum::change counts{held_, part};
///   part.add(...);
class held_sum {
public:
  std::uint64_t frames() const noexcept { return frames_; }

  /// While it lives, `part`, whose `held_frames` says what it holds, may take frames in and let
  /// them go; it may throw. One `change` at a time for a part.
  template <class Part>
  class change {
  public:
    change(held_sum& sum, const Part& part) noexcept
      : sum_(sum), part_(part), before_(part.held_frames()) {}
    ~change() { sum_.frames_ += part_.held_frames() - before_; }
    change(const change&) = delete;
    change& operator=(const change&) = delete;

  private:
    held_sum& sum_;
    const Part& part_;
    std::uint64_t before_;
  };

private:
  std::uint64_t frames_ = 0;
};

} // namespace hyperframes
