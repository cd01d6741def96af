// What is released or expires after a set time: how far from that time a program sees it.
#include "tools/bench/punctuality.hpp"

#include "graphs/hyperframes.hpp"
#include "graphs/values.hpp"
#include "tools/bench/benchmarks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

namespace hyperframes::bench {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds set_times[]{
  milliseconds{5}, milliseconds{20}, milliseconds{100}, milliseconds{500}, milliseconds{5000}};
constexpr unsigned streams_each = 100;
/// In which all streams get their one frame, so that the times do not fall together.
constexpr milliseconds spread{1000};

std::string label(milliseconds t) {
  return "t" + std::to_string(t.count());
}

std::string streams_text() {
  std::string text = "hyperframes: 1\nname: punctuality\nstreams:\n";
  const std::string camera = ", camera: { type: push, size: 16x16, format: gray8, live: true } }\n";
  for (const auto t : set_times)
    text += "  - { id: \"" + label(t) + ".s{1.." + std::to_string(streams_each) + "}\"" + camera
            + "  - { id: " + label(t) + ".plug" + camera;
  return text + "stages:\n";
}

std::string capture_text(milliseconds t) {
  return "  capture_" + label(t) + ": { type: capture, streams: \"" + label(t) + ".*\" }\n";
}

std::string release_graph() {
  auto text = streams_text();
  for (const auto t : set_times)
    text += capture_text(t) + "  bundle_" + label(t) + ": { type: bundle, from: capture_" + label(t)
            + ", size: 8, release: { timeout: " + write_duration(t) + " } }\n  seen_" + label(t)
            + ": { type: callback, from: bundle_" + label(t) + " }\n";
  return text;
}

/// A device that is busy for longer than the longest time, so that all else waits in `schedule`.
std::string expiry_graph() {
  auto text = streams_text();
  for (const auto t : set_times)
    text += capture_text(t) + "  bundle_" + label(t) + ": { type: bundle, from: capture_" + label(t)
            + ", size: 1 }\n  schedule_" + label(t) + ": { type: schedule, from: { stage: bundle_"
            + label(t) + ", capacity: 200 }, ttl: " + write_duration(t) + " }\n  infer_" + label(t)
            + ": { type: infer, from: schedule_" + label(t)
            + ", backend: simulated, batch: { max: 1 }, simulated: { fixed: 7s, per_slot: 0s } }\n "
              " unbundle_"
            + label(t) + ": { type: unbundle, from: infer_" + label(t) + " }\n  seen_" + label(t)
            + ": { type: callback, from: { stage: schedule_" + label(t)
            + ", port: expired } }\n  rest_" + label(t) + ": { type: \"null\", from: unbundle_"
            + label(t) + " }\n";
  return text;
}

/// Threads that compute, one a core.
class hogs {
public:
  explicit hogs(bool busy) {
    for (unsigned i = 0; busy && i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      threads_.emplace_back([](const std::stop_token& stop) {
        std::atomic<std::uint64_t> n{0};
        while (!stop.stop_requested())
          n.fetch_add(1, std::memory_order_relaxed);
      });
  }

private:
  std::vector<std::jthread> threads_;
};

/// When each stream's item was pushed and seen, in seconds on the steady clock; 0: not yet.
class sightings {
public:
  explicit sightings(std::size_t streams) : pushed_(streams), seen_(streams) {}
  void push(std::size_t stream) { pushed_[stream] = wall_seconds(); }
  void see(std::size_t stream) { seen_[stream] = wall_seconds(); }
  /// Milliseconds from the set time on, of the streams from `first` on; one that was not seen is
  /// infinitely late.
  std::vector<double> deviations(std::size_t first, milliseconds set) const {
    std::vector<double> result;
    for (std::size_t s = first; s < first + streams_each; ++s)
      result.push_back(
        seen_[s] > 0 ? (seen_[s] - pushed_[s]) * 1e3 - static_cast<double>(set.count()) : INFINITY);
    return result;
  }

private:
  std::vector<std::atomic<double>> pushed_, seen_;
};

std::size_t stream_of(const item& i) {
  if (const auto* h = std::get_if<hyperframe_ptr>(&i))
    return (*h)->descriptor.slots.front().meta.stream;
  return std::get<outcome_range>(i).stream;
}

/// One frame into each stream, spread over time, the streams of all set times in turn.
void push_all(running& run, sightings& times) {
  const std::vector<std::byte> pixels(16 * 16);
  const auto push = [&](const std::string& stream) {
    run.input(stream)->push_for(pixels, capture_time{}, std::chrono::seconds{10});
  };
  for (const auto t : set_times)
    push(label(t) + ".plug");
  std::this_thread::sleep_for(milliseconds{100}); // they are dispatched before the others come
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned s = 0; s < streams_each; ++s)
    for (std::size_t k = 0; k < std::size(set_times); ++k) {
      const auto place = s * std::size(set_times) + k;
      std::this_thread::sleep_until(begin + spread * place / (streams_each * std::size(set_times)));
      times.push(k * (streams_each + 1) + s);
      push(label(set_times[k]) + ".s" + std::to_string(s + 1));
    }
}

/// @returns the deviations of each set time, in ms.
std::vector<std::vector<double>> once(const graph& g, bool loaded) {
  sightings times{std::size(set_times) * (streams_each + 1)};
  run_options options;
  for (const auto t : set_times)
    options.callbacks["seen_" + label(t)] = [&](const item& i) { times.see(stream_of(i)); };
  const hogs busy{loaded};
  running run{g, std::move(options)};
  push_all(run, times);
  std::this_thread::sleep_for(set_times[std::size(set_times) - 1] + milliseconds{200});
  run.drain();
  if (!run.finish().closed())
    throw failure(make_error(errc::stage_failed, "punctuality", "the ledger is open"));
  std::vector<std::vector<double>> result;
  for (std::size_t k = 0; k < std::size(set_times); ++k)
    result.push_back(times.deviations(k * (streams_each + 1), set_times[k]));
  return result;
}

report measure(const context& c, const graph& g, const std::string& method) {
  std::vector<punctuality_row> rows;
  for (const bool loaded : {false, true}) {
    const auto begin = rows.size();
    for (const auto t : set_times)
      rows.push_back({t, loaded, {}});
    for (std::size_t round = 1; round <= least_rounds; ++round) {
      c.progress(round, loaded ? "loaded" : "idle");
      const auto seen = once(g, loaded);
      for (std::size_t k = 0; k < seen.size(); ++k)
        rows[begin + k].rounds.push_back(seen[k]);
    }
  }
  return punctuality_report(method, rows);
}

} // namespace

