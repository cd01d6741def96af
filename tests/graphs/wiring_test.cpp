#include "graphs/check.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::fakes;

namespace {

/// A graph of two streams, `a` and `b`, with these stages from line 5 on.
std::string graph_of(const std::string& stages) {
  return "hyperframes: 1\nstreams:\n  - { id: \"{1..2}\", group: g, camera: fake }\nstages:\n"
         + stages;
}

const std::string chain = R"(  cap: { type: capture }
  bun: { type: bundle, size: 2, from: cap }
  sch: { type: schedule, from: bun }
  inf: { type: infer, model: m, from: sch }
  unb: { type: unbundle, from: inf }
  out: { type: null, from: unb }
)";

struct row {
  std::string what, by, faults;
};

void check(const std::vector<row>& rows) {
  for (const auto& r : rows) {
    CAPTURE(r.by);
    CHECK(faults_of(with(r.what, r.by, graph_of(chain))) == r.faults);
  }
}

} // namespace

TEST_CASE("a chain has no fault") {
  CHECK(faults_of(graph_of(chain)) == "");
}

TEST_CASE("faults of inputs and outputs") {
  check({
    {"from: sch", "from: sched",
     "g.yaml:8:39: inf takes from 'sched', but there is no such stage: did you mean 'sch'?\n"},
    {", from: sch", "", "g.yaml:8:3: inf has no input: it takes batch, write `from: sch`\n"},
    {"{ type: capture }", "{ type: capture, from: bun }",
     "g.yaml:5:31: cap takes no input, it is a source: remove `from`\n"},
    {"from: unb", "from: [unb, unb]",
     "g.yaml:10:34: out is wired to 'unb' twice: remove one of them\n"},
    {"from: sch", "from: [sch, bun]",
     "g.yaml:8:45: inf has one input, which comes from 'sch' already: 'bun' cannot be wired to it "
     "as well\n"},
    {"from: sch", "from: cap",
     "g.yaml:8:39: the edge cap.out -> inf.in does not fit: inf (infer) takes batch, but cap "
     "(capture) gives frame; put stages of the types bundle and schedule in between\n"},
    {"from: inf", "from: out",
     "g.yaml:9:32: unb takes from 'out', which is a sink and gives nothing (null): take from the "
     "stage above it\n"},
    {"from: inf", "from: { stage: inf, port: uot }",
     "g.yaml:9:41: 'inf' has no output 'uot': did you mean 'out'?\n"},
    {"from: inf", "from: sch.out",
     "g.yaml:9:32: unb takes from 'sch.out', but there is no such stage: to take the output 'out' "
     "of 'sch', write `from: sch`\n"},
    {"from: inf", "from: sch:expired",
     "g.yaml:9:32: unb takes from 'sch:expired', but there is no such stage: the stage 'sch' has no "
     "output 'expired' either, the only one is 'out'\n"},
    {"from: inf", "from: \"out.out\"",
     "g.yaml:9:32: unb takes from 'out.out', but there is no such stage: the stage 'out' has no "
     "output 'out' either, it is a sink\n"},
    {"from: inf", "from: { stage: inf, capasity: 3 }",
     "g.yaml:9:46: unb.from has no parameter 'capasity': did you mean 'capacity'?\n"},
    {"from: inf", "from: { stage: inf, capacity: 0 }",
     "g.yaml:9:56: unb.from.capacity is 0: expected 1 to 1000000 items\n"},
    {"from: inf", "from: { stage: inf, overflow: drop }",
     "g.yaml:9:56: unb.from.overflow is 'drop': expected one of block, drop_newest, drop_oldest or "
     "fail\n"},
    {"from: inf", "from: { capacity: 3 }",
     "g.yaml:9:32: unb.from needs 'stage': expected a text (The stage that the items come "
     "from.)\n"},
    {"from: inf", "from: [[inf]]",
     "g.yaml:9:33: unb.from is a list: expected the name of a stage, or { stage: name, capacity: 8 "
     "}\n"},
    {"  out: { type: null, from: unb }\n", "",
     "g.yaml:9:3: nobody takes what unb gives (frame_result): add a stage with `from: unb`, such "
     "as jsonl or null, or remove unb\n"},
  });
}

