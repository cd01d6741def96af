#pragma once

#include "cameras/film.hpp"
#include "cameras/film_player.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyperframes {

/// Where a film can be cut: at key frames before which nothing is decoded that is shown behind
/// them. Found by reading the packets of the whole film once, without decoding.
class film_index {
public:
  /// @param film freshly opened; stands at its end afterwards.
  /// @returns an index of one piece where times are missing, so that it cannot be cut.
  static film_index of(const film& film, const std::atomic<bool>& interrupted);

  std::size_t pieces() const { return cuts_.size(); }
  std::uint64_t packets() const { return packets_; }
  /// Packets from the beginning of a piece to the end of the film.
  std::uint64_t packets_from(std::size_t piece) const;
  /// The segment that holds the pieces `begin` to `end - 1`.
  film_segment segment(std::size_t begin, std::size_t end) const;

private:
  struct cut {
    std::int64_t seek = 0, pts = 0;
    std::uint64_t first = 0; ///< packets before it
    std::uint64_t leading =
      0; ///< packets from it on that hold pictures shown before it, and all between
  };
  std::vector<cut> cuts_;
  std::uint64_t packets_ = 0;
};

} // namespace hyperframes
