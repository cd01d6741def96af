#include "graphs/values.hpp"
#include "tools/commands.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/ip/host_name.hpp>

#include <cerrno>
#include <iostream>
#include <system_error>

extern char** environ;

namespace hyperframes::command {

graph_options options_of(const graph_arguments& arguments) {
  graph_options options;
  for (const auto& set : arguments.sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos || equals == 0)
      throw failure(make_error(errc::graph_invalid, "--set " + set,
                               "expected path=value, such as --set stages.bundle.size=8"));
    options.overrides.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  for (auto** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (const auto equals = text.find('='); equals != std::string::npos)
      options.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return options;
}

int status_of(const failure& f) {
  return f.what_failed().code == errc::graph_invalid ? wrong_graph : stage_failed;
}

int with_output_written(int status) {
  errno = 0;
  std::cout.flush();
  if (std::cout)
    return status;
  std::cerr << "error: the standard output cannot be written";
  if (errno != 0)
    std::cerr << ": " << std::generic_category().message(errno);
  std::cerr << '\n';
  return status == done ? stage_failed : status;
}

graph load(const graph_arguments& arguments, const network_source& network) {
  auto options = options_of(arguments);
  options.network = network;
  return graph::from_file(arguments.path, options);
}

duration parse_length(const std::string& text) {
  if (const auto length = read_duration(text); length && *length >= duration{})
    return *length;
  throw failure(make_error(errc::graph_invalid, "--duration " + text,
                           "expected a time such as 90s, 500ms or 2min"));
}

namespace {

/// The first argument must be a command, or an option of all.
void check_verb(const CLI::App& app, const std::string& found) {
  std::vector<std::string> known;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(verb->get_name());
  if (!found.starts_with('-') && std::ranges::count(known, found) == 0)
    throw failure(
      make_error(errc::graph_invalid, found, "is no command: " + suggestion(found, known)));
}

/// A sentence for the first option that its command does not have; returns where it has all.
void check_options(const CLI::App& app) {
  for (const auto* verb : app.get_subcommands()) {
    if (const auto inner = verb->get_subcommands(); !inner.empty())
      verb = inner.front();
    for (const auto& found : app.remaining(true)) {
      if (!found.starts_with("--"))
        continue;
      std::vector<std::string> known;
      for (const auto* option : verb->get_options())
        if (const auto& names = option->get_lnames(); !names.empty())
          known.push_back("--" + names.front());
      throw failure(make_error(
        errc::graph_invalid, found,
        "`" + verb->get_name() + "` has no such option: " + suggestion(found, known)));
    }
  }
}

void add_graph(CLI::App& verb, graph_arguments& into) {
  verb.add_option("GRAPH", into.path, "The graph file")->required();
  verb.add_option("--set", into.sets,
                  "Another value for a place in the file: keys and list positions, "
                  "as in streams.0.camera.path=film.mp4")
    ->type_name("PATH=VALUE")
    ->take_all()
    ->expected(1);
}

void add_tls(CLI::App& verb, tls_arguments& into) {
  verb.add_option("--tls-cert", into.certificate, "This process's certificate; certs/NAME.pem by default")
    ->type_name("FILE");
  verb.add_option("--tls-key", into.key, "Its key; certs/NAME.key by default")->type_name("FILE");
  verb.add_option("--tls-ca", into.authority, "The authority of all processes; certs/ca.pem by default")
    ->type_name("FILE");
  verb.add_flag("--insecure", into.insecure, "No certificates and no encryption, on loopback addresses only");
}

std::string machine_name() {
  const auto name = boost::asio::ip::host_name();
  return name.substr(0, name.find('.'));
}

void add_plan(CLI::App& verb, plan_arguments& into) {
  add_graph(verb, into.graph);
  verb.add_flag("--calibrate", into.calibrate,
                "Measure what the stages cost: runs the graph in short passes, writes nothing");
  verb.add_option("--cost", into.costs,
                  "What a stage costs: acquire, pack, deliver (of a frame), schedule (of a hyperframe), "
                  "infer.N (of N slots), k (pack in a hyperframe / pack alone)")
    ->type_name("NAME=TIME")
    ->take_all()
    ->expected(1);
  verb.add_option("--target-latency", into.target,
                  "What 99 of 100 frames must keep, from arrival to result; the graph's budget by default")
    ->type_name("TIME");
  verb.add_option("--cameras", into.cameras, "So many streams instead of the graph's");
  verb.add_option("--fps", into.fps, "Live streams of this rate instead of the graph's");
  verb.add_option("--sweep", into.sweep,
                  "Show every B with its throughput and latency, as a table, and as a picture in this file")
    ->type_name("FILE.svg");
}

/// @param to the command `certs` itself, whose two commands these are.
void add_certs(CLI::App& to, certs_arguments& into, int& status) {
  to.require_subcommand(1);
  const auto add = [&](const char* name, const char* help, auto verb) {
    auto* made = to.add_subcommand(name, help);
    made->add_option("--folder", into.folder, "Where the files are; certs by default");
    made->add_option("--days", into.days, "How long it is valid")
      ->type_name("N")
      ->check(CLI::Range(1, 36500));
    made->callback([&into, &status, verb] { status = verb(into); });
    return made;
  };
  add("init", "Make a deployment's authority, for ten years", certs_init);
  auto* issue = add("issue", "Make the certificate of a process, for a year", certs_issue);
  issue->add_option("NAME", into.name, "The process's name, which its files have")->required();
  issue->add_option("--host", into.hosts, "A name or IP address that it has, beside localhost")
    ->type_name("HOST")
    ->take_all()
    ->expected(1);
}

int run_with(int argc, char** argv) {
  CLI::App app{"Bundles frame streams into hyperframes and infers on them"};
  app.name("hyperframes");
  app.require_subcommand(1);
  int status = done;

  run_arguments running;
  std::string length, summary;
  auto* run_verb = app.add_subcommand("run", "Run a graph and sum up what became of every frame");
  add_graph(*run_verb, running.graph);
  run_verb->add_option("--duration", length, "Drain after this much time")->type_name("TIME");
  run_verb->add_option("--summary", summary, "Write the summary as JSON; - is the standard output, and nothing else goes there")->type_name("FILE");
  run_verb->add_flag("--continue", running.goes_on,
                     "Go on in the result files of the run before, ended or killed: what it captured and has no "
                     "line ends as lost, each stream begins a new epoch; nothing there yet: begin");
  run_verb->add_flag("--quiet", running.quiet, "No progress line, no summary, errors only");
  std::string control_path;
  run_verb->add_option("--control", control_path, "Take requests from a socket file with this path; see the command control")
    ->type_name("PATH");
  std::string clock = "system";
  run_verb->add_option("--clock", clock, "system, or virtual: simulated parts as fast as the machine can")
    ->check(CLI::IsMember({"system", "virtual"}));
  run_verb->callback([&] {
    if (run_verb->count("--duration") > 0)
      running.length = parse_length(length);
    if (run_verb->count("--summary") > 0)
      running.summary_file = summary;
    if (run_verb->count("--control") > 0)
      running.control = control_path;
    running.virtual_clock = clock == "virtual";
    if (running.virtual_clock && running.control)
      throw failure(make_error(
        errc::graph_invalid, "--control " + *running.control,
        "is for a run on the machine's clock: a virtual one is over before a request could reach it, and "
        "would not be the same each time; leave --clock virtual out"));
    status = run(running);
  });

  add_tls(*run_verb, running.tls);

  node_arguments offered;
  auto* node_verb = app.add_subcommand("node", "Offer this process to graphs that run elsewhere");
  node_verb->add_option("--listen", offered.listen, "Where it is found; port 0: any that is free")
    ->type_name("HOST:PORT")
    ->required();
  node_verb->add_option("--name", offered.name, "Its name, and that of its certificate; the machine's by default");
  node_verb->add_option("--slots", offered.slots, "Workers that it offers")->check(CLI::Range(1, 256));
  node_verb->add_option("--folder", offered.folder,
                        "Relative paths of graphs start here, and no graph reads a file outside; default: the working folder");
  add_tls(*node_verb, offered.tls);
  node_verb->callback([&] {
    if (offered.name.empty())
      offered.name = machine_name();
    status = node(offered);
  });

  nodes_arguments listed;
  auto* nodes_verb = app.add_subcommand("nodes", "List a graph's nodes, who is there, and how much they have to do");
  add_graph(*nodes_verb, listed.graph);
  add_tls(*nodes_verb, listed.tls);
  nodes_verb->callback([&] { status = nodes(listed); });

  std::vector<std::string> request;
  auto* control_verb = app.add_subcommand("control", "Ask something of a run with --control PATH: streams, add STREAM, "
                                                     "remove STREAM, metrics, drain, stop");
  control_verb->add_option("PATH", control_path, "The run's socket file")->required();
  control_verb->add_option("REQUEST", request, "What is asked")->required()->expected(1, 2);
  control_verb->callback([&] {
    status = control(control_path, request.size() > 1 ? request[0] + ' ' + request[1] : request[0]);
  });

  shown_arguments shown;
  const auto add_shown = [&shown](CLI::App& verb) {
    add_graph(verb, shown.graph);
    verb.add_flag("--connect", shown.connect, "Ask the graph's nodes for the cameras and models that they use");
    add_tls(verb, shown.tls);
  };
  auto* validate_verb = app.add_subcommand("validate", "Report every fault of a graph, and start nothing");
  add_shown(*validate_verb);
  validate_verb->callback([&] { status = validate(shown); });

  auto* explain_verb = app.add_subcommand("explain", "Print what a graph will do: values, waits, memory");
  add_shown(*explain_verb);
  explain_verb->callback([&] { status = explain(shown); });

  plan_arguments planned;
  auto* plan_verb = app.add_subcommand(
    "plan", "Say which sizes of hyperframes, batches and queues suit a graph, and what to expect of them");
  add_plan(*plan_verb, planned);
  plan_verb->callback([&] { status = plan(planned); });

  std::string format = "mermaid";
  auto* graph_verb = app.add_subcommand("graph", "Draw a graph");
  add_shown(*graph_verb);
  graph_verb->add_option("--format", format, "dot, mermaid or svg")
    ->check(CLI::IsMember({"dot", "mermaid", "svg"}));
  graph_verb->callback([&] { status = draw(shown, format); });

  bool results = false;
  auto* schema_verb = app.add_subcommand("schema", "Print the JSON Schema of graph files");
  schema_verb->add_flag("--results", results, "Of a line of results instead");
  schema_verb->callback([&] { status = schema(results); });

  std::string name;
  auto* stages_verb = app.add_subcommand("stages", "List the stages that can stand in a graph, or describe one");
  stages_verb->add_option("NAME", name, "A stage");
  stages_verb->callback([&] { status = stages(name); });
  auto* cameras_verb = app.add_subcommand("cameras", "List the cameras that a stream can have, or describe one");
  cameras_verb->add_option("NAME", name, "A camera");
  cameras_verb->callback([&] { status = cameras(name); });

  auto* bench_verb = app.add_subcommand("bench", "Measure what is promised, side by side with others; "
                                                 "without a name: list what can be measured");
  bench_verb->set_help_flag(); // the program has one
  bench_verb->prefix_command();
  bench_verb->callback([&] { status = bench(bench_verb->remaining()); });

  certs_arguments certs;
  add_certs(*app.add_subcommand("certs", "Make the certificates by which the processes of a deployment know "
                                         "each other: init, issue NAME"),
            certs, status);

  auto* version_verb = app.add_subcommand("version", "Print the version");
  version_verb->callback([] { std::cout << "hyperframes " HYPERFRAMES_VERSION "\n"; });

  if (argc > 1)
    check_verb(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
      check_options(app);
    return app.exit(e) == 0 ? done : wrong_graph;
  }
  return status;
}

} // namespace
} // namespace hyperframes::command

int main(int argc, char** argv) {
  using namespace hyperframes;
  silence_codecs(); // what is damaged ends as an outcome; their own words would break the progress line
  try {
    return command::with_output_written(command::run_with(argc, argv));
  } catch (const graph_error& e) {
    std::cerr << to_string(e.faults());
    return command::wrong_graph;
  } catch (const failure& e) {
    std::cerr << "error: " << e.what() << '\n';
    return command::status_of(e);
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return command::stage_failed;
  }
}
