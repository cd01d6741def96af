#pragma once

#include "graphs/hyperframes.hpp"
#include "runtime/net/tls.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// The command `hyperframes`: each function is one of its verbs and returns the exit status.
namespace hyperframes::command {

inline constexpr int done = 0;
inline constexpr int stage_failed = 1;
inline constexpr int wrong_graph = 2; ///< or a wrong argument
inline constexpr int interrupted = 130;

struct graph_arguments {
  std::string path;
  std::vector<std::string> sets; ///< `path=value`
};

/// The exit status of what failed.
int status_of(const failure& f);
/// Writes out what waits for the standard output. @returns `status`, or `stage_failed` with a sentence
/// on standard error where the output was lost and nothing else was wrong.
int with_output_written(int status);

/// Reads the graph with the overrides and this process's environment. Throws `graph_error`.
/// @param network where what runs on nodes is looked at; none: here.
graph load(const graph_arguments& arguments, const network_source& network = {});
graph_options options_of(const graph_arguments& arguments);

/// Who this process is for others: by default the files of its name in the folder `certs`.
struct tls_arguments {
  std::string certificate, key, authority; ///< empty: the default
  bool insecure = false;                   ///< none of these
};
inline constexpr const char* default_certificates = "certs";
inline constexpr const char* coordinator_name = "coordinator";
/// @returns the files, checked; where the authority's key is in the folder too, a certificate that is
/// missing is issued. Nothing where it is to be insecure, with a warning. Throws `failure`.
std::optional<tls_files> tls_of(const tls_arguments& arguments, const std::string& name);

/// A network that is joined with the first call. @param on_rejected as `node_network`'s.
network_source network_of(
  const tls_arguments& arguments, std::function<void(const std::string&)> on_rejected = {});

struct node_arguments {
  std::string listen;
  std::string name;
  std::uint32_t slots = 1;
  std::string folder = ".";
  tls_arguments tls;
};
/// Offers this process to graphs, until a signal.
int node(const node_arguments& arguments);

struct nodes_arguments {
  graph_arguments graph;
  tls_arguments tls;
};
/// Lists a graph's nodes, who is there, and how much they have to do.
int nodes(const nodes_arguments& arguments);

struct run_arguments {
  graph_arguments graph;
  tls_arguments tls;
  std::optional<duration> length;   ///< drains after this much time
  std::optional<std::string> summary_file; ///< `-`: standard output, where no sink writes to it
  std::optional<std::string> control;      ///< a socket file that takes requests
  bool goes_on = false; ///< where the run before ended
  bool virtual_clock = false;
  bool quiet = false;
};
int run(const run_arguments& arguments);

/// Sends a request to a run with `--control PATH`, and prints the answer.
int control(const std::string& path, const std::string& line);

struct plan_arguments {
  graph_arguments graph;
  bool calibrate = false;
  std::vector<std::string> costs; ///< `name=time`
  std::optional<std::string> target;
  std::optional<std::int64_t> cameras;
  std::optional<double> fps;
  std::optional<std::string> sweep; ///< a file for the picture
};
/// Says which sizes of hyperframes and batches suit a graph, and what they lead to.
int plan(const plan_arguments& arguments);

struct certs_arguments {
  std::string folder = "certs";
  std::string name;
  std::vector<std::string> hosts;
  std::optional<unsigned> days; ///< ten years of an authority, a year of a process
};
/// Makes a deployment's authority, and the certificate of a process that it signs.
int certs_init(const certs_arguments& arguments);
int certs_issue(const certs_arguments& arguments);

struct shown_arguments {
  graph_arguments graph;
  tls_arguments tls;
  bool connect = false; ///< what runs on nodes is looked at there
};
int validate(const shown_arguments& arguments);
int explain(const shown_arguments& arguments);
int draw(const shown_arguments& arguments, const std::string& format);
int schema(bool of_results);
int stages(const std::string& name);  ///< empty: all
int cameras(const std::string& name);

/// Becomes the program `hyperframes-bench` beside this one; returns only by throwing `failure`.
int bench(std::vector<std::string> arguments);

/// "250ms", "1.5s", "2min"; throws `failure` with a sentence.
duration parse_length(const std::string& text);

} // namespace hyperframes::command
