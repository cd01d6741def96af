// What `hyperframes plan --calibrate` says of the graphs that the project ships, against what they
// do.
#include "graphs/calibrate.hpp"
#include "graphs/hyperframes.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/films.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/part.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include <unistd.h>

namespace hyperframes::bench {

namespace {

constexpr duration settles = std::chrono::seconds{1}, measured_for = std::chrono::seconds{5};
constexpr double within = 15; ///< %

/// CPU seconds that all programs of the machine have used.
double machine_seconds() {
  std::ifstream stat{"/proc/stat"};
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waits = 0, irq = 0, soft = 0, stolen = 0;
  stat >> name >> user >> nice >> system >> idle >> waits >> irq >> soft >> stolen;
  return (user + nice + system + irq + soft + stolen) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// Runs until it has settled and for a while.
struct observed {
  double fps = 0, p99_ms = 0, others = 0; ///< `others`: cores that other programs used
};
observed watch(const graph& g) {
  running run{g};
  const auto fail_early = [&](duration length) {
    if (run.wait(length))
      throw failure(make_error(errc::stage_failed, g.checked().name, "has ended too early"));
  };
  fail_early(settles);
  const auto count = [&] { return static_cast<double>(run.progress().ledger.ended()); };
  const auto begin = wall_seconds(), own = cpu_seconds(), all = machine_seconds(), before = count();
  fail_early(measured_for);
  const auto took = wall_seconds() - begin;
  observed o;
  o.fps = (count() - before) / took;
  o.others = std::max(0.0, machine_seconds() - all - (cpu_seconds() - own)) / took;
  o.p99_ms = in_seconds(run.so_far().total.p99) * 1e3;
  run.drain();
  if (!run.finish().closed())
    throw failure(make_error(errc::stage_failed, g.checked().name, "the ledger is open"));
  return o;
}

} // namespace

/// @param arguments the graph file, then `path=value` for what is set in it.
std::vector<double> plan_once(const std::vector<std::string>& arguments) {
  graph_options options;
  for (auto a = arguments.begin() + 1; a != arguments.end(); ++a) {
    const auto equals = a->find('=');
    options.overrides.emplace_back(a->substr(0, equals), a->substr(equals + 1));
  }
  const auto& file = arguments.at(0);
  const auto g = graph::from_file(file, options);
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  const auto task = batch_task_of(g.checked(), g.plan(), {.cores = cores});
  const cost_model costs{calibrate(file, options, task)};
  const auto seen = watch(g);
  auto with = task.as_is;
  with.shared.cores = std::max(0.1, cores - seen.others);
  const auto planned = play_flow(costs, task.load, with);
  return {planned.fps, seen.fps, in_seconds(planned.p99) * 1e3, seen.p99_ms, seen.others};
}

report plan_report(const std::vector<planned_graph>& graphs) {
  report r;
  r.method = "Graphs that the project ships: inspection.yaml, whose cameras do not end here, and "
             "video.yaml with a film of "
             "320x240 that begins anew at its end. In a new process each: calibrated as "
             "`hyperframes plan --calibrate` does, "
             "then run in real time, throughput over five seconds after the first one, latency "
             "from the start on; then "
             "played with the costs and the graph's own settings. What other programs used of the "
             "machine while it ran "
             "(/proc/stat without this process) is taken from the cores that the plan has. Once "
             "uncounted, then five rounds; "
             "off: how far the plan is from the measurement, of the measurement.";
  for (const auto& g : graphs) {
    samples fps_off, p99_off, columns[5];
    for (const auto& round : g.rounds) {
      const auto off = [&](std::size_t planned) {
        return std::abs(round.at(planned) / round.at(planned + 1) - 1) * 100;
      };
      fps_off.values.push_back(off(0));
      p99_off.values.push_back(off(2));
      for (std::size_t i = 0; i < std::size(columns); ++i)
        columns[i].values.push_back(round.at(i));
    }
    const auto add =
      [&](const char* what, const char* unit, const samples& s, std::optional<goal> wanted = {}) {
        r.results.push_back(reading_of(g.name + ": " + what, unit, s, wanted));
      };
    add("throughput off", "%", fps_off, at_most(within));
    add("p99 latency off", "%", p99_off, at_most(within));
    add("throughput planned", "frames/s", columns[0]);
    add("throughput measured", "frames/s", columns[1]);
    add("p99 latency planned", "ms", columns[2]);
    add("p99 latency measured", "ms", columns[3]);
    add("other programs", "cores", columns[4]);
  }
  return r;
}

report plan(const context& c) {
  const scratch folder;
  const auto film = folder / "film.mp4",
             results = "stages.results.path=" + (folder / "results.jsonl");
  c.progress(0, "a film is made");
  make_film(film, {320, 240}, 300, 300);
  const std::vector<std::string> inspection{
    shipped("inspection.yaml"), results, "streams.0.camera.frames=1000000"};
  const std::vector<std::string> video{
    shipped("video.yaml"), results, "streams.0.camera.path=" + film, "streams.0.camera.loop=true"};
  std::vector<planned_graph> graphs{{"inspection", {}}, {"video", {}}};
  for (std::size_t round = 0; round <= least_rounds; ++round)
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      auto& g = graphs[(round + i) % graphs.size()];
      c.progress(round, g.name);
      auto values = in_new_process("plan", g.name == "video" ? video : inspection);
      if (round > 0)
        g.rounds.push_back(std::move(values));
    }
  return plan_report(graphs);
}

} // namespace hyperframes::bench