TEST_CASE("ports of several outputs") {
  const auto split = [](const std::string& first, const std::string& second) {
    return faults_of(graph_of(
      "  cap: { type: capture }\n  spl: { type: split, from: cap }\n  a: { type: jsonl, path: x, "
      "from: "
      + first + " }\n  b: { type: jsonl, path: y, from: " + second + " }\n"));
  };
  CHECK(split("{ stage: spl, port: small }", "{ stage: spl, port: large }") == "");
  CHECK(
    split("{ stage: spl, port: small }", "spl")
    == "g.yaml:8:36: 'spl' has several outputs that b can take: name one as in { stage: spl, port: "
       "small }; they are small and large\n");
  CHECK(
    split("{ stage: spl, port: small }", "spl.large")
    == "g.yaml:8:36: b takes from 'spl.large', but there is no such stage: to take the output "
       "'large' of 'spl', write `from: { stage: spl, port: large }`\n");
  CHECK(
    split("{ stage: spl, port: small }", "{ stage: spl, port: smal }")
    == "g.yaml:8:45: 'spl' has no output 'smal': did you mean 'small'?\n");
  CHECK(
    split("{ stage: spl, port: small }", "{ stage: spl, port: small }")
    == "g.yaml:6:3: nobody takes what spl gives at its output large (frame): add a stage with "
       "`from: { stage: spl, port: large }`, such as select, align, bundle, jsonl or split\n");
}

TEST_CASE("cycles") {
  CHECK(
    faults_of(
      graph_of("  cap: { type: capture }\n  s1: { type: select, from: s2 }\n  s2: { type: select, "
               "from: s1 }\n"
               "  s3: { type: select, from: s3 }\n  out: { type: jsonl, path: x, from: cap }\n"))
    == "g.yaml:6:29: the stages form a cycle: s1 -> s2 -> s1; frames would never leave it, remove "
       "one of its edges\n"
       "g.yaml:8:29: the stages form a cycle: s3 -> s3; frames would never leave it, remove one of "
       "its edges\n");
}

TEST_CASE("which streams are captured") {
  CHECK(
    faults_of(
      with("{ type: capture }", "{ type: capture, streams: [\"1\", \"3\"] }", graph_of(chain)))
    == "g.yaml:5:40: cap captures '3', but there is no such stream: did you mean '1'?\n");
  CHECK(
    faults_of(with("{ type: capture }", "{ type: capture, streams: \"1\" }", graph_of(chain)))
    == "g.yaml:3:11: nobody captures the stream '2': name it in a capture stage's `streams`, or "
       "remove it\n");
  CHECK(
    faults_of(
      graph_of(chain + "  cap2: { type: capture }\n  out2: { type: jsonl, path: x, from: cap2 }\n"))
    == "g.yaml:11:3: the stream '1' and 1 more are captured by cap and by cap2: name each stream "
       "in one `streams`\n");
  CHECK(
    faults_of(
      graph_of("  sel: { type: select, from: sel2 }\n  sel2: { type: select, from: sel }\n"))
    == "g.yaml:5:3: no stage captures the streams: add a stage without `from`, such as capture: { "
       "type: capture, streams: \"*\" }\n"
       "g.yaml:5:30: the stages form a cycle: sel -> sel2 -> sel; frames would never leave it, "
       "remove one of its edges\n");
}

TEST_CASE("two paths to one account") {
  const std::string two = R"(  cap: { type: capture }
  sel: { type: select, from: cap }
  bun: { type: bundle, size: 2, from: [cap, sel] }
  sch: { type: schedule, from: bun }
  inf: { type: infer, model: m, from: sch }
  unb: { type: unbundle, from: inf }
  out: { type: null, from: unb }
)";
  CHECK(
    faults_of(graph_of(two))
    == "g.yaml:10:3: the stream '1' (and 1 more) comes to unb by two paths, cap -> bun -> sch -> "
       "inf -> unb and cap -> sel -> bun -> sch -> inf -> unb: each frame would get two outcomes; "
       "end one of them in a stage of its own of type unbundle\n");
  // A sink of frames that have no outcome yet ends accounts too; one of results does not.
  CHECK(
    faults_of(graph_of("  cap: { type: capture }\n  sel: { type: select, from: cap }\n  out: { "
                       "type: jsonl, path: x, from: [cap, sel] }\n"))
    == "g.yaml:7:3: the stream '1' (and 1 more) comes to out by two paths, cap -> out and cap -> "
       "sel -> out: each frame would get two outcomes; end one of them in a stage of its own of "
       "type jsonl\n");
  CHECK(
    faults_of(graph_of(
      with("{ type: null, from: unb }", "{ type: jsonl, path: x, from: [unb, cap] }", chain)))
    == "");
}

TEST_CASE("patterns") {
  struct row {
    const char *pattern, *text;
    bool fits;
  };
  for (const auto& r :
       {row{"*", "", true},
        {"*", "abc", true},
        {"a*c", "abbc", true},
        {"a*c", "abcd", false},
        {"?", "a", true},
        {"?", "", false},
        {"a**b*", "axbx", true},
        {"", "", true},
        {"", "a", false},
        {"*.cam1", "x.y.cam1", true}}) {
    CAPTURE(r.pattern);
    CHECK(matches(r.pattern, r.text) == r.fits);
  }
}
