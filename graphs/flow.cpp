#include "graphs/flow.hpp"

#include "runtime/defaults.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace hyperframes {

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

double ns(duration d) {
  return static_cast<double>(d.count());
}

/// Works on one job after the other.
struct server {
  struct job {
    double cost = 0; ///< ns
    std::function<void()> done;
  };
  bool on_cpu = true;
  std::deque<job> jobs;
  double busy = 0; ///< ns
};

/// Servers and the time that goes by. Times in ns as numbers: speeds are no whole ones.
class workshop {
public:
  explicit workshop(double cores) : cores_(cores) {}

  /// @returns its index.
  std::size_t add(bool on_cpu) {
    servers_.push_back({on_cpu, {}, 0});
    return servers_.size() - 1;
  }
  server& at(std::size_t i) { return servers_[i]; }
  bool idle(std::size_t i) const { return servers_[i].jobs.empty(); }
  void give(std::size_t i, duration cost, std::function<void()> done) {
    servers_[i].jobs.push_back({ns(cost), std::move(done)});
  }
  double now() const { return now_; }

  /// Goes to the next job's end, at most to `until`. @returns false where nothing is to be done by
  /// then.
  bool step(double until) {
    const auto working = static_cast<double>(
      std::ranges::count_if(servers_, [](const server& s) { return s.on_cpu && !s.jobs.empty(); }));
    const auto shared = std::min(1.0, cores_ / std::max(1.0, working));
    const auto speed = [&](const server& s) { return s.on_cpu ? shared : 1.0; };
    server* first = nullptr;
    double least = until - now_;
    for (auto& s : servers_)
      if (!s.jobs.empty() && s.jobs.front().cost / speed(s) < least) {
        least = s.jobs.front().cost / speed(s);
        first = &s;
      }
    if (least == forever)
      return false;
    for (auto& s : servers_)
      if (!s.jobs.empty()) {
        s.jobs.front().cost -= least * speed(s);
        s.busy += least;
      }
    now_ += least;
    if (!first)
      return false;
    auto ended = std::move(first->jobs.front());
    first->jobs.pop_front();
    ended.done();
    return true;
  }

private:
  double cores_;
  double now_ = 0;
  std::vector<server> servers_;
};

/// The stages from the cameras to the sinks.
class flow {
public:
  flow(const cost_model& costs, const flow_load& load, const flow_settings& with)
    : costs_(costs),
      load_(load),
      with_(with),
      shop_(with.shared.cores),
      streams_(load.streams),
      sets_((load.streams + load.group - 1) / load.group),
      lanes_((load.streams + load.members - 1) / load.members) {
    for (std::uint32_t i = 0; i < with.shared.readers; ++i)
      readers_.push_back(shop_.add(true));
    messages_ = shop_.add(true);
    bundle_ = shop_.add(true);
    schedule_ = shop_.add(true);
    deliver_ = shop_.add(true);
    for (std::uint32_t i = 0; i < with.shared.workers; ++i)
      workers_.push_back(shop_.add(costs.costs().infer_on_cpu));
  }

  flow_outcome run() {
    if (load_.live)
      run_live();
    else
      for (std::uint32_t s = 0; s < load_.streams; ++s)
        for (std::uint32_t i = 0; i < with_.prefetch; ++i)
          read(s);
    finish();
    for (std::uint32_t l = 0; l < lanes_.size(); ++l) // whose last frame was lost
      if (!lanes_[l].open.empty())
        close(l);
    finish();
    return outcome();
  }

private:
  struct stream {
    std::uint32_t read = 0;     ///< frames that a reader has, or had, in hand
    std::uint32_t in_hand = 0;  ///< of these, those that have not arrived
    std::uint32_t on_edge = 0;  ///< in front of bundle
    std::deque<double> waiting; ///< arrivals of a file's frames that have not left capture
  };
  struct hyperframe {
    std::uint32_t lane = 0;
    std::uint64_t number = 0; ///< in its lane
    std::vector<double> arrivals;
  };
  struct lane {
    std::vector<double> open;
    std::uint64_t taken = 0;                            ///< frames
    std::uint64_t released = 0, delivered = 0;          ///< hyperframes
    std::map<std::uint64_t, std::vector<double>> early; ///< results that wait for an earlier one
  };
  using arrival = std::pair<std::uint32_t, double>; ///< stream, when

  void finish() {
    while (shop_.step(forever))
      ;
  }

  void run_live() {
    for (std::uint32_t n = 0; n < load_.frames; ++n) {
      const auto due = n / load_.fps * 1e9;
      while (shop_.step(due))
        ;
      for (std::uint32_t s = 0; s < load_.streams; ++s)
        if (streams_[s].in_hand == 0)
          read(s);
        else
          ++lost_; // the camera holds one picture; the next one takes its place
    }
  }

  void read(std::uint32_t s) {
    auto& from = streams_[s];
    if (from.read == load_.frames)
      return;
    ++from.read;
    ++from.in_hand;
    shop_.give(readers_[s % readers_.size()], costs_.costs().acquire, [this, s] { arrive(s); });
  }

  void arrive(std::uint32_t s) {
    --streams_[s].in_hand;
    streams_[s].waiting.push_back(shop_.now());
    forward(s);
  }

  /// Out of capture, as far as the edge has room; a live stream's edge drops the oldest.
  void forward(std::uint32_t s) {
    auto& from = streams_[s];
    while (!from.waiting.empty() && (load_.live || from.on_edge < with_.frames)) {
      const auto arrived = from.waiting.front();
      from.waiting.pop_front();
      ++from.on_edge;
      align({s, arrived});
      if (!load_.live)
        read(s);
    }
  }

