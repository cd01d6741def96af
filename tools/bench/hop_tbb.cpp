#include "runtime/frame.hpp"
#include "tools/bench/hop.hpp"
#include "tools/bench/measure.hpp"

#include <memory>
#include <stdexcept>

#include <tbb/flow_graph.h>

namespace hyperframes::bench {

double tbb_chain(const chain_load& load) {
  namespace flow = tbb::flow;
  using frame_ptr = std::shared_ptr<const frame>;
  const auto before = cpu_seconds();
  flow::graph g;
  std::uint64_t sent = 0;
  flow::input_node<frame_ptr> feed{g, [&](tbb::flow_control& control) -> frame_ptr {
                                     if (sent++ < load.frames)
                                       return std::make_shared<const frame>();
                                     control.stop();
                                     return {};
                                   }};
  flow::limiter_node<frame_ptr> limit{g, std::size_t{8} * (load.stages + 1)};
  using node = flow::function_node<frame_ptr, frame_ptr>;
  std::vector<std::unique_ptr<node>> chain;
  for (unsigned i = 0; i < load.stages; ++i)
    chain.push_back(std::make_unique<node>(g, flow::serial, [](const frame_ptr& f) { return f; }));
  std::uint64_t got = 0;
  flow::function_node<frame_ptr, flow::continue_msg> sink{g, flow::serial, [&](const frame_ptr&) {
                                                            ++got;
                                                            return flow::continue_msg{};
                                                          }};
  const bool paced = load.every > duration{0};
  if (!paced)
    flow::make_edge(feed, limit);
  flow::make_edge(limit, *chain.front());
  for (unsigned i = 0; i + 1 < load.stages; ++i)
    flow::make_edge(*chain[i], *chain[i + 1]);
  flow::make_edge(*chain.back(), sink);
  flow::make_edge(sink, limit.decrementer());
  if (paced) {
    pace due{load.every};
    for (std::uint64_t i = 0; i < load.frames; ++i) {
      due.wait();
      while (!limit.try_put(std::make_shared<const frame>()))
        ;
    }
  } else {
    feed.activate();
  }
  g.wait_for_all();
  if (got != load.frames)
    throw std::runtime_error("oneTBB lost frames");
  return cpu_seconds() - before;
}

} // namespace hyperframes::bench
