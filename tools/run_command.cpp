#include "graphs/continuation.hpp"
#include "graphs/files.hpp"
#include "graphs/values.hpp"
#include "runtime/net/node_network.hpp"
#include "tools/commands.hpp"
#include "tools/control_socket.hpp"
#include "tools/progress_line.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

namespace hyperframes::command {

namespace {

/// How long a stop waits for a batch that a model has in hand.
constexpr duration stop_patience = std::chrono::seconds{1};

/// Waits for the graph's end, for signals and for the end of its time. The first SIGINT, SIGTERM or
/// SIGHUP drains, the second one stops.
class watch {
public:
  watch(running& run, progress_line& line, std::optional<duration> length)
    : run_(run), line_(line), signals_(io_, SIGINT, SIGTERM), tick_(io_), limit_(io_) {
    struct sigaction hang_up {};
    if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) // nohup ignores it
      signals_.add(SIGHUP);
    listen();
    tick();
    if (length) {
      limit_.expires_after(*length);
      limit_.async_wait([this](auto error) {
        if (error)
          return;
        run_.drain();
        end_after(defaults::drain_time);
      });
    }
  }

  /// Takes requests from a socket file too.
  void control_by(const std::string& path, std::vector<std::string> streams) {
    control_.emplace(io_, path, control_target{run_, std::move(streams), [this](bool at_once) {
      if (at_once) {
        stop();
        return;
      }
      drain("a client asked for it");
    }});
  }

  void wait() { io_.run(); }
  int signals() const { return signalled_; }
  /// @returns for how long the end may wait for what hangs.
  duration patience() const { return hurries_ ? stop_patience : defaults::drain_time; }

private:
  void listen() {
    signals_.async_wait([this](auto error, int) {
      if (error)
        return;
      if (++signalled_ == 1)
        drain("interrupt once more to stop at once");
      else
        stop();
      listen();
    });
  }

  /// A drain is bounded: what it cannot finish is stopped, and what cannot be stopped is left.
  void drain(const std::string& remark) {
    line_.tell({run_.progress().elapsed + graph_time{}, "run",
                "draining, for " + write_duration(defaults::drain_time) + " at the most; " + remark, false});
    run_.drain();
    end_after(defaults::drain_time);
  }

  void stop() {
    hurries_ = true;
    run_.stop();
    end_after(stop_patience);
  }

  void end_after(duration most) {
    limit_.expires_after(most);
    limit_.async_wait([this](auto error) {
      if (error)
        return;
      hurries_ = true;
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
  std::optional<control_socket> control_;
  int signalled_ = 0;
  bool hurries_ = false; ///< stopped, or drained for as long as a drain may take
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

bool is_standard_output(const std::filesystem::path& path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

/// @returns what of `files` is the same as the summary's; null where nothing is.
const graph_file* same_as(const std::string& summary, const std::vector<graph_file>& files) {
  const auto own = identity_of(summary);
  for (const auto& file : files)
    if (is_standard_output(summary) ? is_standard_output(file.path)
                                    : !own.empty() && identity_of(file.path) == own)
      return &file;
  return nullptr;
}

/// Says before the start what would be lost at the end.
void check_summary_file(const graph& g, const std::string& path) {
  const auto fail = [&](const std::string& sentence) {
    throw failure(make_error(errc::graph_invalid, "--summary " + path, sentence));
  };
  if (path.empty())
    fail("expected the name of a file");
  if (const auto files = files_written(g.checked()); const auto* other = same_as(path, files))
    fail(is_standard_output(path)
           ? other->what + " has the standard output for itself; name a file"
           : other->what + " writes it too; give each a file of its own");
  if (const auto files = files_read(g.checked()); const auto* other = same_as(path, files))
    fail("is " + (other->stream.empty() ? "" : "the file that stream '" + other->stream + "' reads, ")
         + other->what + ", and would be overwritten; name another file");
  const auto kind = special_kind(path); // a pipe's reader would take a trial for the end
  if (path != "-" && (kind.empty() || kind == "a directory") && !std::ofstream{path, std::ios::app})
    fail("cannot be written; name a file in a folder that exists");
}

int report(
  const graph& g, const run_summary& summary, const run_arguments& arguments, progress_line& line,
  int signals) {
  if (arguments.summary_file)
    write_summary(summary, *arguments.summary_file);
  if (!arguments.quiet && arguments.summary_file != "-") {
    const auto files = files_written(g.checked());
    // Results have the standard output for themselves.
    (std::ranges::any_of(files, is_standard_output, &graph_file::path) ? std::cerr : std::cout)
      << to_text(summary);
  }
  if (summary.failed || !summary.closed()) { // a thread that was left behind has cost nobody a frame
    if (summary.failed && !line.has_told(*summary.failed))
      std::cerr << "error: " << *summary.failed << '\n';
    return stage_failed;
  }
  return signals > 0 ? interrupted : done;
}

} // namespace

int run(const run_arguments& arguments) {
  progress_line line{arguments.quiet};
  const auto network = network_of(arguments.tls, [&line](const std::string& sentence) {
    line.tell({{}, "network", sentence, false});
  });
  const auto g = load(arguments.graph, arguments.virtual_clock ? network_source{} : network);
  for (const auto& stream : g.checked().streams)
    if (stream.camera->name == "push")
      throw failure(make_error(errc::graph_invalid, stream.mark.to_string(),
                               "stream '" + stream.id + "' has camera `push`, and only a program can hand "
                                 "its frames in: embed the graph (examples/embed), or use another camera"));
  if (arguments.summary_file)
    check_summary_file(g, *arguments.summary_file);
  // A reader that goes away is a write that fails, and the rest of the graph is drained.
  std::signal(SIGPIPE, SIG_IGN);
  run_options options;
  options.on_event = [&line](const event& e) { line.tell(e); };
  if (arguments.virtual_clock) {
    if (arguments.goes_on)
      throw failure(make_error(errc::graph_invalid, "--continue",
                               "is for real time: on the virtual clock a run is the same each time, so run it "
                               "from its beginning"));
    const auto until = arguments.length ? graph_time{*arguments.length} : never;
    return report(g, run_virtually(g, until, std::move(options)), arguments, line, 0);
  }
  options.continued = continue_run(g.checked(), arguments.goes_on);
  if (options.continued)
    for (const auto& sentence : options.continued->news)
      line.tell({{}, "run", sentence, false});
  if (!g.checked().nodes.empty())
    options.network = network();
  std::optional<running> run;
  try {
    run.emplace(g, std::move(options));
  } catch (const failure& e) {
    if (!line.has_told(e.what()))
      throw;
    return status_of(e);
  }
  watch watched{*run, line, arguments.length};
  if (arguments.control) {
    std::vector<std::string> streams;
    for (const auto& stream : g.checked().streams)
      streams.push_back(stream.id);
    watched.control_by(*arguments.control, std::move(streams));
  }
  watched.wait();
  const auto summary = run->finish(watched.patience());
  const auto status = report(g, summary, arguments, line, watched.signals());
  if (!summary.left_behind.empty()) {
    // A thread that hangs in a library may still use what an orderly exit would destroy.
    std::_Exit(with_output_written(status));
  }
  return status;
}

} // namespace hyperframes::command
