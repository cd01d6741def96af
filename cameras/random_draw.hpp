#pragma once

#include <cstdint>

namespace hyperframes {

/// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood: "Fast
/// splittable pseudorandom number generators", 2014). Made anew for each frame from the seed and
/// the frame's index, so that frame n needs none of the frames before it.
class random_draw {
public:
  explicit random_draw(std::uint64_t seed, std::uint64_t index = 0) noexcept
    : state_(mixed(seed + 0x9e3779b97f4a7c15) ^ mixed(index * 0xd1342543de82ef95 + 1)) {}

  std::uint64_t bits() noexcept { return mixed(state_ += 0x9e3779b97f4a7c15); }
  /// 0 <= x < 1.
  double unit() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// least <= x < most.
  double between(double least, double most) noexcept { return least + (most - least) * unit(); }
  /// 0 <= x < n.
  int below(int n) noexcept { return static_cast<int>(unit() * n); }

private:
  static constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

} // namespace hyperframes
