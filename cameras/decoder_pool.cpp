#include "cameras/decoder_pool.hpp"

#include "runtime/error.hpp"

#include <algorithm>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace hyperframes {

namespace {

/// What libavcodec's own allocator puts behind each plane for reads past the end.
constexpr std::size_t overread = 16 + 64 - 1;
constexpr std::size_t plane_alignment = 64;

} // namespace

/// One slot while the decoder has it. Made with the pool, so that lending allocates nothing here.
/// Any of the decoder's threads may lend it and give it back.
struct decoder_pool::lease {
  generation* home = nullptr; ///< constant: whose mutex guards the other members
  std::uint32_t index = 0;    ///< constant
  buffer_ref slot;
  std::shared_ptr<generation> keep; ///< the pool, while the slot is lent
};

struct decoder_pool::generation {
  buffer_pool pool;
  mutable std::mutex mutex; ///< guards the leases
  std::vector<lease> leases;
  std::vector<std::uint32_t> free;

  std::size_t lent() const { return leases.size() - free.size(); }
};

std::optional<pixel_format> direct_format(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUV420P:
    case AV_PIX_FMT_YUVJ420P:
      return pixel_format::i420;
    case AV_PIX_FMT_NV12:
      return pixel_format::nv12;
    case AV_PIX_FMT_GRAY8:
      return pixel_format::gray8;
    case AV_PIX_FMT_BGR24:
      return pixel_format::bgr24;
    case AV_PIX_FMT_RGB24:
      return pixel_format::rgb24;
    default:
      return {};
  }
}

namespace {

AVPixelFormat av_format_of(pixel_format format) {
  constexpr std::array formats{
    AV_PIX_FMT_GRAY8, AV_PIX_FMT_BGR24, AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12};
  return formats[static_cast<std::size_t>(format)];
}

} // namespace

/// As libavcodec's `update_frame_pool` (get_buffer.c) does it.
decoder_pool::layout
decoder_pool::layout_for(AVCodecContext* context, AVPixelFormat format, int width, int height) {
  layout l;
  l.format = format;
  std::array<int, AV_NUM_DATA_POINTERS> alignments{};
  alignments.fill(static_cast<int>(plane_alignment));
  if (context) {
    alignments.fill(1);
    avcodec_align_dimensions2(context, &width, &height, alignments.data());
  }
  l.width = width;
  l.height = height;
  for (int wide = width;; wide += wide & ~(wide - 1)) { // the lowest bit that is set
    if (av_image_fill_linesizes(l.strides.data(), format, wide) < 0)
      return {};
    bool aligned = true;
    for (std::size_t p = 0; p < 4; ++p)
      aligned = aligned && l.strides[p] % std::max(alignments[p], 1) == 0;
    if (aligned)
      break;
  }
  std::array<std::ptrdiff_t, 4> strides{};
  std::copy(l.strides.begin(), l.strides.end(), strides.begin());
  std::array<std::size_t, 4> sizes{};
  if (av_image_fill_plane_sizes(sizes.data(), format, height, strides.data()) < 0)
    return {};
  for (std::size_t p = 0; p < 4 && sizes[p] > 0; ++p) {
    l.offsets[p] = l.bytes;
    l.bytes += (sizes[p] + overread + plane_alignment - 1) / plane_alignment * plane_alignment;
  }
  return l;
}

std::size_t
decoder_pool::slot_bytes(AVCodecContext* context, AVPixelFormat format, int width, int height) {
  return layout_for(context, format, width, height).bytes;
}

/// The pool in use, or a new one where its slots are smaller than `bytes`; null where there is no
/// memory for it. Under `mutex_`.
decoder_pool::generation* decoder_pool::pool_for(std::size_t bytes) {
  // Of pools that were taken over from, the memory goes with their last slot.
  if (generations_.size() > 1)
    generations_.erase(
      std::remove_if(
        generations_.begin(), generations_.end() - 1,
        [](const auto& g) {
          const std::lock_guard lock{g->mutex};
          return g->lent() == 0;
        }),
      generations_.end() - 1);
  if (!generations_.empty() && generations_.back()->pool.slot_bytes() >= bytes)
    return generations_.back().get();
  if (!generations_.empty() && generations_.back()->pool.in_use() == 0)
    generations_.pop_back(); // its memory is free for the new one
  auto made = std::make_shared<generation>();
  try {
    made->pool = buffer_pool{slots(), bytes, counted_};
  } catch (const failure&) {
    return nullptr;
  }
  made->leases = std::vector<lease>(slots());
  for (std::uint32_t i = 0; i < made->leases.size(); ++i) {
    made->leases[i].home = made.get();
    made->leases[i].index = i;
    made->free.push_back(i);
  }
  generations_.push_back(std::move(made));
  return generations_.back().get();
}