  /// The frames of a moment go on together.
  void align(const arrival& a) {
    const auto g = a.first / load_.group;
    auto& set = sets_[g];
    set.push_back(a);
    if (set.size() < std::min(load_.group, load_.streams - g * load_.group))
      return;
    for (const auto& each : std::exchange(set, {}))
      shop_.give(messages_, costs_.costs().other, [this, each] {
        in_front_.push_back(each);
        bundle();
      });
  }

  void bundle() {
    while (!in_front_.empty() && shop_.idle(bundle_) && !full_) {
      const auto [s, arrived] = in_front_.front();
      in_front_.pop_front();
      --streams_[s].on_edge;
      shop_.give(bundle_, costs_.pack(with_.size * load_.members), [this, s, arrived] {
        take(s / load_.members, arrived);
        bundle();
      });
      forward(s);
    }
  }

  void take(std::uint32_t l, double arrived) {
    lanes_[l].open.push_back(arrived);
    const auto members = std::min(load_.members, load_.streams - l * load_.members);
    const bool last = ++lanes_[l].taken == std::uint64_t{load_.frames} * members;
    if (lanes_[l].open.size() == std::size_t{with_.size} * members || last)
      close(l);
  }

  void close(std::uint32_t l) {
    ready_.push_back({l, lanes_[l].released++, std::exchange(lanes_[l].open, {})});
    release();
  }

  /// From bundle into the queue of schedule.
  void release() {
    while (!ready_.empty() && (load_.live || queued_ < with_.hyperframes)) {
      ++queued_;
      shop_.give(schedule_, costs_.costs().schedule, [this, h = std::move(ready_.front())] {
        queue_.push_back(h);
        if (queued_ > with_.hyperframes) { // live
          dropped_ += queue_.front().arrivals.size();
          auto oldest = std::move(queue_.front());
          queue_.pop_front();
          --queued_;
          oldest.arrivals.clear();
          deliver(std::move(oldest));
        }
        dispatch();
      });
      ready_.pop_front();
    }
    full_ = !ready_.empty();
  }

  bool may_dispatch() const {
    if (queue_.empty() || dispatched_ >= with_.batches)
      return false;
    return !with_.expires || dispatched_ < workers_.size()
           || costs_.infer(with_.batch) < defaults::quick_batch;
  }

  void dispatch() {
    while (may_dispatch()) {
      std::vector<hyperframe> parts;
      std::size_t slots = 0;
      do {
        slots += queue_.front().arrivals.size();
        parts.push_back(std::move(queue_.front()));
        queue_.pop_front();
        --queued_;
      } while (!queue_.empty() && slots + queue_.front().arrivals.size() <= with_.batch);
      ++dispatched_;
      waiting_.push_back({std::move(parts), slots});
    }
    work();
    release();
    bundle();
  }

  void work() {
    for (const auto w : workers_) {
      if (waiting_.empty())
        return;
      if (!shop_.idle(w))
        continue;
      auto [parts, slots] = std::move(waiting_.front());
      waiting_.pop_front();
      shop_.give(w, costs_.infer(static_cast<std::uint32_t>(slots)), [this, parts] {
        --dispatched_;
        for (const auto& h : parts)
          deliver(h);
        dispatch();
      });
    }
  }

  /// In the order of its lane.
  void deliver(hyperframe h) {
    auto& of = lanes_[h.lane];
    of.early.emplace(h.number, std::move(h.arrivals));
    while (!of.early.empty() && of.early.begin()->first == of.delivered) {
      for (const auto arrived : of.early.begin()->second)
        shop_.give(deliver_, costs_.costs().deliver, [this, arrived] {
          latencies_.push_back(shop_.now() - arrived);
          last_ = shop_.now();
        });
      of.early.erase(of.early.begin());
      ++of.delivered;
    }
  }

  flow_outcome outcome() {
    flow_outcome o;
    o.delivered = latencies_.size();
    o.dropped = dropped_ + lost_;
    if (latencies_.empty())
      return o;
    std::ranges::sort(latencies_);
    const auto at = [&](double share) { // nearest rank, as time_histogram
      const auto rank = std::ceil(share * static_cast<double>(latencies_.size()));
      return duration{std::llround(latencies_[static_cast<std::size_t>(rank) - 1])};
    };
    o.p50 = at(0.5);
    o.p99 = at(0.99);
    o.longest = at(1);
    if (last_ > 0) {
      o.fps = static_cast<double>(o.delivered) / last_ * 1e9;
      for (const auto w : workers_)
        o.infer_busy += shop_.at(w).busy / last_ / static_cast<double>(workers_.size());
    }
    return o;
  }

  const cost_model& costs_;
  flow_load load_;
  flow_settings with_;
  workshop shop_;
  std::vector<std::size_t> readers_, workers_;
  std::size_t messages_ = 0, bundle_ = 0, schedule_ = 0, deliver_ = 0;
  std::vector<stream> streams_;
  std::vector<std::vector<arrival>> sets_; ///< by group, what align has of a moment
  std::vector<lane> lanes_;
  std::deque<arrival> in_front_; ///< of bundle
  std::deque<hyperframe> ready_; ///< released, and schedule has no room
  bool full_ = false;
  std::uint32_t queued_ = 0; ///< hyperframes in schedule, or on their way there
  std::deque<hyperframe> queue_;
  std::uint32_t dispatched_ = 0;
  std::deque<std::pair<std::vector<hyperframe>, std::size_t>> waiting_; ///< batches for a worker
  std::uint64_t dropped_ = 0, lost_ = 0;
  std::vector<double> latencies_;
  double last_ = 0;
};

} // namespace

flow_outcome play_flow(const cost_model& costs, const flow_load& load, const flow_settings& with) {
  return flow{costs, load, with}.run();
}

} // namespace hyperframes
