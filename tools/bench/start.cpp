#include "graphs/hyperframes.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/part.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace hyperframes::bench {

namespace {

constexpr int size = 8, later_ones = 60;

/// Counts results, and wakes who waits for one.
class arrivals {
public:
  void add() {
    const std::lock_guard lock{mutex_};
    ++count_;
    changed_.notify_one();
  }
  void wait_for(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return count_ >= count; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

} // namespace

std::vector<double> start_once(const std::vector<std::string>&) {
  const auto g = graph::from_text(
    R"(
hyperframes: 1
name: start
streams:
  - { id: line, camera: { type: push, size: 640x480, format: bgr24, live: false } }
stages:
  capture:  { type: capture }
  bundle:   { type: bundle, from: capture, size: 8 }
  schedule: { type: schedule, from: bundle }
  infer:    { type: infer, from: schedule, model: )"
    + shipped("models/parts.onnx") + R"( }
  unbundle: { type: unbundle, from: infer }
  program:  { type: callback, from: unbundle }
)");
  arrivals results;
  running run{g, {.callbacks = {{"program", [&](const item&) { results.add(); }}}}};
  const auto line = run.input("line");
  const std::vector<std::byte> pixels(640 * 480 * 3, std::byte{100});
  std::vector<double> took;
  for (int n = 0; n <= later_ones; ++n) {
    const auto begin = wall_seconds();
    for (int slot = 0; slot < size; ++slot)
      if (
        line->push_for(
          pixels, capture_time{std::chrono::milliseconds{33 * (n * size + slot)}},
          std::chrono::seconds{60})
        != push_result::taken)
        throw failure(make_error(errc::stage_failed, "line", "takes no frame"));
    results.wait_for((n + 1) * size);
    took.push_back(wall_seconds() - begin);
  }
  line->close();
  if (!run.finish().closed())
    throw failure(make_error(errc::stage_failed, "start", "the ledger is open"));
  return took;
}

report start_report(const std::vector<std::vector<double>>& runs) {
  samples first, middle, ratio;
  for (const auto& took : runs) {
    const samples later{{took.begin() + 1, took.end()}};
    first.values.push_back(took.front() * 1e3);
    middle.values.push_back(later.median() * 1e3);
    ratio.values.push_back(first.values.back() / middle.values.back());
  }
  return {
    "Each run is a new process. It starts a graph with graphs/models/parts.onnx, which returns "
    "when every "
    "stage says ready; then 8 frames of 640x480 are pushed, their results awaited, and so on for "
    "61 "
    "hyperframes, one at a time. A hyperframe takes from its first push to its last result. The "
    "first one "
    "is divided by the median of the 60 others of its run.",
    {reading_of("first hyperframe / median", "x", ratio, at_most(1.5)),
     reading_of("first hyperframe", "ms", first),
     reading_of("median of the others", "ms", middle)}};
}

report start(const context& c) {
  std::vector<std::vector<double>> runs;
  for (std::size_t round = 1; round <= 7; ++round) {
    c.progress(round, "a new process");
    runs.push_back(in_new_process("start"));
  }
  return start_report(runs);
}

} // namespace hyperframes::bench
