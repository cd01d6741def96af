#include "graphs/node_host.hpp"
#include "graphs/text_table.hpp"
#include "runtime/net/certificate_folder.hpp"
#include "tools/commands.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <csignal>
#include <filesystem>
#include <iostream>

namespace hyperframes::command {

namespace {

constexpr unsigned certificate_days = 365;
constexpr std::chrono::seconds leave_patience{10}; ///< for its workers to be moved

node_address address_of(const std::string& option, const std::string& text) {
  const auto at = read_node_address(text);
  if (!at)
    throw failure(make_error(errc::graph_invalid, option + ' ' + text, at.error().message));
  return *at;
}

} // namespace

std::optional<tls_files> tls_of(const tls_arguments& arguments, const std::string& name) {
  if (arguments.insecure) {
    std::cerr
      << "warning: --insecure: whoever can connect to this machine's loopback can take part\n";
    return std::nullopt;
  }
  const certificate_folder folder{default_certificates};
  auto files = folder.files_of(name);
  const bool given =
    !arguments.certificate.empty() || !arguments.key.empty() || !arguments.authority.empty();
  // Where the authority's key is at hand, a process of this machine needs nobody to issue for it.
  namespace fs = std::filesystem;
  if (
    !given && !fs::exists(files.certificate)
    && fs::exists(std::string{default_certificates} + "/ca.key"))
    folder.issue(name, {}, std::chrono::system_clock::now(), certificate_days).value();
  if (!arguments.certificate.empty())
    files.certificate = arguments.certificate;
  if (!arguments.key.empty())
    files.key = arguments.key;
  if (!arguments.authority.empty())
    files.authority = arguments.authority;
  if (const auto good = check_tls(files, std::chrono::system_clock::now()); !good)
    throw failure(make_error(errc::graph_invalid, good.error().where, good.error().message));
  return files;
}

network_source network_of(
  const tls_arguments& arguments, std::function<void(const std::string&)> on_rejected) {
  const auto made = std::make_shared<std::shared_ptr<node_network>>();
  return [arguments, on_rejected = std::move(on_rejected), made] {
    if (!*made)
      *made = std::make_shared<node_network>(tls_of(arguments, coordinator_name), on_rejected);
    return *made;
  };
}

int node(const node_arguments& arguments) {
  const auto at = address_of("--listen", arguments.listen);
  std::signal(SIGPIPE, SIG_IGN);
  boost::asio::io_context io;
  boost::asio::signal_set signals{io, SIGINT, SIGTERM};
  const auto host =
    make_node_host({arguments.name, HYPERFRAMES_VERSION, arguments.slots, arguments.folder});
  node_network network{tls_of(arguments.tls, arguments.name), [](const std::string& sentence) {
                         std::cerr << "refused: " + sentence + '\n';
                       }};
  const auto port = network.offer(at, host);
  std::cerr << "node '" << arguments.name << "' offers " << arguments.slots
            << (arguments.slots == 1 ? " worker" : " workers") << " at "
            << node_address{at.host, port}.to_string() << '\n';

  boost::asio::steady_timer tick{io};
  const auto now = std::chrono::steady_clock::now;
  std::optional<std::chrono::steady_clock::time_point> until;
  std::function<void()> wait = [&] {
    tick.expires_after(std::chrono::milliseconds{20});
    tick.async_wait([&](auto) {
      if (host->taken() == 0 || now() >= *until)
        io.stop();
      else
        wait();
    });
  };
  signals.async_wait([&](auto error, int) {
    if (error)
      return;
    host->leave(); // workers go elsewhere; a second signal does not wait for that
    until = now() + leave_patience;
    wait();
    signals.async_wait([&](auto, int) { io.stop(); });
  });
  io.run();
  if (host->taken() > 0)
    std::cerr << "node '" << arguments.name << "' ends with " << host->taken()
              << " of its workers in use\n";
  return done;
}

int nodes(const nodes_arguments& arguments) {
  const auto g = load(arguments.graph);
  if (g.checked().nodes.empty()) {
    std::cout << "the graph names no nodes\n";
    return done;
  }
  node_network network{tls_of(arguments.tls, coordinator_name)};
  text_table table{0};
  table.add({"node", "address", "state", "slots", "in use", "load", "version"});
  bool all = true;
  for (const auto& n : g.checked().nodes) {
    const auto facts = network.ask(n.at, std::chrono::seconds{2});
    if (!facts) {
      all = false;
      table.add({n.name, n.at.to_string(), facts.error().message, "", "", "", ""});
      continue;
    }
    char load[16];
    std::snprintf(load, sizeof load, "%.2f", facts->load);
    table.add(
      {n.name, n.at.to_string(), facts->leaving ? "leaving" : "there", std::to_string(facts->slots),
       std::to_string(facts->taken), load, facts->version});
  }
  std::cout << table.text();
  return all ? done : stage_failed;
}

} // namespace hyperframes::command
