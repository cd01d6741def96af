#pragma once

#include "runtime/net/certificate_folder.hpp"
#include "runtime/net/node_network.hpp"
#include "tests/system/collected.hpp"
#include "tests/system/graphs.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// What tests of graphs on nodes share, beside the nodes (node_process.hpp).
namespace hyperframes::test {

inline std::shared_ptr<node_network> network_of(const certificate_folder& certs) {
  return std::make_shared<node_network>(certs.files_of("coordinator"));
}

struct told {
  std::mutex mutex;
  std::vector<std::string> events;
  std::function<void(const event&)> listener() {
    return [this](const event& e) {
      const std::lock_guard lock{mutex};
      events.push_back(e.where + ": " + e.sentence);
    };
  }
  bool has(const std::string& part) {
    const std::lock_guard lock{mutex};
    return std::ranges::any_of(
      events, [&](const auto& e) { return e.find(part) != std::string::npos; });
  }
};

inline run_options
on_nodes(collected_results& results, told& events, const std::shared_ptr<node_network>& network) {
  auto options = calling({{"program", results.taker()}}, events.listener());
  options.network = network;
  return options;
}

} // namespace hyperframes::test
