#include "graphs/draw.hpp"
#include "graphs/explain.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

using namespace hyperframes;
using namespace hyperframes::fakes;

namespace {

/// Another seed and more rounds: HYPERFRAMES_MUTATION_SEED, HYPERFRAMES_MUTATION_ROUNDS.
unsigned from_environment(const char* name, unsigned otherwise) {
  const auto* text = std::getenv(name); // NOLINT(concurrency-mt-unsafe): one thread
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens(1);
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (const char c : text) {
    if (!tokens.back().empty() && !(is_word(c) && is_word(tokens.back().back())))
      tokens.emplace_back();
    tokens.back() += c;
  }
  return tokens;
}

const std::vector<std::string> strange{
  "${",
  "${A:-",
  "}",
  "{1..4}",
  "{1..99999999}",
  "{4..1}",
  "&a",
  "*a",
  "<<",
  "null",
  "~",
  "!!int",
  "|",
  ">",
  "? ",
  ": ",
  "- ",
  "\t",
  "\n",
  "\r",
  "\"",
  "'",
  "%",
  "@",
  "`",
  "[",
  "]",
  "{",
  "}",
  ",",
  "#",
  "---",
  "...",
  "-1",
  "1e999",
  "0",
  "9223372036854775808",
  "18446744073709551616",
  "\xff",
  "\xc3\xa9",
  "ms",
  "GB",
  "x",
  "640x",
  "from",
  "type",
  "stage",
  "streams",
  "name"};

std::string mutated(std::vector<std::string> tokens, std::mt19937& random) {
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (auto changes = 1 + pick(6); changes > 0 && !tokens.empty(); --changes) {
    const auto at = pick(tokens.size());
    const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    switch (pick(6)) {
      case 0:
        tokens.erase(place);
        break;
      case 1:
        tokens.insert(place, tokens[pick(tokens.size())]);
        break;
      case 2:
        std::swap(tokens[at], tokens[pick(tokens.size())]);
        break;
      case 3:
        tokens[at] = strange[pick(strange.size())];
        break;
      case 4:
        tokens.insert(place, strange[pick(strange.size())]);
        break;
      default:
        if (!tokens[at].empty())
          tokens[at][pick(tokens[at].size())] = static_cast<char>(pick(256));
    }
  }
  std::string text;
  for (const auto& t : tokens)
    text += t;
  return text;
}

} // namespace

TEST_CASE("whatever a file holds, there is a graph or a fault, and never a crash") {
  const auto seed = from_environment("HYPERFRAMES_MUTATION_SEED", 1);
  const auto rounds = from_environment("HYPERFRAMES_MUTATION_ROUNDS", 1000);
  MESSAGE("seed " << seed << ", " << rounds << " rounds");
  const auto tokens = tokens_of(good);
  std::mt19937 random(seed);
  unsigned graphs = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    const auto text = mutated(tokens, random);
    CAPTURE(i);
    INFO(text);
    auto r = read(text);
    REQUIRE(r.graph.has_value() == r.faults.empty());
    for (const auto& f : r.faults) {
      REQUIRE_FALSE(f.message.empty());
      REQUIRE_FALSE(f.where.file.empty());
    }
    if (!r.graph)
      continue;
    ++graphs;
    REQUIRE_FALSE(draw_svg(*r.graph).empty());
    const auto p = plan_graph(*r.graph);
    REQUIRE(p.plan.has_value() == p.faults.empty());
    if (p.plan)
      REQUIRE_FALSE(explain(*r.graph, *p.plan, 2).empty());
  }
  CHECK(graphs > rounds / 100); // most mutations do harm, not all
}

TEST_CASE("overrides may hold anything") {
  std::mt19937 random(from_environment("HYPERFRAMES_MUTATION_SEED", 1));
  const auto tokens =
    tokens_of("stages.bundle.release.timeout.streams.0.camera.size.stages.infer.from.capacity");
  for (int i = 0; i < 1000; ++i) {
    graph_options o;
    o.overrides = {{mutated(tokens, random), mutated(tokens_of("{ a: [1, 2], type: x }"), random)}};
    INFO(o.overrides[0].first << '=' << o.overrides[0].second);
    const auto r = read(good, o);
    REQUIRE(r.graph.has_value() == r.faults.empty());
  }
}
