#include "tools/bench/benchmarks.hpp"
#include "tools/bench/films.hpp"
#include "tools/bench/part.hpp"

#include <algorithm>
#include <thread>

namespace hyperframes::bench {

namespace {

constexpr pixel_size size{320, 240};
constexpr std::uint64_t frames = 9000, shown = 30;

} // namespace

report light_report(const std::vector<std::vector<ladder_cost>>& rounds) {
  samples faster, cheaper, faster_than_single, cheaper_than_single;
  const std::vector<std::string> names{"one by one", single_frames, "hyperframes"};
  std::vector<samples> fps(names.size()), cpu(names.size());
  for (const auto& round : rounds) {
    const auto &naive = round.at(0), &single = round.at(1), &ours = round.at(2);
    faster.values.push_back(ours.fps() / naive.fps());
    cheaper.values.push_back(ours.cpu_per_frame() / naive.cpu_per_frame());
    faster_than_single.values.push_back(ours.fps() / single.fps());
    cheaper_than_single.values.push_back(ours.cpu_per_frame() / single.cpu_per_frame());
    for (std::size_t i = 0; i < names.size(); ++i) {
      fps[i].values.push_back(round[i].fps());
      cpu[i].values.push_back(round[i].cpu_per_frame() * 1e6);
    }
  }
  report r;
  r.results = {
    reading_of("throughput: hyperframes / one by one", "x", faster, at_least(1.67)),
    reading_of("CPU per frame: hyperframes / one by one", "x", cheaper, at_most(0.73)),
    reading_of("throughput: hyperframes / hyperframes of 1", "x", faster_than_single),
    reading_of("CPU per frame: hyperframes / hyperframes of 1", "x", cheaper_than_single)};
  for (std::size_t i = 0; i < names.size(); ++i) {
    r.results.push_back(reading_of(names[i] + ": throughput", "fps", fps[i]));
    r.results.push_back(reading_of(names[i] + ": CPU per frame", "us CPU", cpu[i]));
  }
  return r;
}

report light(const context& c) {
  const scratch folder;
  const ladder_work work{
    folder / "film.mp4", shipped("models/parts.onnx"),
    std::max(1U, std::thread::hardware_concurrency())};
  c.progress(0, "a film is made");
  make_film(work.film, size, frames, shown);
  std::vector<std::vector<ladder_cost>> rounds;
  std::vector<ladder_steps> steps;
  climb_in_turns(work, {"one by one", single_frames, "hyperframes"}, c, rounds, steps);
  auto r = light_report(rounds);
  r.method = "A film of 9000 frames of 320x240 (MPEG-4, each part stands still for a second, so "
             "that decoding does not hide the rest) through "
             "graphs/models/parts.onnx, a classifier of 64x64 pixels. "
             "One by one is the loop "
             "that users write: cv::VideoCapture, cv::dnn::blobFromImage, a session of ONNX "
             "Runtime, one frame at a time, "
             "with as many threads for decoding and inference as there are cores, as these "
             "libraries do by themselves. "
             "HyperFrames: hyperframes of 8, a worker of one thread for each core; beside it "
             "with hyperframes of one frame. "
             "Each runs in a process of its own, once uncounted, then five times in turns, and "
             "counts from when its "
             "sessions are warm and its film is open. CPU time is that of the process, user and "
             "system, all threads.";
  return r;
}

} // namespace hyperframes::bench
