#include "actors/infer/worker_pool.hpp"

#include "runtime/error.hpp"

#include <algorithm>

namespace hyperframes {

worker_pool::worker_pool(const worker_pool_options& options)
  : options_(options), workers_(options.workers), next_lane_(options.workers) {
  for (std::uint32_t i = 0; i < workers_.size(); ++i)
    workers_[i].lane = i;
}

const worker_pool::worker* worker_pool::find(std::uint32_t lane) const {
  const auto at = std::ranges::find(workers_, lane, &worker::lane);
  return at == workers_.end() ? nullptr : &*at;
}

worker_pool::worker* worker_pool::find(std::uint32_t lane) {
  return const_cast<worker*>(std::as_const(*this).find(lane));
}

std::uint32_t worker_pool::worker_on(std::uint32_t lane) const {
  return static_cast<std::uint32_t>(find(lane) - workers_.data());
}

bool worker_pool::warmed(std::uint32_t lane) {
  find(lane)->warm = true;
  return std::ranges::all_of(workers_, &worker::warm);
}

recycled_vector<worker_pool::assignment> worker_pool::assign(graph_time now) {
  recycled_vector<assignment> result;
  while (!queue_.empty() && !too_far_ahead() && !must_wait_alone()) {
    const auto least = std::ranges::min_element(workers_, {}, [this](const worker& w) {
      return w.warm ? w.under_way.size() : options_.depth;
    });
    if (!least->warm || least->under_way.size() >= options_.depth)
      break;
    if (least->under_way.empty())
      least->since = now;
    least->under_way.push_back(std::move(queue_.front()));
    queue_.pop_front();
    const auto& given = least->under_way.back();
    result.push_back({least->lane, given.work, given.brought_down + given.nodes_lost});
  }
  return result;
}

bool worker_pool::too_far_ahead() const {
  const auto number = queue_.front().work->number;
  return std::ranges::any_of(workers_, [&](const worker& w) {
    return !w.under_way.empty() && number > w.under_way.front().work->number
           && number - w.under_way.front().work->number > options_.ahead;
  });
}

bool worker_pool::must_wait_alone() const {
  const auto busy = [](const worker& w) { return !w.under_way.empty(); };
  if (suspect(queue_.front()))
    return std::ranges::any_of(workers_, busy);
  return std::ranges::any_of(
    workers_, [&](const worker& w) { return busy(w) && suspect(w.under_way.front()); });
}

batch_ptr worker_pool::finished(std::uint32_t lane, graph_time now) {
  auto& w = *find(lane);
  auto work = std::move(w.under_way.front().work);
  w.under_way.pop_front();
  w.since = w.under_way.empty() ? never : now;
  return work;
}

worker_pool::loss worker_pool::lost(std::uint32_t lane, graph_time now, lost_by cause) {
  auto& w = *find(lane);
  const auto which = static_cast<std::uint32_t>(&w - workers_.data());
  if (++replaced_ > options_.replacements)
    throw failure(make_error(errc::stage_failed, "worker " + std::to_string(which),
                             "is lost, and so were " + std::to_string(options_.replacements)
                               + " workers before it; the model or its device does not work"));
  loss result{which, next_lane_++, w.since == never ? duration{0} : now - w.since, nullptr};
  auto jobs = std::exchange(w.under_way, {});
  w.lane = result.new_lane;
  w.warm = false;
  w.since = never;
  if (!jobs.empty()) {
    auto& at = jobs.front();
    at.brought_down += cause == lost_by::batch ? 1 : 0;
    at.nodes_lost += cause == lost_by::node ? 1 : 0;
    if (at.brought_down >= options_.tries || at.nodes_lost >= options_.nodes) {
      result.quarantined = std::move(at.work);
      jobs.pop_front();
    }
  }
  while (!jobs.empty()) {
    queue_.push_front(std::move(jobs.back()));
    jobs.pop_back();
  }
  return result;
}

std::vector<worker_pool::loss> worker_pool::look(graph_time now) {
  std::vector<loss> result;
  for (const auto& w : workers_)
    if (w.since != never && now >= later_by(w.since, options_.patience))
      result.push_back(lost(w.lane, now));
  return result;
}

graph_time worker_pool::due() const {
  auto due = never;
  for (const auto& w : workers_)
    if (w.since != never)
      due = std::min(due, later_by(w.since, options_.patience));
  return due;
}

batch_ptr worker_pool::evict() {
  if (queue_.empty())
    return nullptr;
  auto work = std::move(queue_.front().work);
  queue_.pop_front();
  return work;
}

std::uint32_t worker_pool::room() const {
  std::uint32_t room = 0;
  for (const auto& w : workers_)
    if (w.warm)
      room += options_.depth - static_cast<std::uint32_t>(w.under_way.size());
  return room;
}

std::vector<batch_ptr> worker_pool::take_all() {
  std::vector<batch_ptr> all;
  for (auto& w : workers_) {
    for (auto& j : w.under_way)
      all.push_back(std::move(j.work));
    w.under_way.clear();
    w.since = never;
  }
  for (auto& j : queue_)
    all.push_back(std::move(j.work));
  queue_.clear();
  return all;
}

} // namespace hyperframes
