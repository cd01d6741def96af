#include "graphs/document.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::fakes;

TEST_CASE("texts that are no graph") {
  struct row {
    const char* name;
    std::string text;
    std::string faults;
  };
  using namespace std::string_literals;
  const row rows[]{
    {"empty", "",
     "g.yaml:1:1: the graph is empty: expected at least the keys hyperframes, streams and "
     "stages\n"},
    {"comment only", "# nothing\n",
     "g.yaml:1:1: the graph is empty: expected at least the keys hyperframes, streams and "
     "stages\n"},
    {"NUL", "hyperframes: 1\nname: a\0b\n"s,
     "g.yaml:2:8: this is not a text: expected UTF-8, found a byte that it cannot contain here\n"},
    {"Latin-1", "name: caf\xe9\n",
     "g.yaml:1:10: this is not a text: expected UTF-8, found a byte that it cannot contain here\n"},
    {"cut UTF-8", "name: \xe2\x82",
     "g.yaml:1:7: this is not a text: expected UTF-8, found a byte that it cannot contain here\n"},
    {"overlong", "name: \xc0\xaf",
     "g.yaml:1:7: this is not a text: expected UTF-8, found a byte that it cannot contain here\n"},
    {"open bracket", "streams: [a, b\n",
     "g.yaml:2:1: this is not valid YAML: end of sequence flow not found\n"},
    {"bare star", "stages:\n  capture: { streams: * }\n",
     "g.yaml:2:24: this is not valid YAML: alias not found after *; a value that begins with * "
     "needs quotes: \"*\"\n"},
    {"scalar", "hello\n",
     "g.yaml:1:1: the graph is 'hello': expected the keys hyperframes, streams and stages\n"},
    {"list", "- a\n",
     "g.yaml:1:1: the graph is a list: expected the keys hyperframes, streams and stages\n"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.name);
    CHECK(faults_of(r.text) == r.faults);
  }
}

TEST_CASE("a text that does not parse gets a hint where the reason is likely") {
  CHECK(
    faults_of("a: { path: ${FILM:-x} }\n").find("needs quotes: \"${NAME:-1}\"")
    != std::string::npos);
  CHECK(faults_of("a:\n\tb: [1\n").find("indent with spaces, not with tabs") != std::string::npos);
}

TEST_CASE("the same key twice is a fault, at every depth, and hides no other") {
  CHECK(
    faults_of(with("seed", "seed", good + "seed: 3\nsed: 1\nseed: 4\n"))
    == "g.yaml:18:1: a graph has no key 'sed': did you mean 'seed'?\n"
       "g.yaml:19:1: the key 'seed' stands twice, first on line 17: remove one of them\n");
  CHECK(
    faults_of(with("wait: 40ms", "wait: 40ms, wait: 50ms"))
    == "g.yaml:10:72: the key 'wait' stands twice, first on line 10: remove one of them\n");
}

TEST_CASE("a second document is a fault") {
  CHECK(
    faults_of(good + "---\na: 1\n")
    == "g.yaml:18:1: a second document begins here: a graph file holds one\n");
  CHECK(faults_of(good + "---\n").empty());
}

TEST_CASE("anchors, aliases and merges") {
  std::vector<fault> faults;
  const auto root =
    parse_document("a: &x { p: 1, q: 2 }\nb: { <<: *x, q: 3 }\nc: *x\n", "t", faults);
  REQUIRE(root);
  CHECK(to_string(faults).empty());
  const auto& b = root->find("b")->value;
  CHECK(b.find("q")->value.text == "3");
  CHECK(b.find("p")->value.text == "1");
  CHECK(b.find("<<") == nullptr);
  CHECK(root->find("c")->value.find("q")->value.text == "2");

  parse_document("a: { <<: 3 }\n", "t", faults);
  CHECK(to_string(faults) == "t:1:10: '<<' expects an alias of keys and values, found '3'\n");
  faults.clear();
  parse_document("a: &x [1, *x]\n", "t", faults);
  CHECK(to_string(faults) == "t:1:11: this alias stands inside of what it refers to\n");
  faults.clear();
  parse_document("? [a, b]\n: 1\n", "t", faults);
  CHECK(to_string(faults) == "t:1:3: a key must be a text, found a list\n");
}

TEST_CASE("aliases that multiply end in a fault, not in memory") {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const auto n = std::to_string(i), before = "*a" + std::to_string(i - 1);
    text += "a" + n + ": &a" + n + " [" + before;
    for (int k = 0; k < 9; ++k)
      text += ", " + before;
    text += "]\n";
  }
  std::vector<fault> faults;
  CHECK_FALSE(parse_document(text, "t", faults));
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].message == "the graph has more than 200000 values: too many aliases?");
}

TEST_CASE("deep nesting ends in a fault") {
  std::vector<fault> faults;
  CHECK_FALSE(parse_document(std::string(100'000, '['), "t", faults));
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].where.line == 1);
  CHECK(
    faults[0].message
    == "values stand in values too deep here: expected a graph, which needs no more than ten "
       "levels; is a bracket not closed?");
}
