#include "actors/unbundle.hpp"

#include "runtime/held_sum.hpp"

#include <algorithm>

namespace hyperframes {

std::uint64_t stream_order::count_of(const entry& e) {
  const auto* range = std::get_if<outcome_range>(&e);
  return range ? range->count : 1;
}

/// Adds what is new of `count` frames from `at`; `e` is a range, or one frame.
std::uint64_t stream_order::insert(frame_position at, std::uint64_t count, entry e) {
  std::uint64_t known = 0;
  if (at.epoch < next_.epoch || closed_)
    return count;
  if (at.epoch == next_.epoch && at.frame_id < next_.frame_id) {
    known = std::min(count, next_.frame_id - at.frame_id);
    at.frame_id += known;
    count -= known;
  }
  const auto put = [&](std::uint64_t first, std::uint64_t n) {
    if (n == 0)
      return;
    auto piece = e;
    if (auto* range = std::get_if<outcome_range>(&piece)) {
      range->first = first;
      range->count = n;
    } else {
      ++results_waiting_;
    }
    waiting_ += n;
    entries_.emplace(frame_position{at.epoch, first}, std::move(piece));
  };
  // Walk over the entries that overlap and fill the holes between them.
  auto first = at.frame_id;
  const auto last = at.frame_id + count;
  auto it = entries_.upper_bound(at);
  if (it != entries_.begin())
    --it;
  while (first < last && it != entries_.end()) {
    const auto begin = it->first.frame_id;
    const auto end = begin + count_of(it->second);
    if (it->first.epoch > at.epoch || (it->first.epoch == at.epoch && begin >= last))
      break;
    if (it->first.epoch == at.epoch && end > first) {
      if (begin > first)
        put(first, begin - first);
      known += std::min(last, end) - std::max(first, begin);
      first = std::max(first, std::min(last, end));
    }
    ++it;
  }
  put(first, last - first);
  return known;
}

std::uint64_t stream_order::add(std::shared_ptr<frame_result> r) {
  const auto at = r->meta.position();
  return insert(at, 1, std::move(r));
}

std::uint64_t stream_order::add(const outcome_range& range) {
  return insert({range.epoch, range.first}, range.count, range);
}

void stream_order::add(const stream_end& end) {
  ends_.emplace(end.epoch, end);
  advance_epoch();
}

void stream_order::advance_epoch() {
  for (auto end = ends_.find(next_.epoch);
       !closed_ && end != ends_.end() && end->second.frames <= next_.frame_id;
       end = ends_.find(next_.epoch)) {
    completed_.push_back(end->second);
    closed_ = end->second.last_epoch;
    ends_.erase(end);
    next_ = {next_.epoch + 1, 0};
  }
}

std::shared_ptr<frame_result> stream_order::next() {
  const auto first = entries_.begin();
  if (first == entries_.end() || first->first != next_)
    return nullptr;
  std::shared_ptr<frame_result> r;
  if (auto* range = std::get_if<outcome_range>(&first->second)) {
    r = make_recycled<frame_result>();
    r->meta.stream = stream_;
    r->meta.epoch = next_.epoch;
    r->meta.frame_id = next_.frame_id;
    r->what = range->what;
    r->why = range->why;
    auto rest = *range;
    entries_.erase(first);
    if (--rest.count > 0) {
      ++rest.first;
      entries_.emplace(frame_position{next_.epoch, rest.first}, rest);
    }
  } else {
    --results_waiting_;
    r = std::get<std::shared_ptr<frame_result>>(std::move(first->second));
    entries_.erase(first);
  }
  --waiting_;
  ++next_.frame_id;
  advance_epoch();
  return r;
}

std::vector<stream_end> stream_order::take_completed() {
  return std::exchange(completed_, {});
}

std::uint64_t stream_order::skip_missing() {
  if (entries_.empty() || entries_.begin()->first == next_)
    return 0;
  const auto first = entries_.begin()->first;
  auto until = first.frame_id;
  if (first.epoch > next_.epoch) {
    const auto end = ends_.find(next_.epoch);
    until = end == ends_.end() ? next_.frame_id : end->second.frames;
  }
  const auto missing = until - next_.frame_id;
  if (missing > 0)
    add(outcome_range{stream_, next_.epoch, next_.frame_id, missing, outcome::lost, reason::reorder});
  return missing;
}

void stream_order::give_up(outcome what, reason why, outcome_batch& into) {
  for (const auto& [at, e] : entries_)
    if (const auto* range = std::get_if<outcome_range>(&e))
      into.add(*range);
    else
      into.add({stream_, at.epoch, at.frame_id, 1, what, why});
  entries_.clear();
  waiting_ = 0;
  results_waiting_ = 0;
}

namespace {

class unbundle_stage final : public stage {
public:
  explicit unbundle_stage(const stage_plan& plan)
    : plan_(plan), order_(plan.graph->streams.size()), waits_(plan.graph->streams.size()) {
    for (auto s : plan.streams)
      order_[s].emplace(s, plan.graph->streams[s].first_epoch);
  }

  void on_item(item i, stage_context& context) override {
    const auto r = std::get<result_ptr>(std::move(i));
    const auto& slots = r->descriptor.slots;
    for (std::uint32_t s = 0; s < slots.size(); ++s)
      if (slots[s].own)
        add(frame_result_of(*r, s), context);
    for (const auto& s : slots)
      if (s.own)
        send(s.meta.stream, context);
  }

