// What another process says of a graph's cameras and models: facts of this graph, or nothing.
#include "graphs/found_facts.hpp"
#include "tests/fuzz/claim.hpp"
#include "tests/fuzz/facts_graph.hpp"
#include "tests/fuzz/heap.hpp"

#include <cstdint>
#include <span>

using namespace hyperframes;
using test::claim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto graph =
    read_graph_text(test::graph_with_facts, "g.yaml", built_in()).graph.value();
  auto found = graph;
  const auto facts = std::as_bytes(std::span{data, size});
  std::optional<std::vector<fault>> faults;
  {
    const test::bounded_heap bound{size};
    faults = read_facts(facts, found);
  }
  if (!faults) {
    for (const auto& s : found.streams)
      claim(!s.info, "what is no facts leaves the graph as it was");
    return 0;
  }
  const auto again = write_facts(found, *faults);
  auto second = graph;
  const auto same = read_facts(again, second);
  claim(same && same->size() == faults->size(), "what is written can be read");
  claim(write_facts(second, *same) == again, "what is read is what was written");
  return 0;
}
