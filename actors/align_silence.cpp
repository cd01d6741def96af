#include "actors/align_silence.hpp"

#include <algorithm>

namespace hyperframes {

silence_watch::silence_watch(duration grace, const std::vector<duration>& periods)
  : grace_(grace), members_(periods.size()) {
  for (std::size_t i = 0; i < periods.size(); ++i)
    members_[i].period = periods[i];
}

std::optional<silence_watch::change> silence_watch::came(std::uint32_t member, graph_time now) {
  auto& m = members_[member];
  std::optional<change> back;
  if (m.silent)
    back = {member, false, m.last};
  m.silent = m.ended = false;
  m.missed = never;
  if (m.last)
    m.gaps[m.gap_count++ % m.gaps.size()] = now - *m.last;
  m.last = now;
  const bool pause = last_ && now - *last_ >= patience(m);
  for (auto& other : members_)
    if (&other != &m && !other.ended && (pause || other.missed == never))
      other.missed = now;
  last_ = now;
  return back;
}

void silence_watch::ended(std::uint32_t member) {
  auto& m = members_[member];
  m.ended = true;
  m.silent = false;
  m.missed = never;
}

std::optional<silence_watch::change> silence_watch::next_silent() {
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    auto& m = members_[i];
    if (m.silent || m.missed == never || *last_ < later_by(m.missed, patience(m)))
      continue;
    m.silent = true;
    return change{i, true, m.last};
  }
  return std::nullopt;
}

duration silence_watch::patience(const member_state& m) const {
  auto period = m.period;
  if (m.gap_count >= m.gaps.size())
    period = std::max(period, *std::ranges::min_element(m.gaps));
  return std::max(grace_, 3 * period);
}

} // namespace hyperframes