  void on_outcomes(std::span<const outcome_range> ranges, stage_context& context) override {
    for (const auto& range : ranges) {
      auto& order = order_of(range.stream);
      const held_sum::change counts{held_, order};
      if (const auto known = order.add(range); known > 0)
        context.discarded(range.stream, known);
    }
    for (const auto& range : ranges)
      send(range.stream, context);
  }

  void on_end(const stream_end& end, stage_context& context) override {
    order_of(end.stream).add(end);
    send(end.stream, context);
  }

  void on_credit(stream_index, stage_context& context) override {
    full_ = false;
    std::swap(now_, without_credit_);
    without_credit_.clear();
    for (const auto stream : now_)
      waits_[stream] = false;
    for (const auto stream : now_)
      send(stream, context);
  }

  /// Results wait in the mailbox while the edges below are full: here they would pile up without bound.
  bool takes(stream_index) const override { return !full_; }

  bool start(stage_context&) override { return true; }

  void give_up(outcome what, reason why, outcome_batch& into) noexcept override {
    for (auto& order : order_)
      if (order) {
        const held_sum::change counts{held_, *order};
        order->give_up(what, why, into);
      }
  }

  std::uint64_t held_frames() const noexcept override { return held_.frames(); }

private:
  stream_order& order_of(stream_index stream) {
    if (stream >= order_.size() || !order_[stream])
      throw std::logic_error("a frame of a stream that does not pass here");
    return *order_[stream];
  }

  void add(std::shared_ptr<frame_result> r, stage_context& context) {
    const auto stream = r->meta.stream;
    auto& order = order_of(stream);
    const held_sum::change counts{held_, order};
    if (const auto known = order.add(std::move(r)); known > 0)
      context.discarded(stream, known);
    // The plan leaves room for all that can be upstream: this happens only when an outcome is missing.
    // Outcomes wait as merged ranges and take no room.
    if (plan_.reorder > 0 && order.results_waiting() > plan_.reorder)
      if (const auto lost = order.skip_missing(); lost > 0)
        context.alarm(std::to_string(lost) + " frames had no outcome when the reorder space of "
                      + std::to_string(plan_.reorder) + " was full: they end as lost (reorder)");
  }

  static std::shared_ptr<frame_result> frame_result_of(const result& r, std::uint32_t s) {
    auto f = make_recycled<frame_result>();
    const auto& slot = r.descriptor.slots[s];
    const auto& found = r.slots[s];
    f->meta = slot.meta;
    f->what = found.what;
    f->why = found.why;
    f->sequence = r.descriptor.sequence;
    f->slot = static_cast<std::int32_t>(r.descriptor.first_slot + s);
    f->refers_to = found.refers_to;
    f->inferred = found.inferred;
    f->labels = r.labels;
    f->times = {as_graph(slot.meta.arrived), r.descriptor.released, r.dispatched, r.inferred, {}};
    if (!r.frames.empty() && r.frames[s].media)
      f->content = r.frames[s];
    return f;
  }

  /// Sends what is in order while the edges below take it; the rest waits here, ranges as ranges.
  void send(stream_index stream, stage_context& context) {
    auto& order = order_of(stream);
    const held_sum::change counts{held_, order};
    for (;;) {
      full_ = context.credit(0) == 0;
      if (full_) {
        if (!std::exchange(waits_[stream], true))
          without_credit_.push_back(stream);
        break;
      }
      auto r = order.next();
      if (!r)
        break;
      r->times.delivered = context.now();
      if (r->what == outcome::delivered && r->times.delivered > r->meta.deadline) {
        r->meta.flags |= frame_late;
        r->why = reason::late;
      }
      context.emit(frame_result_ptr{std::move(r)});
    }
    const auto ends = order.take_completed();
    for (const auto& end : ends)
      context.emit(end);
    if (!ends.empty()
        && std::ranges::all_of(order_, [](const auto& each) { return !each || each->closed(); }))
      context.done();
  }

  stage_plan plan_;
  std::vector<std::optional<stream_order>> order_; ///< by stream
  held_sum held_;                                  ///< of `order_`
  std::vector<char> waits_; ///< per stream: is in `without_credit_`
  std::vector<stream_index> without_credit_, now_;
  bool full_ = false; ///< the edges below took the last result that they had room for
};

} // namespace

stage_description describe_unbundle() {
  stage_description d;
  d.name = "unbundle";
  d.summary = "Splits results by frame, puts them back in stream order, and says why a frame has none.";
  d.inputs = {{"in", {port_type::result}, "results from `infer`"}};
  d.outputs = {{"out", {port_type::frame_result}, "one item per captured frame, in stream order"}};
  d.parameters = {{.name = "reorder",
                   .type = parameter_type::integer,
                   .help = "Frames per stream that may wait for an earlier one; computed from the stages "
                           "above, and may only be set larger.",
                   .least = 1,
                   .most = 1e9,
                   .unit = "frames"}};
  d.settles = true;
  d.make = [](const stage_plan& plan) { return std::make_unique<unbundle_stage>(plan); };
  return d;
}

} // namespace hyperframes
