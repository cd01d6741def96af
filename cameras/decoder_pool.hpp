#pragma once

#include "runtime/buffer_pool.hpp"
#include "runtime/media_type.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace hyperframes {

/// The pixel format that is `format` bit for bit, or none: then it has to be converted.
std::optional<pixel_format> direct_format(AVPixelFormat format);

/// Lends the slots of a `buffer_pool` to a decoder, which then writes its pictures where the graph
/// reads them.
///
///   context->opaque = &pool;
///   context->get_buffer2 = decoder_pool::get_buffer2; // context->codec needs AV_CODEC_CAP_DR1
///   ... avcodec_receive_frame(context, frame) ...
///   auto picture = pool.find(*frame);                 // empty where FFmpeg took its own memory
///
/// A slot is in use as long as the decoder (it may be a reference for later pictures) or the graph
/// holds it. Lent buffers are marked read-only, so that no decoder updates in place a picture that
/// the graph may be reading.
///
/// A slot holds any picture that is not larger. For a larger one a new pool takes over, with as
/// many slots; the old one goes when all of its slots were given back. Where the graph's `memory`
/// leaves no room for both, a picture has no slot until then; the decoder goes on in FFmpeg's
/// memory. The decoder may call from several threads; the other functions belong to one.
class decoder_pool {
public:
  /// A picture's slot and where its planes lie in it.
  struct picture {
    buffer_ref slot;
    video_format format;  ///< range and matrix are not filled in
    bool refused = false; ///< no slot: the graph's `memory` leaves none for pictures of this size
    bool starved = false; ///< the graph holds all that it may: to be given without content
    explicit operator bool() const { return static_cast<bool>(slot); }
  };

  /// @param graph_frames what the graph may hold, @param decoder_frames what the decoder may.
  /// @param counted where the slots are counted; null: nowhere.
  decoder_pool(
    std::size_t graph_frames, std::size_t decoder_frames,
    std::shared_ptr<pool_stats> counted = nullptr)
    : graph_frames_(graph_frames), decoder_frames_(decoder_frames), counted_(std::move(counted)) {}

  /// Bytes of a slot for such pictures: sides and rows padded as this decoder needs them.
  /// @param context null for pictures that no decoder writes.
  static std::size_t
  slot_bytes(AVCodecContext* context, AVPixelFormat format, int width, int height);

  static int get_buffer2(AVCodecContext* context, AVFrame* frame, int flags);

  /// @returns the slot that holds `frame`; an empty picture where FFmpeg took its own memory.
  picture find(const AVFrame& frame);

  /// @returns a slot to copy or convert a picture to; an empty picture where all are in use, or
  /// with `refused`.
  picture acquire(pixel_format format, int width, int height);

  std::size_t slots() const { return graph_frames_ + decoder_frames_; }
  std::size_t peak_in_use() const; ///< of the pool in use now
  /// How often the decoder wanted a slot and got none: FFmpeg's memory and a copy stood in.
  std::uint64_t misses() const;

private:
  struct layout {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    int width = 0, height = 0; ///< padded
    std::array<int, 4> strides{};
    std::array<std::size_t, 4> offsets{};
    std::size_t bytes = 0;
  };
  struct generation;
  struct lease;

  static layout layout_for(AVCodecContext* context, AVPixelFormat format, int width, int height);
  static void give_back(void* opaque, std::uint8_t* data) noexcept;
  int provide(AVCodecContext* context, AVFrame* frame);
  generation* pool_for(std::size_t bytes);

  std::size_t graph_frames_, decoder_frames_;
  std::shared_ptr<pool_stats> counted_;
  mutable std::mutex mutex_; ///< guards all below
  std::vector<std::shared_ptr<generation>>
    generations_; ///< the last one is in use, others wait to empty
  std::uint64_t misses_ = 0;
};

} // namespace hyperframes
