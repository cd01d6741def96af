#pragma once

#include "cameras/film_index.hpp"
#include "cameras/film_player.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hyperframes {

/// Decodes a film by segments side by side, and gives the pictures of a `film_player` in their
/// order.
///
/// A decoder that is free takes the next segment that nobody has: whole pieces of the film's index,
/// as many as make `ahead()` packets, and towards the end no more than half its share of what is
/// left, so that no segment holds up the end. It rests where `ahead()` of its pictures wait for
/// their turn, and begins no segment that is `decoders` or more behind the one that is being read.
///
/// With one decoder it is the `film_player`. A film that cannot be cut is decoded as one segment.
///
/// Belongs to one thread; only `interrupt` may come from any.
class segmented_player {
public:
  /// @param threads of each decoder. @param interrupted outlives the player.
  segmented_player(
    const std::string& path, std::uint32_t decoders, int threads,
    const std::atomic<bool>& interrupted);
  ~segmented_player();
  segmented_player(const segmented_player&) = delete;
  segmented_player& operator=(const segmented_player&) = delete;

  /// As the functions of `film_player`. A picture stays valid until the next call.
  expected<void> open();
  expected<void> begin(decoder_pool& pool);
  expected<void> begin_again(decoder_pool& pool);
  film_player::event next();
  void close();
  const film& source() const { return whole_.source(); }
  std::size_t decoder_frames() const;
  std::uint64_t pictures() const { return pictures_; }
  std::uint64_t pictures_of_pass() const { return pictures_ - earlier_pictures_; }

  /// Pictures of a decoder that may wait: 256 MiB of them, from 4 to 256.
  std::size_t ahead() const;
  /// To be called after `interrupted` was set.
  void interrupt() noexcept;

private:
  struct waiting {
    av_ptr<AVFrame> content; ///< null for a packet that the decoder could make nothing of
  };
  struct segment {
    std::deque<waiting> pictures;
    bool done = false;
    std::optional<error> failed;
  };
  expected<void> start(decoder_pool& pool);
  void stop();
  film_player::event next_in_order();
  void decode();
  bool play(film_player& player, std::uint64_t number, const film_segment& range);
  std::optional<std::pair<std::uint64_t, film_segment>> claim();
  bool put(std::uint64_t number, waiting picture);

  std::string path_;
  std::uint32_t decoders_;
  int threads_each_;
  const std::atomic<bool>& interrupted_;
  film_player whole_; ///< with several decoders, for what the header says alone
  std::optional<film_index> index_;
  std::size_t ahead_ = 1;
  std::uint64_t pictures_ = 0, earlier_pictures_ = 0;
  decoder_pool* pool_ = nullptr;
  std::vector<std::thread> threads_;
  av_ptr<AVFrame> handed_; ///< the picture that `next` gave

  std::mutex mutex_; ///< guards all below
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<std::uint64_t, segment> segments_; ///< by number: those that were begun and not yet read
  std::uint64_t begun_ = 0;                   ///< segments
  std::uint64_t reading_ = 0;                 ///< number of the segment that `next` reads
  std::size_t piece_ = 0;                     ///< the first one that nobody has
};

} // namespace hyperframes
