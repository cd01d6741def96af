#include "graphs/hyperframes.hpp"
#include "tools/bench/allocations.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/part.hpp"

#include <atomic>
#include <iostream>
#include <optional>

namespace hyperframes::bench {

namespace {

constexpr std::uint64_t warm = 500, measured = 2000;

} // namespace

/// @returns own allocations, CAF's, others', pixel writes and bytes copied, each per frame.
std::vector<double> copies_once(const std::vector<std::string>&) {
  const auto g = graph::from_text(
    R"(
hyperframes: 1
name: copies
streams:
  - { id: film, camera: { type: synthetic, scene: counter, size: 640x480, realtime: false, frames: 4000 } }
stages:
  capture:  { type: capture }
  bundle:   { type: bundle, from: capture, size: 8 }
  schedule: { type: schedule, from: bundle }
  infer:    { type: infer, from: schedule, model: )"
    + shipped("models/parts.onnx") + R"( }
  unbundle: { type: unbundle, from: infer }
  program:  { type: callback, from: unbundle }
)");
  std::atomic<std::uint64_t> seen{0};
  std::optional<counting> count;
  std::vector<allocation_site> sites;
  running run{g, {.callbacks = {{"program", [&](const item&) {
                                   const auto n = ++seen;
                                   if (n == warm)
                                     count.emplace();
                                   if (n == warm + measured)
                                     sites = count->stop();
                                 }}}}};
  run.wait(std::chrono::minutes{5});
  const auto summary = run.finish();
  if (!summary.closed() || seen != 4000)
    throw failure(make_error(errc::stage_failed, "copies", "the ledger is open"));
  for (std::size_t i = 0; i < std::min<std::size_t>(20, sites.size()); ++i)
    std::cerr << "  " << static_cast<double>(sites[i].times) / measured << " a frame ("
              << (sites[i].whose == owner::ours  ? "ours"
                  : sites[i].whose == owner::caf ? "CAF's"
                                                 : "others'")
              << "): " << sites[i].name.substr(0, 160) << '\n';
  const auto per_frame = [&](owner o) {
    return static_cast<double>(times_by(sites, o)) / measured;
  };
  return {
    per_frame(owner::ours), per_frame(owner::caf), per_frame(owner::others),
    summary.pixel_writes_per_frame, summary.bytes_copied_per_frame};
}

report copies_report(const std::vector<std::vector<double>>& runs) {
  samples values[5];
  for (const auto& run : runs)
    for (std::size_t i = 0; i < 5; ++i)
      values[i].values.push_back(run.at(i));
  return {
    "Each run is a new process: 4000 frames of 640x480, as fast as they are taken, through "
    "capture, bundle (8), "
    "schedule, infer (graphs/models/parts.onnx, ONNX Runtime or OpenCV), unbundle and a callback. "
    "Pixel writes "
    "(whole frames, at ingest and when packed) and bytes copied beyond them are the runtime's own "
    "counts. "
    "Allocations: the program's operator new records who calls it while frames 500 to 2500 are "
    "delivered, by the "
    "first function on the call path that is not the standard library's: CAF's, of another "
    "library, or ours; "
    "what cannot be told counts as ours. CAF's memory for messages comes from malloc and is not in "
    "its count.",
    {reading_of("pixel writes", "frames a frame", values[3], at_most(2)),
     reading_of("pixels copied beyond", "bytes a frame", values[4], at_most(0)),
     reading_of("allocations of our own", "a frame", values[0], under(0.1)),
     reading_of("allocations of CAF", "a frame", values[1]),
     reading_of("allocations of other libraries", "a frame", values[2])}};
}

report copies(const context& c) {
  std::vector<std::vector<double>> runs;
  for (std::size_t round = 1; round <= least_rounds; ++round) {
    c.progress(round, "a new process");
    runs.push_back(in_new_process("copies"));
  }
  return copies_report(runs);
}

} // namespace hyperframes::bench
