#include "tools/bench/hop.hpp"

#include "runtime/error.hpp"
#include "tools/bench/benchmarks.hpp"

#include <algorithm>
#include <thread>

namespace hyperframes::bench {

namespace {

constexpr unsigned short_chain = 1, long_chain = 9;

struct framework {
  std::string name;
  chain run;
  /// The goal: a frame's hop through ours costs less than so many of theirs. 0: to be looked at.
  double most = 0;
};

const std::vector<framework>& frameworks() {
  static const std::vector<framework> all{
    {"HyperFrames", hyperframes_chain},        {"raw CAF actor", caf_chain},
    {"thread + mutex queue", thread_chain, 1},
#ifdef HYPERFRAMES_BENCH_TBB
    {"oneTBB flow graph", tbb_chain, 2},
#endif
#ifdef HYPERFRAMES_BENCH_GSTREAMER
    {"GStreamer queue", gstreamer_chain, 1},
#endif
  };
  return all;
}

/// Microseconds of CPU for a frame and a hop: what the stages add that make the chain longer.
double fast_us(const chain& run) {
  constexpr std::uint64_t frames = 50000;
  const auto few = run({short_chain, frames});
  const auto many = run({long_chain, frames});
  return (many - few) / static_cast<double>(frames) / (long_chain - short_chain) * 1e6;
}

/// Microseconds of CPU for a frame, a stage's share of all that a chain costs: its wake-ups with
/// it.
double paced_us(const chain& run) {
  constexpr std::uint64_t frames = 1000;
  return run({long_chain, frames, std::chrono::microseconds{500}}) / frames / long_chain * 1e6;
}

std::vector<contestant> contestants(const std::function<double(const chain&)>& cost) {
  std::vector<contestant> all;
  for (const auto& f : frameworks())
    all.push_back({f.name, [&f, cost] { return cost(f.run); }});
  return all;
}

void add_readings(report& r, const std::string& load, const std::vector<samples>& all) {
  const auto& known = frameworks();
  for (std::size_t i = 1; i < known.size(); ++i)
    r.results.push_back(reading_of(
      load + ": HyperFrames / " + known[i].name, "x", ratios(all[0], all[i]),
      known[i].most > 0 ? std::optional{under(known[i].most)} : std::nullopt));
  for (std::size_t i = 0; i < known.size(); ++i)
    r.results.push_back(reading_of(load + ": " + known[i].name, "us CPU", all[i]));
}

} // namespace

void pace::wait() {
  if (every_ == duration{0})
    return;
  next_ += every_;
  std::this_thread::sleep_until(next_);
}

std::vector<double> chain_once(const std::vector<std::string>& arguments) {
  const auto found = std::ranges::find(frameworks(), arguments.at(0), &framework::name);
  if (found == frameworks().end())
    throw failure(make_error(errc::graph_invalid, arguments.at(0), "is no framework that `hop` knows"));
  return {found->run({static_cast<unsigned>(std::stoul(arguments.at(1))), std::stoull(arguments.at(2))})};
}

report hop(const context& c) {
  report r;
  r.method = "A feeder, a chain of stages that pass on what they get, a sink. CPU time of the "
             "process (user and "
             "system, all threads). Fast: 50000 frames as fast as they are taken; a chain of 9 "
             "stages minus one of 1, "
             "divided by 8 and by the frames: what one frame costs in one stage that does nothing, "
             "with its queue, "
             "wake-ups and credit. Paced: 1000 frames, one each 500 us, so that every stage sleeps "
             "when a frame comes; "
             "a chain of 9 stages, divided by 9 and by the frames. HyperFrames with its metrics, "
             "accounts and bounded "
             "edges of the default capacity 8. Raw CAF: event-based actors on the same scheduler "
             "that return credit for "
             "8 frames at a time. Threads: one per stage, mutex, two condition variables, 8 "
             "places. oneTBB: serial "
             "function_node, a limiter_node of 8 per stage around them, shared_ptr<frame>. "
             "GStreamer: the element queue "
             "with its defaults.";
  add_readings(r, "fast", take_turns(contestants(fast_us), least_rounds, c.progress));
  add_readings(r, "paced", take_turns(contestants(paced_us), least_rounds, c.progress));
  return r;
}

} // namespace hyperframes::bench
