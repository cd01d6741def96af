#include "tools/bench/soak_turn.hpp"

#include "graphs/hyperframes.hpp"
#include "tools/bench/films.hpp"
#include "tools/bench/measure.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace hyperframes::bench {

namespace {

namespace fs = std::filesystem;

constexpr duration patience = std::chrono::minutes{1};
constexpr double looks = 100;
constexpr duration shortest_interval = std::chrono::milliseconds{100};
constexpr double none = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void fail(const std::string& where, const std::string& sentence) {
  throw failure(make_error(errc::io_failed, where, sentence));
}

/// The command as it runs a graph; killed where it outlives the object.
class command_run {
public:
  explicit command_run(std::vector<std::string> arguments) {
    const auto program =
      (fs::read_symlink("/proc/self/exe").parent_path() / "hyperframes").string();
    arguments.insert(arguments.begin(), program);
    std::vector<char*> words;
    for (auto& a : arguments)
      words.push_back(a.data());
    words.push_back(nullptr);
    if (
      const int failed =
        ::posix_spawn(&id_, program.c_str(), nullptr, nullptr, words.data(), environ))
      fail(
        program,
        std::generic_category().message(failed) + "; build it: it stands beside this program");
  }
  command_run(const command_run&) = delete;
  command_run& operator=(const command_run&) = delete;
  ~command_run() {
    if (over_)
      return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, &status_, 0);
  }
  bool over() {
    over_ = over_ || ::waitpid(id_, &status_, WNOHANG) == id_;
    return over_;
  }
  bool well() const { return over_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
  std::string file(const std::string& name) const {
    return "/proc/" + std::to_string(id_) + '/' + name;
  }

private:
  pid_t id_ = -1;
  int status_ = 0;
  bool over_ = false;
};

/// The graph with cameras that do not end and files that are ours.
std::vector<std::string> arguments_for(
  const std::string& graph_file, duration length, const scratch& at, std::string& name) {
  const auto g = graph::from_file(graph_file);
  name = g.checked().name;
  std::vector<std::string> words{
    "run",
    graph_file,
    "--quiet",
    "--duration",
    std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(length).count()) + "ms",
    "--summary",
    at / "summary.json",
    "--control",
    at / "control"};
  const auto set = [&](const std::string& path, const std::string& value) {
    words.insert(words.end(), {"--set", path + '=' + value});
  };
  std::vector<std::string> entries; // of the file's list of streams, by their marks
  for (const auto& s : g.checked().streams) {
    if (std::ranges::count(entries, s.mark.to_string()) > 0)
      continue;
    if (std::ranges::count(s.camera->parameters, "frames", &parameter::name) > 0)
      set("streams." + std::to_string(entries.size()) + ".camera.frames", "1000000000");
    entries.push_back(s.mark.to_string());
  }
  for (const auto& s : g.checked().stages) {
    const auto stage = "stages." + s.name;
    if (s.kind->writes && s.config->has("path"))
      set(stage + ".path", at / "results.jsonl");
    if (s.config->has("flush")) // each look finds results
      set(stage + ".flush", "50ms");
  }
  return words;
}

/// @returns what a run answers; empty where it does not within five seconds.
std::string ask(const std::string& socket_file, const std::string& request) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_file.size() >= sizeof address.sun_path)
    return {};
  std::memcpy(address.sun_path, socket_file.c_str(), socket_file.size() + 1);
  const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0)
    return {};
  const timeval limit{5, 0};
  ::setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string text;
  const auto line = request + '\n';
  if (
    ::connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
    && ::send(s, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size())) {
    char chunk[16384];
    while (!text.ends_with("ok\n") && !text.starts_with("error")) {
      const auto got = ::recv(s, chunk, sizeof chunk, 0);
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        break;
      text.append(chunk, static_cast<std::size_t>(got));
    }
  }
  ::close(s);
  return text;
}

/// Whole lines that have come since the last call.
class growing_file {
public:
  explicit growing_file(std::string path) : path_(std::move(path)) {}
  std::string new_lines() {
    std::ifstream in{path_, std::ios::binary};
    in.seekg(at_);
    std::ostringstream text;
    text << in.rdbuf();
    auto lines = text.str();
    lines.resize(lines.rfind('\n') + 1); // none: 0
    at_ += static_cast<std::streamoff>(lines.size());
    return lines;
  }

private:
  std::string path_;
  std::streamoff at_ = 0;
};

