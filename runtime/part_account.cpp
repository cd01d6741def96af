#include "runtime/part_account.hpp"

#include "runtime/error.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

failure at_fault(const std::string& what) {
  return failure{make_error(errc::io_failed, "node", what)};
}

auto ids_of(const outcome_range& r) {
  return boost::icl::interval<std::uint64_t>::right_open(r.first, r.first + r.count);
}

outcome_ranges frames_of(const item& i) {
  outcome_batch frames;
  add_outcomes(i, outcome::lost, reason::worker_lost, frames);
  return frames.take();
}

/// Where a stream stands before the part has captured anything of it.
captured_position begin_of(const stage_plan& plan, stream_index stream) {
  captured_position at;
  at.stream = stream;
  if (plan.graph) {
    at.epoch = plan.graph->streams[stream].first_epoch;
    at.before = plan.graph->streams[stream].frames_before;
  }
  return at;
}

} // namespace

part_account::part_account(const std::vector<const stage_wiring*>& stages) {
  for (const auto* s : stages)
    stages_[s->self] = true;
  for (const auto* s : stages) {
    for (const auto& e : s->inputs)
      if (!has(e.from))
        in_[e.edge] = {e, s->plan.streams, {}, {}};
    for (const auto& e : s->outputs)
      if (!has(e.to))
        out_[e.edge] = {e, s->plan.streams, {}, {}};
    if (s->kind->inputs.empty())
      for (const auto stream : s->plan.streams)
        sources_[stream] = {s->settlers, begin_of(s->plan, stream), {}};
  }
}

bool part_account::has(stage_index stage) const {
  return stages_.contains(stage);
}

part_account::edge&
part_account::at(std::map<edge_index, edge>& edges, edge_index index, const char* what) {
  const auto found = edges.find(index);
  if (found == edges.end())
    throw at_fault("edge " + std::to_string(index) + what);
  return found->second;
}

const edge_wiring& part_account::into(edge_index index) const {
  return at(const_cast<part_account*>(this)->in_, index, " does not lead to it").wiring;
}

const edge_wiring& part_account::out_of(edge_index index) const {
  return at(const_cast<part_account*>(this)->out_, index, " does not come from it").wiring;
}

// ---- frames ------------------------------------------------------------------------------------

void part_account::add(const outcome_range& r, const std::vector<stage_index>& settlers) {
  for (const auto settler : settlers)
    held_[settler][{r.stream, r.epoch}] += ids_of(r);
}

void part_account::remove(const outcome_range& r, stage_index settler) {
  auto& of_settler = held_[settler];
  const auto found = of_settler.find({r.stream, r.epoch});
  if (found == of_settler.end())
    return;
  found->second -= ids_of(r);
  if (found->second.empty())
    of_settler.erase(found);
}

part_account::ranges part_account::captured(const outcome_range& r) {
  const auto found = sources_.find(r.stream);
  if (found == sources_.end() || r.count == 0)
    return {};
  auto& frames = found->second.frames[r.epoch];
  const auto end = r.first + r.count;
  if (end <= frames)
    return {};
  outcome_range fresh{r.stream, r.epoch, frames, end - frames, outcome::lost, reason::worker_lost};
  frames = end;
  add(fresh, found->second.settlers);
  return {fresh};
}

void part_account::entered(const put_message& m) {
  auto& e = at(in_, m.edge, " does not lead to it");
  auto& used = e.used[lane_of(m.value)];
  ++used.items;
  used.bytes += e.wiring.limits.counted(held_bytes(m.value));
  for (const auto& r : frames_of(m.value))
    add(r, e.wiring.settlers);
}

part_account::ranges part_account::left(const put_message& m) {
  auto& e = at(out_, m.edge, " does not come from it");
  auto& used = e.used[lane_of(m.value)];
  ++used.items;
  used.bytes += e.wiring.limits.counted(held_bytes(m.value));
  ranges fresh;
  for (const auto& r : frames_of(m.value)) {
    std::ranges::copy(captured(r), std::back_inserter(fresh));
    for (const auto settler : e.wiring.settlers)
      remove(r, settler);
  }
  return fresh;
}

part_account::ranges part_account::left(stage_index settler, const outcome_message& m) {
  ranges fresh;
  for (const auto& r : m.ranges) {
    std::ranges::copy(captured(r), std::back_inserter(fresh));
    remove(r, settler);
  }
  return fresh;
}

std::uint64_t part_account::held(stage_index settler) const {
  std::uint64_t frames = 0;
  if (const auto found = held_.find(settler); found != held_.end())
    for (const auto& [epoch, of_epoch] : found->second)
      frames += boost::icl::length(of_epoch);
  return frames;
}

std::uint64_t part_account::held() const {
  std::uint64_t frames = 0;
  for (const auto& [settler, epochs] : held_)
    frames += held(settler);
  return frames;
}

