#include "cameras/film_index.hpp"

#include <algorithm>
#include <limits>

namespace hyperframes {

film_index film_index::of(const film& film, const std::atomic<bool>& interrupted) {
  film_index index;
  const av_ptr<AVPacket> packet{av_packet_alloc()};
  auto latest = std::numeric_limits<std::int64_t>::min(); // presentation time so far
  bool whole = true;
  while (!interrupted && av_read_frame(film.input.get(), packet.get()) >= 0) {
    const auto pts = packet->pts, dts = packet->dts;
    const bool ours = packet->stream_index == film.stream->index;
    const bool key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
    av_packet_unref(packet.get());
    if (!ours)
      continue;
    whole = whole && pts != AV_NOPTS_VALUE;
    if (index.cuts_.empty() || (key && pts > latest))
      index.cuts_.push_back(
        {dts == AV_NOPTS_VALUE ? pts : std::min(dts, pts), pts, index.packets_, 0});
    ++index.packets_;
    if (auto& last = index.cuts_.back(); pts < last.pts)
      last.leading = index.packets_ - last.first;
    latest = std::max(latest, pts);
  }
  if (!whole && !index.cuts_.empty())
    index.cuts_.resize(1);
  return index;
}

std::uint64_t film_index::packets_from(std::size_t piece) const {
  return piece < cuts_.size() ? packets_ - cuts_[piece].first : 0;
}

film_segment film_index::segment(std::size_t begin, std::size_t end) const {
  const auto& from = cuts_[begin];
  film_segment s{
    from.seek, from.pts, packets_ - from.first, from.pts, std::numeric_limits<std::int64_t>::max()};
  if (begin == 0)
    s.first_pts = std::numeric_limits<std::int64_t>::min();
  if (end < cuts_.size()) {
    s.packets = cuts_[end].first + cuts_[end].leading - from.first;
    s.end_pts = cuts_[end].pts;
  }
  return s;
}

} // namespace hyperframes
