#include "actors/sinks/stream_ends.hpp"

#include <algorithm>

namespace hyperframes {

stream_ends::stream_ends(std::span<const stream_index> streams, bool settles) : settles_(settles) {
  for (auto s : streams)
    accounts_.push_back({.stream = s});
}

stream_ends::account* stream_ends::find(stream_index stream) {
  const auto at = std::ranges::find(accounts_, stream, &account::stream);
  return at == accounts_.end() ? nullptr : &*at;
}

void stream_ends::add(const item& i) {
  if (const auto* f = std::get_if<frame>(&i)) {
    if (auto* a = find(f->meta.stream))
      ++a->settled;
    return;
  }
  outcome_batch own;
  add_outcomes(i, outcome::delivered, reason::none, own);
  if (!own.empty())
    add(own.ranges());
}

void stream_ends::add(std::span<const outcome_range> ranges) {
  for (const auto& r : ranges)
    if (auto* a = find(r.stream))
      a->settled += r.count;
}

void stream_ends::add(const stream_end& end) {
  if (auto* a = find(end.stream)) {
    a->captured += end.frames;
    a->ended = a->ended || end.last_epoch;
  }
}

bool stream_ends::all_over() const {
  return std::ranges::all_of(accounts_, [this](const account& a) {
    return a.ended && (!settles_ || a.settled >= a.captured);
  });
}

} // namespace hyperframes