std::vector<std::pair<stage_index, outcome_message>> part_account::take_lost() {
  std::vector<std::pair<stage_index, outcome_message>> lost;
  for (const auto& [settler, epochs] : std::exchange(held_, {})) {
    outcome_message m;
    for (const auto& [of, frames] : epochs)
      for (const auto& piece : frames)
        m.ranges.push_back({of.first, of.second, boost::icl::first(piece),
                            boost::icl::last(piece) - boost::icl::first(piece) + 1, outcome::lost,
                            reason::worker_lost});
    if (!m.ranges.empty())
      lost.emplace_back(settler, std::move(m));
  }
  return lost;
}

// ---- credit ------------------------------------------------------------------------------------

void part_account::take_back(edge& e, const credit_message& m) {
  auto& used = e.used[m.lane];
  const auto bytes = e.wiring.limits.counted(m.bytes);
  if (m.items > used.items || bytes > used.bytes)
    throw at_fault("gives back more credit than was used on edge " + std::to_string(m.edge));
  used.items -= m.items;
  used.bytes -= bytes;
}

void part_account::entered(const credit_message& m) {
  take_back(at(out_, m.edge, " does not come from it"), m);
}

void part_account::left(const credit_message& m) {
  take_back(at(in_, m.edge, " does not lead to it"), m);
}

std::vector<std::pair<stage_index, credit_message>> part_account::take_owed() {
  std::vector<std::pair<stage_index, credit_message>> owed;
  for (auto& [index, e] : in_)
    for (const auto& [lane, used] : std::exchange(e.used, {}))
      if (used.items > 0)
        owed.push_back({e.wiring.from, {index, lane, used.items, used.bytes}});
  return owed;
}

std::vector<credit_message> part_account::used() const {
  std::vector<credit_message> all;
  for (const auto& [index, e] : out_)
    for (const auto& [lane, used] : e.used)
      if (used.items > 0)
        all.push_back({index, lane, used.items, used.bytes});
  return all;
}

// ---- ends --------------------------------------------------------------------------------------

void part_account::entered(const end_message& m) {
  at(in_, m.edge, " does not lead to it").last_end[m.end.stream] = m.end;
  ends_.push_back(m);
}

bool part_account::left(const end_message& m) {
  auto& e = at(out_, m.edge, " does not come from it");
  const auto last = e.last_end.find(m.end.stream);
  if (last != e.last_end.end() && m.end.epoch <= last->second.epoch)
    return false;
  e.last_end[m.end.stream] = m.end;
  forget_passed_ends(m.end.stream);
  return true;
}

/// What has come out on every edge needs to enter no more, but for the last end: whoever takes over
/// must know that nothing more comes of its stream.
void part_account::forget_passed_ends(stream_index stream) {
  std::erase_if(ends_, [&](const end_message& m) {
    return m.end.stream == stream && !m.end.last_epoch
           && std::ranges::all_of(out_, [&](const auto& o) {
                const auto& e = o.second;
                if (e.wiring.type == port_type::trigger || std::ranges::count(e.streams, stream) == 0)
                  return true;
                const auto last = e.last_end.find(stream);
                return last != e.last_end.end() && last->second.epoch >= m.end.epoch;
              });
  });
}

std::vector<captured_position> part_account::positions() const {
  std::vector<captured_position> all;
  for (const auto& [stream, s] : sources_) {
    auto p = s.begin;
    for (const auto& [epoch, frames] : s.frames) {
      p.before += p.frames;
      p.epoch = epoch;
      p.frames = frames;
    }
    for (const auto& [index, e] : out_)
      if (const auto last = e.last_end.find(stream); last != e.last_end.end()) {
        if (last->second.last_epoch)
          p.ended = true;
        else if (last->second.epoch >= p.epoch) {
          // That epoch is over, and nothing is known of the next one yet.
          p.before += p.frames;
          p.epoch = last->second.epoch + 1;
          p.frames = 0;
        }
      }
    all.push_back(p);
  }
  return all;
}

std::vector<end_message> part_account::ends() const {
  return ends_;
}

std::vector<std::pair<stage_index, end_message>> part_account::take_missing_ends() {
  std::vector<std::pair<stage_index, end_message>> missing;
  const auto pass = [&](edge& e, edge_index index, const stream_end& end) {
    const auto last = e.last_end.find(end.stream);
    if (last != e.last_end.end() && last->second.epoch >= end.epoch)
      return;
    e.last_end[end.stream] = end;
    missing.push_back({e.wiring.to, {index, end}});
  };
  const auto at_end = positions();
  for (auto& [index, e] : out_) {
    if (e.wiring.type == port_type::trigger)
      continue;
    for (const auto& m : ends_)
      if (std::ranges::count(e.streams, m.end.stream) > 0)
        pass(e, index, m.end);
    for (const auto& p : at_end)
      if (!p.ended && std::ranges::count(e.streams, p.stream) > 0)
        pass(e, index, {p.stream, p.epoch, p.frames, true});
  }
  return missing;
}

} // namespace hyperframes
