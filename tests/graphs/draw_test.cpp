#include "graphs/draw.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

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

namespace {

struct area {
  double left, top, right, bottom;
  bool meets(const area& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
};

double number_in(const std::string& text, const std::string& key, std::size_t from) {
  const auto at = text.find(key + "=\"", from) + key.size() + 2;
  return std::stod(text.substr(at));
}

/// The labels' areas: three lines of text with the first one's place, 6.2 pixels a letter.
std::vector<area> label_areas(const std::string& svg) {
  std::vector<area> areas;
  for (auto i = svg.find("<text class=\""); i != std::string::npos; i = svg.find("<text class=\"", i + 1)) {
    const bool first = svg.compare(i + 13, 4, "type") == 0;
    if (!first && svg.compare(i + 13, 5, "label") != 0)
      continue;
    const auto x = number_in(svg, " x", i), y = number_in(svg, " y", i);
    const auto begin = svg.find('>', i) + 1;
    const auto half = static_cast<double>(svg.find('<', begin) - begin) * 6.2 / 2;
    if (first)
      areas.push_back({x - half, y - 10, x + half, y + 3});
    auto& a = areas.back();
    a = {std::min(a.left, x - half), a.top, std::max(a.right, x + half), y + 3};
  }
  return areas;
}

} // namespace

TEST_CASE("svg: the labels of edges that fan out, in and across do not meet") {
  std::string text = "hyperframes: 1\nstreams:\n  - { id: \"s{1..3}\", group: g, camera: fake }\nstages:\n";
  for (const std::string n : {"1", "2", "3"}) // three sources, all into two aligners, with sinks of their own
    text += "  c" + n + ": { type: capture, streams: s" + n + " }\n  p" + n
            + ": { type: jsonl, path: p" + n + ", from: c" + n + " }\n  q" + n
            + ": { type: jsonl, path: q" + n + ", from: c" + n + " }\n";
  for (const std::string n : {"1", "2"}) {
    text += "  a" + n + ": { type: align, from: [c1, c2, c3] }\n  b" + n
            + ": { type: bundle, size: 4, from: a" + n + " }\n";
    for (const std::string k : {"1", "2", "3", "4", "5"})
      text += "  o" + n + k + ": { type: jsonl, path: o" + n + k + ", from: b" + n + " }\n";
  }
  const auto svg = draw_svg(checked(text));
  const auto areas = label_areas(svg);
  REQUIRE(areas.size() == 24);
  const auto width = number_in(svg, " width", 0), height = number_in(svg, " height", 0);
  for (std::size_t i = 0; i < areas.size(); ++i) {
    CAPTURE(i);
    CHECK(areas[i].left > 0);
    CHECK(areas[i].top > 0);
    CHECK(areas[i].right < width);
    CHECK(areas[i].bottom < height);
    for (std::size_t k = 0; k < i; ++k)
      CHECK_FALSE(areas[i].meets(areas[k]));
  }
}
