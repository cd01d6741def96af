// The program behind tools/soak.
#include "runtime/error.hpp"
#include "tools/bench/part.hpp"
#include "tools/bench/soak_turn.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>

#include <unistd.h>

namespace {

using namespace hyperframes;
using namespace hyperframes::bench;

constexpr double longest_turn = 600; ///< seconds

void write(const std::string& path, const std::string& text) {
  std::ofstream file{path};
  file << text << '\n';
  file.close();
  if (!file)
    throw failure(make_error(
      errc::io_failed, "--json " + path, "cannot be written; name a file in a folder that exists"));
}

int soak(double seconds, const std::string& record) {
  const char* const graphs[] = {"inspection.yaml", "drill.yaml"};
  const auto rounds = static_cast<int>(std::ceil(seconds / (2 * longest_turn)));
  const duration length{static_cast<std::int64_t>(seconds * 1e9 / (2 * rounds))};
  const auto here = this_machine();
  std::vector<soak_turn> turns;
  for (int round = 0; round < rounds; ++round)
    for (const auto* name : graphs) {
      const auto tell = [&](double at, const soak_sample& now) {
        std::fprintf(
          stderr,
          "\rturn %zu of %d, %s: %.0f s, %.1f MiB + %.1f in pools, %.0f handles, %.0f threads, %.1f items queued, "
          "%.1f ms  ",
          turns.size() + 1, 2 * rounds, name, at, now.memory_mib, now.pools_mib, now.handles, now.threads,
          now.queued, now.latency_ms);
      };
      soak_sample last;
      double passed = 0;
      const bool live = ::isatty(STDERR_FILENO) == 1;
      auto turn = run_soak_turn(shipped(name), length, [&](double at, const soak_sample& now) {
        last = now;
        passed = at;
        if (live)
          tell(at, now);
      });
      tell(passed, last);
      std::fputc('\n', stderr);
      turns.push_back(std::move(turn));
      if (!record.empty()) // what was measured is there where somebody ends it
        write(record, to_json("soak", here, soak_report(turns)));
    }
  const auto found = soak_report(turns);
  std::cout << to_text("soak", here, found) << std::flush;
  return found.met() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  constexpr int failed = 1, wrong_argument = 2;
  CLI::App app{"Runs the demo's and the drill's graph in turn, for at most ten minutes a turn, and "
               "fails where memory, handles, "
               "threads or queues grow, latency rises or a frame has no outcome.\nExit status: 0 "
               "none did, 1 one did, 2 a wrong "
               "argument"};
  app.name("tools/soak");
  double hours = 0, minutes = 0;
  std::string record;
  app.add_option("--hours", hours, "How long in all")->check(CLI::NonNegativeNumber);
  app.add_option("--minutes", minutes, "On top of the hours")->check(CLI::NonNegativeNumber);
  app.add_option("--json", record, "Write what was found as JSON")->type_name("FILE");
  try {
    app.parse(argc, argv);
    const auto seconds = hours * 3600 + minutes * 60;
    if (seconds < 10) {
      std::cerr << "error: expected ten seconds in all at least, as in --hours 1 or --minutes 10\n";
      return wrong_argument;
    }
    return soak(seconds, record);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : wrong_argument;
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return failed;
  }
}
