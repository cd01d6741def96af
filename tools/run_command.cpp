#include "tools/commands.hpp"
#include "tools/progress_line.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace hyperframes::command {

namespace {

/// How long a second interrupt waits for a batch that a model has in hand.
constexpr duration stop_patience = std::chrono::seconds{1};

/// Waits for the graph's end, for signals and for the end of its time. The first SIGINT or SIGTERM
/// drains, the second one stops.
class watch {
public:
  watch(running& run, progress_line& line, std::optional<duration> length)
    : run_(run), line_(line), signals_(io_, SIGINT, SIGTERM), tick_(io_), limit_(io_) {
    listen();
    tick();
    if (length) {
      limit_.expires_after(*length);
      limit_.async_wait([this](auto error) {
        if (error)
          return;
        run_.drain();
        drain_limit();
      });
    }
  }

  /// @returns how many signals came.
  int wait() {
    io_.run();
    return signalled_;
  }

private:
  void listen() {
    signals_.async_wait([this](auto error, int) {
      if (error)
        return;
      if (++signalled_ == 1) {
        line_.tell({run_.progress().elapsed + graph_time{}, "run",
                    "draining; interrupt once more to stop at once", false});
        run_.drain();
      } else {
        run_.stop();
      }
      drain_limit();
      listen();
    });
  }

  /// A drain is bounded: what it cannot finish is stopped, and what cannot be stopped is left.
  void drain_limit() {
    limit_.expires_after(defaults::drain_time);
    limit_.async_wait([this](auto error) {
      if (error)
        return;
      run_.stop();
      io_.stop();
    });
  }

  void tick() {
    tick_.expires_after(run_.finished() ? duration{0} : std::chrono::milliseconds{10});
    tick_.async_wait([this](auto) {
      if (++ticks_ % 25 == 0)
        line_.show(run_.progress());
      if (run_.finished())
        io_.stop();
      else
        tick();
    });
  }

  running& run_;
  progress_line& line_;
  boost::asio::io_context io_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer tick_, limit_;
  int signalled_ = 0;
  std::uint64_t ticks_ = 0;
};

void write_summary(const run_summary& summary, const std::string& path) {
  if (path == "-") {
    std::cout << to_json(summary) << std::flush;
    return;
  }
  std::ofstream file{path};
  file << to_json(summary);
  file.close();
  if (!file)
    throw failure(make_error(errc::io_failed, path, "the summary could not be written"));
}

int report(const run_summary& summary, const run_arguments& arguments, int signals) {
  if (arguments.summary_file)
    write_summary(summary, *arguments.summary_file);
  if (!arguments.quiet && arguments.summary_file != "-")
    std::cout << to_text(summary);
  if (summary.failed || !summary.closed() || (summary.threads_left_behind > 0 && signals == 0)) {
    if (summary.failed)
      std::cerr << "error: " << *summary.failed << '\n';
    return stage_failed;
  }
  return signals > 0 ? interrupted : done;
}

} // namespace

int run(const run_arguments& arguments) {
  const auto g = load(arguments.graph);
  for (const auto& stream : g.checked().streams)
    if (stream.camera->name == "push")
      throw failure(make_error(errc::graph_invalid, stream.mark.to_string(),
                               "stream '" + stream.id + "' has camera `push`, and only a program can hand "
                                 "its frames in: embed the graph (examples/embed), or use another camera"));
  if (arguments.summary_file && *arguments.summary_file != "-")
    if (!std::ofstream{*arguments.summary_file, std::ios::app})
      throw failure(make_error(errc::graph_invalid, "--summary " + *arguments.summary_file,
                               "cannot be written; name a file in a folder that exists"));
  progress_line line{arguments.quiet};
  run_options options;
  options.on_event = [&line](const event& e) { line.tell(e); };
  if (arguments.virtual_clock) {
    const auto until = arguments.length ? graph_time{*arguments.length} : never;
    return report(run_virtually(g, until, std::move(options)), arguments, 0);
  }
  running run{g, std::move(options)};
  const auto signals = watch{run, line, arguments.length}.wait();
  const auto summary = run.finish(signals > 1 ? stop_patience : defaults::drain_time);
  const auto status = report(summary, arguments, signals);
  if (summary.threads_left_behind > 0) {
    // A thread that hangs in a library may still use what an orderly exit would destroy.
    std::cout.flush();
    std::_Exit(status);
  }
  return status;
}

} // namespace hyperframes::command
