#include "graphs/explain.hpp"
#include "graphs/text_table.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::fakes;

namespace {

std::string explained(const std::string& text, const graph_options& options = {}) {
  auto r = read(text, options);
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  const auto p = plan_graph(*r.graph);
  REQUIRE_MESSAGE(p.plan, to_string(p.faults));
  return explain(*r.graph, *p.plan, 2);
}

} // namespace

TEST_CASE("explain names every value and where it came from") {
  graph_options options;
  options.overrides = {{"stages.bundle.size", "4"}, {"stages.bundle.release.count", "4"}};
  options.environment = {{"WAIT", "30ms"}};
  const auto text = explained(
    with("wait: 40ms", "wait: \"${WAIT}\"", with("fps: 30 }", "fps: 30, live: true }")), options);
  for (const auto* line :
       {"  latency_budget  500ms  g.yaml:3:17\n",
        "  memory          4GiB   default\n",
        "streams station1.cam1 ... station3.cam4 (12), camera fake  g.yaml:5:9\n",
        "  group     station1, station2, station3  g.yaml:6:12\n",
        "  priority  0                             default\n",
        "  fps       30                            g.yaml:7:59\n",
        "  path      unset                         default\n",
        "bundle, stage of type bundle  g.yaml:11:3\n",
        "--set stages.bundle.size\n",
        "environment, at g.yaml:10:66\n",
        "  from.overflow        drop_oldest   derived\n",
        "  from.capacity        8 per stream  default\n",
        "  from.capacity        16           g.yaml:12:64\n",
        "  fake parts.onnx [N,3,32,32] float32 -> [N,4]\n",
        "  300ms  bundle.release.timeout  What timeout means.\n",
        "  together 430ms, leaves 70ms of the latency budget for the work itself\n",
        "memory (models and libraries not counted)\n",
        "of 4.3 GB allowed\n",
        "  2  for the stages         one for each core\n",
        "  1  for infer              1 worker of 1 thread\n"}) {
    CAPTURE(line);
    CHECK_MESSAGE(text.find(line) != std::string::npos, text);
  }
  CHECK(
    explained(good).find("  - schedule: order: deadline acts as fifo, as files have no deadline\n")
    != std::string::npos);
}

TEST_CASE("explain prints every parameter of every stage, also what is unset") {
  const auto text = explained(good);
  for (const auto& s : known().stages.all()) {
    if (good.find("type: " + s->name + ',') == std::string::npos)
      continue;
    for (const auto& p : s->parameters) {
      CAPTURE(p.name);
      CHECK(text.find("\n  " + p.name) != std::string::npos);
    }
  }
  CHECK(text.find("reorder space  ") != std::string::npos);
}

TEST_CASE("explain without waits, budget and remarks") {
  const auto text = explained(
    "hyperframes: 1\nstreams:\n  - { id: a, camera: fake }\nstages:\n  c: { type: capture }\n"
    "  o: { type: jsonl, path: x, from: c }\n");
  CHECK(text.find("  no rule makes a frame wait\n") != std::string::npos);
  CHECK(text.find("no latency budget") != std::string::npos);
  CHECK(text.find("remarks") == std::string::npos);
}

TEST_CASE("explain says what dispatched batches wait for, and how full batches can be") {
  const auto joined = [](std::string text) { // as if no line was broken
    std::string result;
    for (const char c : text)
      if (c != '\n' && (c != ' ' || !result.ends_with(' ')))
        result += c;
      else if (c == '\n' && !result.ends_with(' '))
        result += ' ';
    return result;
  };
  const auto text = joined(explained(good));
  for (const auto* sentence :
       {"from.capacity 2 derived",
        "batch fill at most 100 % derived: 2 hyperframes of 8 slots in a batch of 16 slots; the "
        "summary "
        "counts the slots with a frame in them",
        "a batch that schedule has dispatched to infer waits for at most 1 batch that came to the "
        "same worker "
        "before it, and for none while batches take 10ms or longer: what can expire waits in "
        "schedule; how long "
        "a batch takes is not known before the graph runs; `infer` in the summary's latency shows "
        "both "
        "together"}) {
    CAPTURE(sentence);
    CHECK_MESSAGE(text.find(sentence) != std::string::npos, text);
  }
  const auto without = with(", ttl: 100ms", "");
  CHECK(
    joined(explained(without))
      .find("waits for at most 2 batches that came to the same worker before it; how long")
    != std::string::npos);
  CHECK(
    joined(explained(with(
             "{ type: infer, from: schedule,",
             "{ type: infer, from: { stage: schedule, capacity: 1 },", without)))
      .find("has dispatched to infer waits for no other one; how long")
    != std::string::npos);
  CHECK(
    joined(explained(with("batch: { max: 16 }", "batch: { max: 12 }")))
      .find("batch fill at most 67 % derived: 1 hyperframe of 8 slots in a batch of 12 slots")
    != std::string::npos);
}

TEST_CASE("explain shows what goes ahead of its hyperframe") {
  const auto text = explained(
    "hyperframes: 1\nstreams:\n  - { id: a, camera: fake }\nstages:\n"
    "  c: { type: capture }\n  b: { type: bundle, size: 4, stream_first: true, from: c }\n"
    "  s: { type: schedule, from: b }\n  i: { type: infer, model: m, from: s }\n"
    "  u: { type: unbundle, from: i }\n  o: { type: jsonl, path: x, from: u }\n");
  for (const auto* words :
       {"stream_first", "first tensors", "59 of 12.3 kB",
        "first parts that can be queued or under way at once",
        "2 hyperframes of 3 slots and 2 first parts of 1", "at most 100 %",
        "b.stream_first: the first frame of a hyperframe goes"}) {
    CAPTURE(words);
    CHECK_MESSAGE(text.find(words) != std::string::npos, text);
  }
}

TEST_CASE("explain speaks of one as of one") {
  const auto text =
    explained("hyperframes: 1\nstreams:\n  - { id: a, camera: { type: fake, frames: 1, exact: true "
              "} }\nstages:\n"
              "  c: { type: capture }\n  b: { type: bundle, size: 1, from: c }\n  s: { type: "
              "schedule, from: { stage: b, capacity: 1 } }\n"
              "  i: { type: infer, model: m, batch: { max: 1 }, from: s }\n  u: { type: unbundle, "
              "from: i }\n  o: { type: jsonl, path: x, from: u }\n");
  for (const auto* words :
       {"1 frames", "1 streams", "1 slots", "1 hyperframes", "1 batches", "1 workers", "1 threads",
        "1 items"}) {
    CAPTURE(words);
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
      CHECK_MESSAGE((at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9'), text);
  }
  CHECK(text.find("1 frame, pool of 3 slots (1 for") != std::string::npos);
}

TEST_CASE("tables align, also with letters of several bytes") {
  text_table t(1);
  t.add({"a", "10µs", "x"});
  t.add({"bb", "10us", ""});
  CHECK(t.text() == " a   10µs  x\n bb  10us\n");
  CHECK(wrap("one two three", 2, 10) == "  one two\n  three\n");
  CHECK(wrap("", 2) == "");
}
