#include "tests/runtime/fake_graph.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using std::chrono::milliseconds;

TEST_CASE("on the virtual clock a run is the same to the last step") {
  const auto run = [] {
    fake_graph g;
    g.source({.frames = 50, .every = milliseconds{10}, .streams = 2});
    g.worker({.takes = milliseconds{17}});
    g.sink();
    g.edge(0, 1, {2, 0, overflow_policy::drop_oldest, 2});
    g.edge(1, 2, {4, 0, overflow_policy::block, 2});
    g.run_virtually();
    return g.trace();
  };
  const auto first = run();
  CHECK(first.size() > 20);
  CHECK(first == run());
}

TEST_CASE("time jumps to the next timer and stops at `until`") {
  fake_graph g;
  g.source({.frames = 10, .every = milliseconds{100}});
  g.sink();
  g.edge(0, 1, {4, 0, overflow_policy::block, 1});
  g.run_virtually(graph_time{milliseconds{350}});
  CHECK(g.trace().size() == 4);
  CHECK(g.now() == graph_time{milliseconds{300}});
}
