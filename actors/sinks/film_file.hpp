#pragma once

#include "runtime/time.hpp"

#include <opencv2/core/mat.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace hyperframes {

/// Gives pictures their place on a film's time line, in ticks.
///
///   tick(first) = 0 where the stream is live, otherwise its capture time
///   tick(t) = tick(first) + t - first, rounded to the nearest tick, at least the last tick + 1
///
/// A new epoch's clock has no known relation to the old one's: its first picture follows the last one
/// at the distance that this one had from its predecessor. A capture time that no film of a file has
/// (below 0 or above a day) counts as that of a live stream.
class film_clock {
public:
  /// @param tick seconds, as a fraction.
  film_clock(int tick_numerator, int tick_denominator, bool live);
  std::int64_t tick(std::uint32_t epoch, capture_time t);

private:
  int numerator_, denominator_;
  bool live_;
  bool begun_ = false;
  std::uint32_t epoch_ = 0;
  duration shift_{};              ///< film time = capture time + shift
  duration last_{};               ///< film time of the last picture
  duration distance_;             ///< from its predecessor
  std::int64_t last_tick_ = -1;
};

struct film_options {
  std::string path;           ///< its extension names the container
  std::string codec = "auto"; ///< auto, mpeg4, mjpeg, ffv1, h264
  int quality = 75;           ///< 1 to 100; ffv1 loses nothing and takes no notice
  bool live = false;
};

/// Checks that a container goes by the path's extension, and that there is an encoder for it; touches no
/// file. Throws `failure` (io_failed) with the path.
void check_codec(const film_options& options);

/// A file of moving pictures, written by FFmpeg's libraries, with the capture times as time stamps.
///
/// Ticks: 1/90000 s in mp4 and mov, 1/1000 s in Matroska and AVI. Pictures of another size than the
/// first one's are scaled to it; odd sizes get a line more, the last one repeated. Not thread-safe.
/// Everything that fails throws `failure` (io_failed) with the path.
class film_file {
public:
  /// Checks that there are a folder, a container and an encoder; touches no file.
  explicit film_file(film_options options);
  film_file(const film_file&) = delete;
  film_file& operator=(const film_file&) = delete;
  /// Closes what is open as well as it can: a film that was cut short can still be watched.
  ~film_file();

  /// Encodes a picture. The first one makes the file, or replaces it.
  /// @param picture [height, width] of 8-bit B, G, R.
  void add(const cv::Mat& picture, std::uint32_t epoch, capture_time t);
  /// Writes what the encoder holds and the end of the file; without a picture there is no file.
  void close();

private:
  struct writer;
  film_options options_;
  std::unique_ptr<writer> writer_;
};

} // namespace hyperframes
