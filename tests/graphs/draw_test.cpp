#include "graphs/draw.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::fakes;

namespace {

checked_graph checked(const std::string& text) {
  auto r = read(text);
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  return std::move(*r.graph);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto i = text.find(what); i != std::string::npos; i = text.find(what, i + 1))
    ++n;
  return n;
}

const std::string small = R"(hyperframes: 1
name: "a <b> & \"c\""
streams:
  - { id: a, camera: fake }
stages:
  cap: { type: capture }
  out: { type: jsonl, path: x, from: cap }
)";

/// A diamond with an edge that passes several layers.
const std::string wide = R"(hyperframes: 1
streams:
  - { id: a, camera: push }
  - { id: b, camera: fake }
stages:
  cap: { type: capture }
  spl: { type: split, from: cap }
  b1: { type: bundle, size: 4, from: { stage: spl, port: small } }
  b2: { type: bundle, size: 4, from: { stage: spl, port: large } }
  o1: { type: jsonl, path: x, from: b1 }
  o2: { type: jsonl, path: y, from: b2 }
  o3: { type: jsonl, path: z, from: cap }
)";

} // namespace

TEST_CASE("dot") {
  CHECK(draw_dot(checked(small)) == R"(digraph "a <b> & \"c\"" {
  rankdir=LR;
  node [shape=box, style="rounded,filled", fillcolor="#eef3fb", color="#4a6fa5", fontname="sans-serif"];
  edge [color="#5b6573", fontname="sans-serif", fontsize=10];
  s0 [label="cap\ncapture, 1 stream"];
  s1 [label="out\njsonl"];
  s0 -> s1 [label="frame\n8 per stream\nlive: drop_oldest"];
}
)");
}

TEST_CASE("mermaid") {
  CHECK(
    draw_mermaid(checked(small))
    == "flowchart LR\n  s0(\"cap<br/>capture, 1 stream\")\n  s1(\"out<br/>jsonl\")\n"
       "  s0 -- \"frame<br/>8 per stream<br/>live: drop_oldest\" --> s1\n");
}

TEST_CASE("labels name the output where there are several, and the policy once it is decided") {
  auto g = checked(wide);
  CHECK(
    label_of(g, g.edges[1]) == std::vector<std::string>{"frame (small)", "8 per stream", "block"});
  auto small_one = checked(small);
  REQUIRE(plan_graph(small_one).plan);
  CHECK(label_of(small_one, small_one.edges[0])[2] == "block");
}

TEST_CASE("svg holds a box for each stage and camera type, and a path for each edge") {
  const auto svg = draw_svg(checked(small));
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count(svg, "class=\"stage\"") == 2);
  CHECK(count(svg, "class=\"streams\"") == 1);
  CHECK(count(svg, "class=\"edge\"") == 2);
  CHECK(svg.find("a &lt;b&gt; &amp; &quot;c&quot;") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);

  const auto large = draw_svg(checked(wide));
  CHECK(count(large, "class=\"stage\"") == 7);
  CHECK(count(large, "class=\"streams\"") == 2);
  CHECK(count(large, "class=\"edge\"") == 8);
  CHECK(draw_svg(checked(wide)) == large); // the same graph, the same picture
}
