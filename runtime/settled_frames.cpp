#include "runtime/settled_frames.hpp"

namespace hyperframes {

namespace {

auto ids_of(const outcome_range& range) {
  return boost::icl::interval<std::uint64_t>::right_open(range.first, range.first + range.count);
}

} // namespace

void settled_frames::begin_at(stream_index index, frame_position next) {
  auto& s = streams_[index];
  s.first_open = next.epoch;
  if (next.frame_id > 0)
    add({index, next.epoch, 0, next.frame_id, outcome::delivered, reason::none});
}

std::vector<outcome_range> settled_frames::add(const outcome_range& range) {
  auto& s = streams_[range.stream];
  if (range.epoch < s.first_open)
    return {};
  auto& e = s.open[range.epoch];
  ids fresh;
  fresh += ids_of(range);
  fresh -= e.settled;
  std::vector<outcome_range> pieces;
  for (const auto& piece : fresh) {
    auto part = range;
    part.first = boost::icl::first(piece);
    part.count = boost::icl::last(piece) - part.first + 1;
    e.count += part.count;
    pieces.push_back(part);
  }
  e.settled += ids_of(range);
  return pieces;
}

bool settled_frames::has(const outcome_range& range) const {
  const auto s = streams_.find(range.stream);
  if (s == streams_.end())
    return false;
  if (range.epoch < s->second.first_open)
    return true;
  const auto e = s->second.open.find(range.epoch);
  return e != s->second.open.end() && boost::icl::contains(e->second.settled, ids_of(range));
}

void settled_frames::add(const stream_end& end) {
  auto& s = streams_[end.stream];
  if (end.epoch >= s.first_open)
    s.open[end.epoch].end = end;
}

std::vector<stream_end> settled_frames::take_complete() {
  std::vector<stream_end> complete;
  for (auto& [index, s] : streams_)
    for (auto e = s.open.find(s.first_open);
         e != s.open.end() && e->second.end && e->second.count >= e->second.end->frames;
         e = s.open.find(s.first_open)) {
      complete.push_back(*e->second.end);
      s.open.erase(e);
      ++s.first_open;
    }
  return complete;
}

} // namespace hyperframes