/// @returns none where the process is about to end.
std::optional<soak_sample>
look_at(const command_run& run, const std::string& control, growing_file& results) {
  soak_sample s;
  std::ifstream status{run.file("status")};
  for (std::string key; status >> key; status.ignore(1 << 16, '\n')) {
    double value = 0;
    if (key == "VmRSS:" && status >> value)
      s.memory_mib = value / 1024;
    else if (key == "Threads:" && status >> value)
      s.threads = value;
  }
  std::error_code gone;
  for (fs::directory_iterator i{run.file("fd"), gone}, end; !gone && i != end; i.increment(gone))
    ++s.handles;
  const auto metrics = ask(control, "metrics");
  if (gone || s.memory_mib == 0 || metrics.empty())
    return std::nullopt;
  const auto pools = memory_of_pools(metrics);
  s.memory_mib -= pools.touched;
  s.pools_mib = pools.in_use;
  s.queued = queued_items(metrics);
  s.latency_ms = median_latency(results.new_lines());
  return s;
}

double open_frames(const std::string& summary_file) try {
  std::ifstream in{summary_file};
  const auto ledger = nlohmann::json::parse(in).at("ledger");
  double open = ledger.at("captured").get<double>();
  for (const auto* outcome : {"delivered", "skipped", "dropped", "expired", "failed", "lost"})
    open -= ledger.at(outcome).get<double>();
  return std::abs(open) + ledger.at("in_flight").get<double>();
} catch (const nlohmann::json::exception&) {
  return none;
}

} // namespace

double median_latency(const std::string& result_lines) {
  constexpr std::string_view key = "\"total\":";
  samples all;
  std::istringstream lines{result_lines};
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.rfind(key);
        at != std::string::npos && line.find("\"delivered\"") != std::string::npos)
      all.values.push_back(std::strtod(line.c_str() + at + key.size(), nullptr));
  return all.median();
}

double queued_items(const std::string& metrics) {
  double sum = 0;
  std::istringstream lines{metrics};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("hyperframes_edge_average_depth{"))
      if (const auto at = line.rfind("} "); at != std::string::npos)
        sum += std::strtod(line.c_str() + at + 2, nullptr);
  return sum;
}

pool_memory memory_of_pools(const std::string& metrics) {
  struct pool {
    double slots = 0, bytes = 0, in_use = 0, peak = 0;
  };
  constexpr std::pair<std::string_view, double pool::*> columns[] = {
    {"hyperframes_pool_slots{", &pool::slots},
    {"hyperframes_pool_memory_bytes{", &pool::bytes},
    {"hyperframes_pool_slots_in_use{", &pool::in_use},
    {"hyperframes_pool_peak_slots_in_use{", &pool::peak}};
  std::map<std::string, pool> pools; // by labels
  std::istringstream lines{metrics};
  for (std::string line; std::getline(lines, line);)
    for (const auto& [name, column] : columns)
      if (const auto end = line.rfind("} "); line.starts_with(name) && end != std::string::npos)
        pools[line.substr(name.size(), end - name.size())].*column =
          std::strtod(line.c_str() + end + 2, nullptr);
  pool_memory sum;
  for (const auto& [labels, p] : pools)
    if (p.slots > 0) {
      const auto slot_mib = p.bytes / p.slots / (1 << 20);
      sum.touched += p.peak * slot_mib;
      sum.in_use += p.in_use * slot_mib;
    }
  return sum;
}

soak_turn run_soak_turn(
  const std::string& graph_file, duration length,
  const std::function<void(double, const soak_sample&)>& tell) {
  const scratch folder;
  soak_turn turn;
  command_run run{arguments_for(graph_file, length, folder, turn.graph)};
  growing_file results{folder / "results.jsonl"};
  const auto begin = std::chrono::steady_clock::now();
  const auto interval = std::max(
    shortest_interval,
    duration{static_cast<std::int64_t>(static_cast<double>(length.count()) / looks)});
  for (auto next = begin + interval; !run.over(); next += interval) {
    std::this_thread::sleep_until(next);
    const auto passed = std::chrono::steady_clock::now() - begin;
    if (passed > length + patience)
      break; // hangs
    if (passed > length)
      continue; // drains
    if (const auto seen = look_at(run, folder / "control", results)) {
      turn.samples.push_back(*seen);
      if (tell)
        tell(std::chrono::duration<double>(passed).count(), *seen);
    }
  }
  turn.failed = !run.well();
  turn.open_frames = open_frames(folder / "summary.json");
  return turn;
}

} // namespace hyperframes::bench