double p99_of_size(std::vector<double> deviations) {
  if (deviations.empty())
    return NAN;
  std::ranges::for_each(deviations, [](double& d) { d = std::abs(d); });
  std::ranges::sort(deviations);
  const auto rank =
    static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(deviations.size())));
  return deviations[rank - 1];
}

report punctuality_report(const std::string& method, const std::vector<punctuality_row>& rows) {
  report r{method, {}};
  for (const auto& row : rows) {
    samples p99;
    for (const auto& round : row.rounds)
      p99.values.push_back(p99_of_size(round));
    r.results.push_back(reading_of(
      write_duration(row.set) + (row.loaded ? ", loaded: p99" : ", idle: p99"), "ms off", p99,
      at_most(row.loaded ? 5 : 2)));
  }
  return r;
}

namespace {

const std::string how = " 100 streams for each set time (5, 20, 100, 500 ms, 5 s), all in one "
                        "graph, one frame each, spread over a "
                        "second. A program pushes it and takes the time; what is seen is when the "
                        "program's callback gets the item "
                        "that follows. Early or late by how much: the 99th of 100, in each of five "
                        "rounds. Loaded: a computing thread "
                        "for each core beside it, at the same priority.";

} // namespace

report release(const context& c) {
  return measure(
    c, graph::from_text(release_graph()),
    "A hyperframe of 8 slots gets one frame and is released by its timeout." + how);
}

report expiry(const context& c) {
  return measure(
    c, graph::from_text(expiry_graph()),
    "A hyperframe waits in schedule behind a (simulated) device that is busy for 7 s, and expires "
    "by its ttl."
      + how);
}

} // namespace hyperframes::bench
