#include "tools/bench/benchmarks.hpp"
#include "tools/bench/films.hpp"
#include "tools/bench/squeezenet.hpp"

#include <algorithm>
#include <thread>

namespace hyperframes::bench {

namespace {

constexpr pixel_size size{1920, 1080};
constexpr std::uint64_t frames = 600, shown = 1;

} // namespace

report modes_report(
  const std::vector<std::vector<ladder_cost>>& rounds, const std::vector<ladder_steps>& steps,
  unsigned cores) {
  report r;
  const auto& names = rungs();
  samples of_bound, of_naive, bound;
  std::vector<samples> fps(names.size()), cpu(names.size()), peak(names.size());
  for (std::size_t n = 0; n < rounds.size(); ++n) {
    const auto& round = rounds[n];
    bound.values.push_back(cores / steps.at(n).sum());
    for (std::size_t i = 0; i < names.size(); ++i) {
      fps[i].values.push_back(round.at(i).fps());
      cpu[i].values.push_back(round[i].cpu_per_frame() * 1e3);
      peak[i].values.push_back(round[i].peak_bytes / (1 << 20));
    }
    of_bound.values.push_back(round.back().fps() / bound.values.back());
    of_naive.values.push_back(round.front().fps() / bound.values.back());
  }
  r.results = {
    reading_of("hyperframes / bound", "x", of_bound, at_least(0.95)),
    reading_of("one by one / bound", "x", of_naive), reading_of("bound", "fps", bound)};
  const auto add = [&](const std::string& what, double ladder_steps::*step) {
    samples s;
    for (const auto& one : steps)
      s.values.push_back(one.*step * 1e3);
    r.results.push_back(reading_of(what + " alone", "ms CPU", s));
  };
  add("decode", &ladder_steps::decode);
  add("pack", &ladder_steps::pack);
  add("infer", &ladder_steps::infer);
  for (std::size_t i = 0; i < names.size(); ++i) {
    r.results.push_back(reading_of(names[i] + ": throughput", "fps", fps[i]));
    r.results.push_back(reading_of(names[i] + ": CPU per frame", "ms CPU", cpu[i]));
    r.results.push_back(reading_of(names[i] + ": peak memory", "MiB", peak[i]));
  }
  return r;
}

report modes(const context& c) {
  const scratch folder;
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  ladder_work work{{}, {}, cores};
  std::string what;
  if (c.arguments.empty()) {
    work = {folder / "film.mp4", folder / "squeezenet.onnx", cores};
    c.progress(0, "a film is made");
    make_film(work.film, size, frames, shown);
    write_squeezenet(work.model);
    what = "A film of 600 frames of 1920x1080 (MPEG-4, parts on a belt) through SqueezeNet 1.1, "
           "whose weights are drawn: they do not change "
           "what it takes. ";
  } else {
    work = {c.arguments[0], c.arguments[1], cores};
    what = work.film + " through " + work.model + ". ";
  }
  std::vector<std::vector<ladder_cost>> rounds;
  std::vector<ladder_steps> steps;
  climb_in_turns(work, rungs(), c, rounds, steps);
  auto r = modes_report(rounds, steps, cores);
  r.method = what
             + "Each rung runs in a process of its own, once uncounted, then five times in turns; "
               "it counts from when "
               "its sessions are warm and its film is open. CPU time is that of the process, user "
               "and system, all "
               "threads; peak memory is its largest resident size. All decode with as many threads "
               "as there are cores, "
               "and infer with as many, which do not spin while they wait, in the same runtime: "
               "the loops in one session "
               "of so many threads, HyperFrames in so many workers of one thread. One by one: "
               "cv::VideoCapture, "
               "cv::dnn::blobFromImage, session, in a loop. Prefetch: a thread decodes ahead, 16 "
               "frames. Batch: the same "
               "with blobFromImages and batches of 8. Pipeline: threads for decoding, packing and "
               "inference with bounded "
               "mutex queues. HyperFrames: the library, in the same program. The scaled size is "
               "the same; blobFromImage "
               "samples bilinearly, HyperFrames averages the area where a side shrinks by 2 or "
               "more. The bound is cores / "
               "(decode + pack + infer): CPU time of a frame in each step alone, with HyperFrames' "
               "own code on one thread, "
               "inference in batches of 8.";
  return r;
}

} // namespace hyperframes::bench
