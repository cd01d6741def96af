// The program behind `hyperframes bench`. It stands alone, so that the command does not load the
// peers' libraries and nothing counts the command's allocations.
#include "runtime/error.hpp"
#include "tools/bench/bench_command.hpp"
#include "tools/bench/lock_waits.hpp"
#include "tools/bench/part.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

int main(int argc, char** argv) {
  using namespace hyperframes;
  constexpr int failed = 1, wrong_argument = 2;
  CLI::App app{
    "Measures what is promised, against peers where they are found; without a name it lists the "
    "benchmarks.\nExit status: 0 every goal met, 1 one was missed, 2 a wrong argument"};
  app.name("hyperframes bench");
  bench::bench_arguments asked;
  app.add_option("NAME", asked.name, "A benchmark, or all");
  app.add_option("ARGUMENT", asked.arguments, "What the benchmark is given");
  app.add_option("--json", asked.json_file, "Write what was measured as JSON")->type_name("FILE");
  try {
    if (argc > 1 && std::string{argv[1]} == "--part") {
#ifdef HYPERFRAMES_BENCH_LOCKS
      if (argc > 2 && std::string{argv[2]} == "locks")
        bench::see_lock_waits();
#endif
      return bench::run_part({argv + 2, argv + argc});
    }
    app.parse(argc, argv);
    return bench::bench(asked, bench::benchmarks(), std::cout, std::cerr);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : wrong_argument;
  } catch (const failure& e) {
    std::cerr << "error: " << e.what() << '\n';
    return e.what_failed().code == errc::graph_invalid ? wrong_argument : failed;
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return failed;
  }
}
