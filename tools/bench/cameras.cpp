#include "graphs/hyperframes.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/part.hpp"

#include <algorithm>

namespace hyperframes::bench {

namespace {

constexpr unsigned live_streams = 48, windows = 5;
constexpr double budget_ms = 500;
constexpr std::uint64_t scale_frames = 48000;

std::uint64_t lost_in(const run_summary& s) {
  auto lost = s.ledger.captured - s.ledger.outcomes[static_cast<std::size_t>(outcome::delivered)];
  for (const auto& stream : s.streams)
    lost += stream.device_lost;
  return lost;
}

void check_closed(const run_summary& s) {
  if (!s.closed())
    throw failure(make_error(errc::stage_failed, "cameras", "the ledger is open"));
}

std::string stages(const std::string& infer) {
  return "stages:\n"
         "  capture:  { type: capture }\n"
         "  bundle:   { type: bundle, from: capture, size: 8 }\n"
         "  schedule: { type: schedule, from: bundle }\n"
         "  infer:    { type: infer, from: schedule, "
         + infer
         + " }\n"
           "  unbundle: { type: unbundle, from: infer }\n"
           "  results:  { type: \"null\", from: unbundle }\n";
}

} // namespace

std::vector<double> live_cameras_once(const std::vector<std::string>& arguments) {
  const auto streams = arguments.at(0);
  const auto seconds = std::stod(arguments.at(1));
  const auto g = graph::from_text(
    "hyperframes: 1\n"
    "name: cameras\n"
    "latency_budget: 500ms\n"
    "streams:\n"
    "  - { id: \"cam{1.."
    + streams + "}\", camera: { type: synthetic, scene: counter, size: 64x48, fps: 30 } }\n"
    + stages("model: \"" + shipped("models/parts.onnx") + "\", batch: { max: 16 }"));
  const auto cpu = cpu_seconds();
  running run{g};
  std::vector<double> result(3);
  double before = 0, at = wall_seconds();
  for (unsigned w = 0; w < windows; ++w) {
    run.wait(
      std::chrono::duration_cast<duration>(std::chrono::duration<double>{seconds / windows}));
    const auto now = run.so_far();
    const auto frames = static_cast<double>(now.ledger.captured);
    const auto moment = wall_seconds();
    result.push_back((frames - before) / (moment - at));
    result.push_back(static_cast<double>(now.rss_bytes));
    before = frames;
    at = moment;
  }
  run.drain();
  const auto s = run.finish();
  check_closed(s);
  result[0] = static_cast<double>(lost_in(s));
  result[1] = in_ms(s.total.p99);
  result[2] = (cpu_seconds() - cpu) / static_cast<double>(s.ledger.captured);
  return result;
}

std::vector<double> many_streams_once(const std::vector<std::string>& arguments) {
  const auto streams = std::stoull(arguments.at(0)), frames = std::stoull(arguments.at(1));
  const auto each = frames / streams;
  const auto g = graph::from_text(
    "hyperframes: 1\n"
    "name: streams\n"
    "streams:\n"
    "  - { id: \"cam{1.."
    + std::to_string(streams)
    + "}\", camera: { type: synthetic, scene: gradient, size: 32x32, format: gray8, realtime: "
      "false, frames: "
    + std::to_string(each) + " } }\n"
    + stages("backend: simulated, simulated: { fixed: 0s, per_slot: 0s }, input: { size: 32x32, "
             "color: gray }"));
  const auto before = cpu_seconds();
  running run{g};
  run.wait(std::chrono::minutes{5});
  const auto s = run.finish();
  const auto used = cpu_seconds() - before;
  check_closed(s);
  if (lost_in(s) != 0 || s.ledger.captured != each * streams)
    throw failure(make_error(errc::stage_failed, "cameras", "a frame of a file was lost"));
  return {used / static_cast<double>(s.ledger.captured)};
}

report cameras_report(const std::vector<double>& live, const std::vector<samples>& scale) {
  const std::vector<double> one(live.begin(), live.begin() + 3);
  samples rate, memory, grown;
  for (std::size_t i = 3; i + 1 < live.size(); i += 2) {
    rate.values.push_back(live[i]);
    memory.values.push_back(live[i + 1] / (1 << 20));
  }
  grown.values = {memory.values.empty() ? 0 / 0.0 : memory.values.back() / memory.values.front()};
  report r;
  r.results = {
    reading_of("48 x 30 fps: frames not delivered", "frames", {{one[0]}}, at_most(0)),
    reading_of("48 x 30 fps: p99 from arrival to result", "ms", {{one[1]}}, at_most(budget_ms)),
    reading_of("48 x 30 fps: memory after 60 s / after 12 s", "x", grown, at_most(1.02)),
    reading_of("48 x 30 fps: captured", "fps", rate, at_least(0.99 * live_streams * 30)),
    reading_of("48 x 30 fps: resident memory", "MiB", memory),
    reading_of("48 x 30 fps: CPU per frame", "us CPU", {{one[2] * 1e6}})};
  samples spread;
  for (std::size_t n = 0; n < scale.front().values.size(); ++n) {
    double least = scale.front().values[n], most = least;
    for (const auto& s : scale) {
      least = std::min(least, s.values.at(n));
      most = std::max(most, s.values.at(n));
    }
    spread.values.push_back(most / least);
  }
  r.results.push_back(
    reading_of("CPU per frame: dearest / cheapest of 1 to 500 streams", "x", spread, at_most(1.2)));
  for (std::size_t i = 0; i < scale.size(); ++i) {
    auto us = scale[i];
    for (auto& v : us.values)
      v *= 1e6;
    r.results.push_back(
      reading_of("CPU per frame: streams " + std::to_string(stream_counts[i]), "us CPU", us));
  }
  return r;
}

report cameras(const context& c) {
  c.progress(1, "48 cameras for a minute");
  const auto live = in_new_process("live cameras", {std::to_string(live_streams), "60"});
  std::vector<contestant> all;
  for (const auto streams : stream_counts)
    all.push_back({std::to_string(streams) + " streams", [streams] {
                     return in_new_process(
                              "many streams",
                              {std::to_string(streams), std::to_string(scale_frames)})
                       .at(0);
                   }});
  auto r = cameras_report(live, take_turns(all, least_rounds, c.progress));
  r.method = "48 x 30 fps: synthetic cameras of 64x48 in real time for 60 s, hyperframes of 8, "
             "graphs/models/parts.onnx, a process of its own; one run, read every 12 s. Not "
             "delivered are frames with "
             "any other outcome, and those that a camera lost because nobody fetched them; the run "
             "fails where its ledger "
             "is open. The latency is that of the frames' whole way, waiting for their hyperframe "
             "(233 ms) included; the "
             "budget is 500 ms. Streams: 48000 gray frames of 32x32 in all, from 1, 8, 64 and 500 "
             "sources that are read as "
             "fast as the graph takes them, through the same stages with inference that takes no "
             "time, so that what the "
             "runtime costs is all there is; CPU time of the whole process from the start of the "
             "stages to the end of the "
             "last sink, divided by the frames; each in a process of its own, once uncounted, then "
             "five times in turns.";
  return r;
}

} // namespace hyperframes::bench
