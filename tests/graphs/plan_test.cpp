#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

#include <iostream>

using namespace hyperframes;
using namespace hyperframes::fakes;

TEST_CASE("a good graph is planned") {
  auto r = read(good);
  REQUIRE(r.graph);
  auto p = plan_graph(*r.graph);
  REQUIRE_MESSAGE(p.plan, to_string(p.faults));
  for (const auto& l : p.plan->memory)
    std::cout << l.what << " " << l.bytes << " " << l.how << "\n";
  for (const auto& l : p.plan->waits)
    std::cout << l.what << " " << l.longest.count() << " " << l.why << "\n";
  for (const auto& l : p.plan->remarks)
    std::cout << l << "\n";
  std::cout << p.plan->frames_ahead[0] << " " << p.plan->reorder[5] << " " << p.plan->tensors[2]
            << "\n";
}
