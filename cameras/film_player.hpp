#pragma once

#include "cameras/film.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace hyperframes {

class decoder_pool;

/// A run of packets, in the order of decoding, from a key frame on, and the pictures that it is
/// read for.
struct film_segment {
  std::int64_t seek = 0; ///< a time that leads to the key frame, or before it
  std::int64_t key_pts = 0;
  std::uint64_t packets = 0;               ///< to be decoded
  std::int64_t first_pts = 0, end_pts = 0; ///< pictures from `first_pts` on, before `end_pts`
};

/// Decodes a film, or a segment of it, from its beginning to its end, a picture at a time.
///
///   film_player player{"film.mp4", 1, interrupted};
///   player.open();                                       // now source() and decoder_frames()
///   player.begin(pool);
///   for (auto e = player.next(); ...; e = player.next()) // picture, end_of_film or error
///
/// Not thread-safe; blocks while the file is read, and not for long once the flag is set: what
/// follows fails with `errc::stopped` then.
class film_player {
public:
  /// What the decoder gave, or null for a packet that it could make nothing of. The player's; valid
  /// until the next call, and to be let go (av_frame_unref) before where its buffer is wanted back.
  struct picture {
    AVFrame* content = nullptr;
  };
  struct end_of_film {};
  using event = std::variant<picture, end_of_film, error>;

  /// @param interrupted outlives the player.
  film_player(std::string path, int threads, const std::atomic<bool>& interrupted);

  /// Opens the file, and counts anew.
  expected<void> open();
  /// Starts decoding at the beginning of what is open. @param pool outlives the decoding.
  expected<void> begin(decoder_pool& pool);
  /// Starts decoding a segment of what is open. Its pictures are those of a whole pass.
  expected<void> begin(decoder_pool& pool, const film_segment& segment);
  /// Opens the file again and starts at its beginning: another pass.
  expected<void> begin_again(decoder_pool& pool);
  event next();
  /// Lets decoder and file go.
  void close();

  /// What is open.
  const film& source() const { return film_; }
  /// Slots that the decoder itself takes of a pool.
  std::size_t decoder_frames() const;
  /// Pictures since `open`, the refused packets included.
  std::uint64_t pictures() const { return pictures_; }
  /// The same, of this pass only.
  std::uint64_t pictures_of_pass() const { return pictures_ - earlier_pictures_; }

private:
  AVIOInterruptCB interruption() const;
  expected<void> open_file();
  error stopped() const { return make_error(errc::stopped, path_, "reading was interrupted"); }
  expected<void> feed();
  bool find(std::int64_t key_pts);
  bool belongs(std::int64_t pts) const;

  std::string path_;
  int threads_;
  const std::atomic<bool>& interrupted_;
  film film_;
  av_ptr<AVCodecContext> decoder_;
  av_ptr<AVPacket> packet_;
  av_ptr<AVFrame> frame_;
  std::optional<film_segment> segment_;
  std::uint64_t fed_ = 0; ///< packets of the segment
  bool pending_ = false;  ///< `packet_` is the next one
  bool refused_ = false;  ///< the decoder refused the last packet
  int unreadable_ = 0;    ///< failures of the demuxer in a row
  std::uint64_t pictures_ = 0;
  std::uint64_t earlier_pictures_ = 0; ///< of earlier passes
};

} // namespace hyperframes
