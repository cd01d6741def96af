#include "cameras/film_player.hpp"

#include "cameras/decoder_pool.hpp"

#include <utility>

namespace hyperframes {

film_player::film_player(std::string path, int threads, const std::atomic<bool>& interrupted)
  : path_(std::move(path)),
    threads_(threads),
    interrupted_(interrupted),
    packet_(av_packet_alloc()),
    frame_(av_frame_alloc()) {}

AVIOInterruptCB film_player::interruption() const {
  return {
    [](void* flag) { return static_cast<const std::atomic<bool>*>(flag)->load() ? 1 : 0; },
    const_cast<std::atomic<bool>*>(&interrupted_)};
}

void film_player::close() {
  decoder_.reset();
  film_ = {};
}

expected<void> film_player::open() {
  pictures_ = 0;
  return open_file();
}

expected<void> film_player::open_file() {
  close();
  if (interrupted_)
    return stopped();
  auto opened = open_film(path_, interruption());
  if (opened.has_error())
    return opened.error();
  film_ = std::move(opened.value());
  return {};
}

expected<void> film_player::begin_again(decoder_pool& pool) {
  if (auto opened = open_file(); opened.has_error())
    return opened;
  return begin(pool);
}

std::size_t film_player::decoder_frames() const {
  const auto& parameters = *film_.stream->codecpar;
  const bool lent = (film_.codec->capabilities & AV_CODEC_CAP_DR1) != 0
                    && direct_format(static_cast<AVPixelFormat>(parameters.format));
  if (!lent)
    return 1; // the one that is copied or converted to
  return pictures_held(film_, threads_);
}

expected<void> film_player::begin(decoder_pool& pool, const film_segment& segment) {
  const int sought =
    av_seek_frame(film_.input.get(), film_.stream->index, segment.seek, AVSEEK_FLAG_BACKWARD);
  if (sought < 0 || !find(segment.key_pts)) {
    // Where the file's own index is no help, the way leads through all that comes before.
    if (auto opened = open_file(); opened.has_error())
      return opened;
    if (!find(segment.key_pts))
      return interrupted_
               ? stopped()
               : make_error(
                 errc::io_failed, path_, "a key frame was not found again: the file has changed");
  }
  auto begun = begin(pool);
  segment_ = segment;
  pending_ = true;
  return begun;
}

/// Reads on to the key frame, which is then the next packet. @returns false where none follows.
bool film_player::find(std::int64_t key_pts) {
  for (;;) {
    av_packet_unref(packet_.get());
    if (interrupted_ || av_read_frame(film_.input.get(), packet_.get()) < 0)
      return false;
    if (packet_->stream_index == film_.stream->index && packet_->pts == key_pts)
      return true;
  }
}

expected<void> film_player::begin(decoder_pool& pool) {
  segment_.reset();
  fed_ = 0;
  pending_ = false;
  auto made = make_decoder(film_, threads_, path_);
  if (made.has_error())
    return made.error();
  decoder_ = std::move(made.value());
  decoder_->opaque = &pool;
  decoder_->get_buffer2 = decoder_pool::get_buffer2;
  if (const int failed = avcodec_open2(decoder_.get(), film_.codec, nullptr); failed < 0)
    return make_error(
      errc::io_failed, path_,
      std::string{"FFmpeg's decoder "} + film_.codec->name
        + " cannot be started: " + words_of(failed));
  refused_ = false;
  unreadable_ = 0;
  earlier_pictures_ = pictures_;
  return {};
}

film_player::event film_player::next() {
  for (;;) {
    if (interrupted_)
      return stopped();
    const int got =
      refused_ ? AVERROR(EAGAIN) : avcodec_receive_frame(decoder_.get(), frame_.get());
    if (got == 0) {
      if (!belongs(frame_->best_effort_timestamp)) {
        av_frame_unref(frame_.get());
        continue;
      }
      ++pictures_;
      return picture{frame_.get()};
    }
    if (got == AVERROR_EOF)
      return end_of_film{};
    if (std::exchange(refused_, false) || got != AVERROR(EAGAIN)) {
      ++pictures_;
      return picture{};
    }
    if (const auto fed = feed(); fed.has_error())
      return fed.error();
  }
}

/// @returns whether the picture is one that is read for.
bool film_player::belongs(std::int64_t pts) const {
  return !segment_ || (pts >= segment_->first_pts && pts < segment_->end_pts);
}

/// Gives the decoder one more packet of the stream, or the end of the file.
expected<void> film_player::feed() {
  constexpr int give_up_after = 100;
  if (segment_ && fed_ == segment_->packets) {
    avcodec_send_packet(decoder_.get(), nullptr);
    return {};
  }
  const int got =
    std::exchange(pending_, false) ? 0 : av_read_frame(film_.input.get(), packet_.get());
  if (got == AVERROR_EOF) {
    avcodec_send_packet(decoder_.get(), nullptr);
    return {};
  }
  if (got < 0) {
    if (got == AVERROR_EXIT || interrupted_)
      return stopped();
    if (++unreadable_ < give_up_after)
      return {};
    return make_error(
      errc::io_failed, path_,
      "the video cannot be read on after frame " + std::to_string(pictures_) + ": "
        + words_of(got));
  }
  unreadable_ = 0;
  if (packet_->stream_index == film_.stream->index) {
    ++fed_;
    const int sent = avcodec_send_packet(decoder_.get(), packet_.get());
    refused_ = sent < 0 && sent != AVERROR(EAGAIN) && sent != AVERROR_EOF && belongs(packet_->pts);
  }
  av_packet_unref(packet_.get());
  return {};
}

} // namespace hyperframes