int decoder_pool::get_buffer2(AVCodecContext* context, AVFrame* frame, int flags) {
  auto& self = *static_cast<decoder_pool*>(context->opaque);
  if (
    !context->codec || (context->codec->capabilities & AV_CODEC_CAP_DR1) == 0
    || !direct_format(static_cast<AVPixelFormat>(frame->format)))
    return avcodec_default_get_buffer2(context, frame, flags);
  try {
    if (const int lent = self.provide(context, frame); lent != AVERROR(EAGAIN))
      return lent;
  } catch (const std::exception&) {
    return AVERROR(ENOMEM);
  }
  return avcodec_default_get_buffer2(context, frame, flags);
}

/// @returns 0, or AVERROR(EAGAIN) where no slot is free.
int decoder_pool::provide(AVCodecContext* context, AVFrame* frame) {
  const auto wanted =
    layout_for(context, static_cast<AVPixelFormat>(frame->format), frame->width, frame->height);
  if (wanted.bytes == 0)
    return AVERROR(EINVAL);
  lease* lent = nullptr;
  std::uint8_t* data = nullptr;
  {
    const std::lock_guard lock{mutex_};
    auto* now = pool_for(wanted.bytes);
    auto slot = now ? now->pool.acquire() : buffer_ref{};
    if (!slot) {
      ++misses_;
      return AVERROR(EAGAIN);
    }
    const std::lock_guard leases{now->mutex};
    lent = &now->leases[now->free.back()];
    now->free.pop_back();
    data = reinterpret_cast<std::uint8_t*>(slot.data());
    lent->slot = std::move(slot);
    lent->slot.note_lent(true);
    lent->keep = generations_.back();
  }
  frame->buf[0] =
    av_buffer_create(data, wanted.bytes, &decoder_pool::give_back, lent, AV_BUFFER_FLAG_READONLY);
  if (!frame->buf[0]) {
    give_back(lent, data);
    return AVERROR(ENOMEM);
  }
  for (std::size_t p = 0; p < 4; ++p) {
    frame->linesize[p] = wanted.strides[p];
    frame->data[p] = wanted.strides[p] > 0 ? data + wanted.offsets[p] : nullptr;
  }
  frame->extended_data = frame->data;
  return 0;
}

void decoder_pool::give_back(void* opaque, std::uint8_t*) noexcept {
  auto& lent = *static_cast<lease*>(opaque);
  std::shared_ptr<generation> keep; // goes last: it may be what holds the mutex
  const std::lock_guard lock{lent.home->mutex};
  keep = std::move(lent.keep);
  lent.slot.note_lent(false);
  lent.slot = {};
  keep->free.push_back(lent.index);
}

decoder_pool::picture decoder_pool::find(const AVFrame& frame) {
  const auto format = direct_format(static_cast<AVPixelFormat>(frame.format));
  if (!format)
    return {};
  const std::lock_guard lock{mutex_};
  for (const auto& g : generations_) {
    const std::lock_guard leases{g->mutex};
    auto held = g->pool.in_use() - g->lent(); // by the graph alone
    picture found;
    for (const auto& l : g->leases) {
      if (!l.slot)
        continue;
      held += l.slot.unique() ? 0 : 1; // by both
      auto* begin = reinterpret_cast<std::uint8_t*>(l.slot.data());
      if (frame.data[0] < begin || frame.data[0] >= begin + l.slot.size())
        continue;
      found.slot = l.slot;
      found.format.format = *format;
      found.format.width = static_cast<std::uint32_t>(frame.width);
      found.format.height = static_cast<std::uint32_t>(frame.height);
      for (std::size_t p = 0; p < found.format.plane_count(); ++p) {
        if (frame.linesize[p] <= 0) // upside down: to be copied
          return {};
        found.format.planes[p] = {
          static_cast<std::size_t>(frame.data[p] - begin),
          static_cast<std::size_t>(frame.linesize[p])};
      }
    }
    if (found) {
      found.starved = held >= graph_frames_;
      return found;
    }
  }
  return {};
}

decoder_pool::picture decoder_pool::acquire(pixel_format format, int width, int height) {
  const auto l = layout_for(nullptr, av_format_of(format), width, height);
  if (l.bytes == 0)
    throw failure(make_error(
      errc::camera_failed, {},
      "a picture of " + std::to_string(width) + 'x' + std::to_string(height) + " has no layout"));
  const std::lock_guard lock{mutex_};
  picture p;
  if (auto* now = pool_for(l.bytes))
    p.slot = now->pool.acquire();
  else
    p.refused = true;
  p.format.format = format;
  p.format.width = static_cast<std::uint32_t>(width);
  p.format.height = static_cast<std::uint32_t>(height);
  for (std::size_t i = 0; i < p.format.plane_count(); ++i)
    p.format.planes[i] = {l.offsets[i], static_cast<std::size_t>(l.strides[i])};
  return p;
}

std::size_t decoder_pool::peak_in_use() const {
  const std::lock_guard lock{mutex_};
  return generations_.empty() ? 0 : generations_.back()->pool.peak_in_use();
}

std::uint64_t decoder_pool::misses() const {
  const std::lock_guard lock{mutex_};
  return misses_;
}

} // namespace hyperframes
