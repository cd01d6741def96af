// Whatever a graph file holds: there is a graph or a fault with a sentence, and never a crash.
#include "graphs/graph.hpp"
#include "tests/fuzz/claim.hpp"

#include <cstdint>
#include <string>

using namespace hyperframes;
using test::claim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto read = read_graph_text(text, "graph.yaml", built_in());
  claim(read.graph.has_value() == read.faults.empty(), "there is a graph or a fault");
  for (const auto& f : read.faults) {
    claim(!f.message.empty(), "a fault has a sentence");
    claim(!f.where.file.empty(), "a fault has a place");
  }
  if (read.graph)
    claim(!read.graph->streams.empty() && !read.graph->stages.empty(), "a graph has streams and stages");
  return 0;
}
