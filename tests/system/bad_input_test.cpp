// Everything that can be wrong with a graph or an argument: exit status 2 and a sentence that
// helps.
#include "tests/system/folder.hpp"
#include "tests/system/process.hpp"

#include <algorithm>

#include <sys/stat.h>

using namespace hyperframes::test;

namespace {

const std::string models = HYPERFRAMES_TEST_DATA "/models/";

/// Every value that a case below makes wrong stands here once.
const std::string good =
  "hyperframes: 1\n"                                                                            // 1
  "name: test\n"                                                                                // 2
  "streams:\n"                                                                                  // 3
  "  - id: cam1\n"                                                                              // 4
  "    camera: { type: synthetic, scene: counter, size: 64x48, frames: 21, realtime: false }\n" // 5
  "stages:\n"                                                                                   // 6
  "  capture:  { type: capture }\n"                                                             // 7
  "  bundle:   { type: bundle, from: capture, size: 8 }\n"                                      // 8
  "  schedule: { type: schedule, from: bundle }\n"                                              // 9
  "  infer:    { type: infer, from: schedule, model: "
  + models
  + "means_dynamic.onnx }\n"                                          // 10
    "  unbundle: { type: unbundle, from: infer }\n"                   // 11
    "  results:  { type: jsonl, from: unbundle, path: out.jsonl }\n"; // 12

struct wrong_graph {
  const char* what;
  std::string from, to;             ///< `good` with one place changed
  std::string sentence;             ///< part of what it must say
  std::string from_too{}, to_too{}; ///< and another place
};

const std::vector<wrong_graph>& wrong_graphs() {
  static const std::vector<wrong_graph> all{
    {"unknown stage", "type: bundle,", "type: bundel,",
     "graph.yaml:8:21: there is no stage type 'bundel': did you mean 'bundle'?"},
    {"unknown camera", "synthetic", "sinthetic",
     "graph.yaml:5:21: there is no camera 'sinthetic': did you mean 'synthetic'?"},
    {"unknown parameter of a stage", "size: 8", "siez: 8",
     "graph.yaml:8:44: bundle has no parameter 'siez': did you mean 'size'?"},
    {"unknown parameter of a camera", "scene: counter", "scheme: counter", "did you mean 'scene'?"},
    {"unknown key at the top", "name: test", "nmae: test", "did you mean 'name'?"},
    {"unknown choice", "scene: counter", "scene: countre", "did you mean 'counter'?"},
    {"wrong type", "size: 8", "size: many",
     "graph.yaml:8:50: bundle.size is 'many': expected a whole number"},
    {"wrong unit", "from: bundle }", "from: bundle, ttl: 30 furlongs }",
     "graph.yaml:9:50: schedule.ttl is '30 furlongs': expected a duration such as 40ms; units are"},
    {"no unit", "from: bundle }", "from: bundle, ttl: 30 }", "it needs a unit: 30ms or 30s?"},
    {"out of range", "size: 8", "size: 9999",
     "graph.yaml:8:50: bundle.size is 9999: expected 1 to 1024 frames"},
    {"below range", "size: 64x48", "size: 64x0", "graph.yaml:5:"},
    {"the same key twice", "size: 8", "size: 8, size: 9",
     "graph.yaml:8:53: the key 'size' stands twice, first on line 8: remove one of them"},
    {"the same stream twice",
     "stages:", "  - { id: cam1, camera: { type: synthetic } }\nstages:", "cam1"},
    {"dangling input", "from: infer", "from: infre",
     "graph.yaml:11:37: unbundle takes from 'infre', but there is no such stage: did you mean "
     "'infer'?"},
    {"no input", "type: jsonl, from: unbundle,", "type: jsonl,", "graph.yaml:12:"},
    {"dangling output", "  results:  { type: jsonl, from: unbundle, path: out.jsonl }\n", "",
     "graph.yaml:11:3: nobody takes what unbundle gives (frame_result): add a stage with `from: "
     "unbundle`"},
    {"doubly wired", "from: infer }", "from: [infer, schedule] }",
     "graph.yaml:11:45: unbundle has one input, which comes from 'infer' already: 'schedule' "
     "cannot "
     "be wired to it as well"},
    {"ports that do not match", "from: schedule,", "from: capture,",
     "the edge capture.out -> infer.in does not fit: infer (infer) takes batch, but capture "
     "(capture) gives frame; put stages of the types bundle and schedule in between"},
    {"unknown port", "from: infer }", "from: { stage: infer, port: side } }", "side"},
    {"cycle", "path: out.jsonl }\n",
     "path: out.jsonl }\n  one: { type: expire, from: other }\n  other: { type: expire, from: one "
     "}\n",
     "the stages form a cycle: one -> other -> one"},
    {"unknown stream", "type: capture }", "type: capture, streams: [cam2] }",
     "graph.yaml:7:40: capture captures 'cam2', but there is no such stream: did you mean 'cam1'?"},
    {"missing film", "type: synthetic, scene: counter, size: 64x48, frames: 21, realtime: false",
     "type: video, path: nosuch.avi",
     "graph.yaml:5:34: camera.path names 'nosuch.avi', but there is no such file (looked for "},
    {"a folder for a film",
     "type: synthetic, scene: counter, size: 64x48, frames: 21, realtime: false",
     "type: video, path: /tmp", "graph.yaml:5:34: camera.path names '/tmp', which is a directory"},
    {"a film that is none",
     "type: synthetic, scene: counter, size: 64x48, frames: 21, realtime: false",
     "type: video, path: graph.yaml",
     "the stream 'cam1' cannot be read: this is not a video in a format that FFmpeg knows"},
    {"an output that is named as in other languages", "from: infer }", "from: infer.out }",
     "graph.yaml:11:37: unbundle takes from 'infer.out', but there is no such stage: to take the "
     "output 'out' of 'infer', write `from: infer`"},
    {"a range that is none", "id: cam1", "id: cam{1..}",
     "graph.yaml:4:9: the stream id 'cam{1..}': '{1..}' is no range"},
    {"an empty path", "path: out.jsonl", "path: \"\"",
     "graph.yaml:12:50: results.path is empty: expected a text"},
    {"results for a folder", "path: out.jsonl", "path: .",
     "graph.yaml:12:50: results.path names '.', which is a directory: expected a file"},
    {"results over the graph", "path: out.jsonl", "path: graph.yaml",
     "graph.yaml:12:50: results.path names 'graph.yaml', which is the graph file and would be "
     "overwritten: name another file"},
    {"one film of several streams", "type: jsonl, from: unbundle, path: out.jsonl",
     "type: video, from: unbundle, path: out.mkv",
     "graph.yaml:12:3: results: several streams pass here (cam1, cam2): name one in `stream`, or "
     "put {stream} into `path` for a film of each",
     "id: cam1", "id: \"cam{1..2}\""},
    {"a film of no known kind", "type: jsonl, from: unbundle, path: out.jsonl",
     "type: video, from: unbundle, path: out.xyz",
     "graph.yaml:12:50: results: out.xyz: its extension names no container for films"},
    {"a film of another stream", "type: jsonl, from: unbundle, path: out.jsonl",
     "type: video, from: unbundle, stream: cam7, path: out.mkv",
     "graph.yaml:12:3: results: stream cam7 does not pass here; those that do: cam1"},
    {"films into no folder", "type: jsonl, from: unbundle, path: out.jsonl",
     "type: video, from: unbundle, path: \"no/{stream}.mkv\"",
     "graph.yaml:12:50: results.path names 'no/cam1.mkv', but the folder no does not exist"},
    {"a device for a film",
     "type: synthetic, scene: counter, size: 64x48, frames: 21, realtime: false",
     "type: video, path: /dev/zero",
     "graph.yaml:5:34: camera.path names '/dev/zero', which is a device: expected a file"},
    {"missing model", "means_dynamic", "nosuch", "graph.yaml:10:51: infer.model names '"},
    {"damaged model", "means_dynamic", "damaged", "graph.yaml:10:51: infer cannot be prepared: "},
    {"model with another number of channels", "means_dynamic", "five_channels",
     "graph.yaml:10:51: infer cannot be prepared: input image [N,5,8,8] has neither 1 nor 3 "
     "channels"},
    {"model with a time axis that the size does not fit", "means_dynamic", "brightest_of_3",
     "takes runs of 3 frames: size must be a multiple of 3"},
    {"latency budget below the waits", "name: test", "latency_budget: 100ms",
     "graph.yaml:2:17: latency_budget is 100ms, but the waits alone may take 300ms: "
     "bundle.release.timeout 300ms",
     "realtime: false }\nstages:\n  capture:  { type: capture }\n  bundle:   { type: bundle, from: "
     "capture, size: 8",
     "realtime: true }\nstages:\n  capture:  { type: capture }\n  bundle:   { type: bundle, from: "
     "capture, size: 8, release: { timeout: 300ms }"},
    {"blocking a live camera", "from: capture,", "from: { stage: capture, overflow: block },",
     "which cannot be held back: use drop_oldest, drop_newest or fail", "realtime: false",
     "realtime: true"},
    {"too much memory", "name: test", "memory: 100kB",
     "but memory allows 100 kB: the largest are "},
    {"too small a reorder space", "from: infer }", "from: infer, reorder: 1 }", "reorder"},
    {"undefined variable", "frames: 21", "frames: \"${HYPERFRAMES_NOT_SET}\"",
     "HYPERFRAMES_NOT_SET"},
    {"broken YAML", "stages:", "stages: {", "this is not valid YAML: "},
    {"another version", "hyperframes: 1", "hyperframes: 7", "graph.yaml:1:14: "},
    {"no version", "hyperframes: 1\n", "", "hyperframes"},
    {"no streams",
     "streams:\n  - id: cam1\n    camera: { type: synthetic, scene: counter, size: "
     "64x48, frames: 21, realtime: false }\n",
     "streams: []\n", "streams is an empty list"},
  };
  return all;
}

finished_process command(const test_folder& in, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HYPERFRAMES_COMMAND);
  return finish(arguments, in.path());
}

} // namespace

TEST_CASE("the graph that the cases below spoil is good") {
  const test_folder folder;
  write_file(folder / "graph.yaml", good);
  const auto p = command(folder, {"validate", "graph.yaml"});
  CHECK(p.status == 0);
  CHECK(p.out == "graph.yaml: 1 stream, 6 stages, no faults\n");
  CHECK(p.err == "");
}

TEST_CASE("each fault of a graph has its sentence, and nothing starts") {
  const test_folder folder;
  for (const auto& wrong : wrong_graphs()) {
    INFO(std::string{wrong.what});
    auto text = with(good, wrong.from, wrong.to);
    if (!wrong.from_too.empty())
      text = with(text, wrong.from_too, wrong.to_too);
    write_file(folder / "graph.yaml", text);
    const auto p = command(folder, {"run", "graph.yaml", "--quiet"});
    CHECK(p.status == 2);
    CHECK(p.out == "");
    CHECK_MESSAGE(p.err.find(wrong.sentence) != std::string::npos, p.err);
    CHECK(p.err.starts_with("graph.yaml"));
    CHECK(p.err.ends_with("\n"));
    CHECK_FALSE(std::filesystem::exists(folder / "out.jsonl"));
  }
}

TEST_CASE("five faults are reported at once, each with its line") {
  const test_folder folder;
  auto text = with(good, "synthetic", "sinthetic");                         // 5
  text = with(text, "type: capture }", "type: capture, streams: [cam9] }"); // 7
  text = with(text, "size: 8", "size: 0");                                  // 8
  text = with(text, "from: bundle }", "from: bundle, order: random }");     // 9
  text = with(text, "from: infer }", "from: infre }");                      // 11
  write_file(folder / "graph.yaml", text);
  const auto p = command(folder, {"validate", "graph.yaml"});
  CHECK(p.status == 2);
  CHECK(p.out == "");
  const auto lines = lines_of(p.err);
  REQUIRE_MESSAGE(lines.size() == 5, p.err);
  CHECK(lines[0].starts_with("graph.yaml:5:21: there is no camera 'sinthetic'"));
  CHECK(lines[1].starts_with("graph.yaml:7:40: capture captures 'cam9'"));
  CHECK(lines[2].starts_with("graph.yaml:8:50: bundle.size is 0: expected 1 to 1024"));
  CHECK(lines[3].starts_with("graph.yaml:9:52: schedule.order is 'random': expected "));
  CHECK(lines[4].starts_with("graph.yaml:11:37: unbundle takes from 'infre'"));
}

TEST_CASE("missing files are told beside other faults") {
  const test_folder folder;
  auto text = with(
    good, "type: synthetic, scene: counter, size: 64x48, frames: 21, realtime: false",
    "type: video, path: nosuch.avi");                 // 5
  text = with(text, "from: bundle }", "from: bundel }"); // 9
  text = with(text, "means_dynamic", "nosuch");          // 10
  text = with(text, "out.jsonl", "no/out.jsonl");        // 12
  write_file(folder / "graph.yaml", text);
  const auto p = command(folder, {"validate", "graph.yaml"});
  CHECK(p.status == 2);
  const auto lines = lines_of(p.err);
  REQUIRE_MESSAGE(lines.size() == 4, p.err);
  CHECK(lines[0].starts_with("graph.yaml:5:34: camera.path names 'nosuch.avi', but there is no such"));
  CHECK(lines[1].starts_with("graph.yaml:9:37: schedule takes from 'bundel'"));
  CHECK(lines[2].starts_with("graph.yaml:10:51: infer.model names '"));
  CHECK(lines[3].starts_with("graph.yaml:12:50: results.path names 'no/out.jsonl', but the folder"));
}

TEST_CASE("what is no graph at all has its sentence") {
  const test_folder folder;
  const auto says = [&](const std::string& name, const std::string& sentence) {
    INFO(name);
    for (const std::string verb : {"validate", "run", "explain", "graph"}) {
      const auto p = command(folder, {verb, name});
      CHECK(p.status == 2);
      CHECK(p.out == "");
      CHECK_MESSAGE(p.err.find(sentence) != std::string::npos, p.err);
    }
  };
  write_file(folder / "empty.yaml", "");
  says("empty.yaml", "empty.yaml:1:1: the graph is empty: expected at least the keys hyperframes");
  write_file(folder / "comment.yaml", "# nothing else\n");
  says("comment.yaml", "the graph is empty");
  std::filesystem::create_directory(folder / "folder.yaml");
  says("folder.yaml", "folder.yaml: this is a directory: expected a graph file");
  write_file(folder / "binary.yaml", std::string{"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16});
  says("binary.yaml", "this is not a text");
  says("missing.yaml", "missing.yaml: there is no such file");
  write_file(folder / "list.yaml", "- a\n- b\n");
  says(
    "list.yaml",
    "list.yaml:1:1: the graph is a list: expected the keys hyperframes, streams and stages");
  write_file(folder / "text.yaml", "no graph\n");
  says("text.yaml", "expected the keys hyperframes, streams and stages");
  REQUIRE(::mkfifo((folder / "pipe.yaml").c_str(), 0600) == 0);
  says("pipe.yaml", "pipe.yaml: this is a named pipe: expected a graph file"); // and nobody waits
  says("/dev/zero", "/dev/zero: this is a device: expected a graph file");
}

TEST_CASE("a wrong --set names the place that it could not find, or the value") {
  const test_folder folder;
  write_file(folder / "graph.yaml", good);
  const std::pair<const char*, const char*> cases[] = {
    {"foo", "--set foo: expected path=value, such as --set stages.bundle.size=8"},
    {"=3", "--set =3: expected path=value"},
    {"stages.bundel.size=3", "the graph has no stage 'bundel': did you mean 'bundle'?"},
    {"streams.7.camera.fps=3", "'7' is no position in the list at graph.yaml:4:"},
    {"streams.cam1.camera.fps=3", "'cam1' is no position in the list"},
    {"stages.bundle.size=0",
     "--set stages.bundle.size: bundle.size is 0: expected 1 to 1024 frames"},
    {"stages.bundle.siez=4", "did you mean 'size'?"},
    {"streams.0.camera.type=vidoe", "there is no camera 'vidoe': did you mean 'video'?"},
  };
  for (const auto& [set, sentence] : cases) {
    INFO(std::string{set});
    const auto p = command(folder, {"run", "graph.yaml", "--set", set});
    CHECK(p.status == 2);
    CHECK(p.out == "");
    CHECK_MESSAGE(p.err.find(sentence) != std::string::npos, p.err);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "out.jsonl"));
}

TEST_CASE("wrong arguments end with status 2 and a sentence") {
  const test_folder folder;
  write_file(folder / "graph.yaml", good);
  const std::pair<std::vector<std::string>, const char*> cases[] = {
    {{"run", "graph.yaml", "--duration", "5"},
     "--duration 5: expected a time such as 90s, 500ms or 2min"},
    {{"run", "graph.yaml", "--duration", "-3s"}, "--duration -3s: expected a time"},
    {{"run", "graph.yaml", "--duration", "abc"}, "--duration abc: expected a time"},
    {{"run", "graph.yaml", "--duration", "5 x"}, "--duration 5 x: expected a time"},
    {{"run", "graph.yaml", "--duration", "nans"}, "--duration nans: expected a time"},
    {{"run", "graph.yaml", "--duration", "1e300h"}, "--duration 1e300h: expected a time"},
    {{"run", "graph.yaml", "--duration"}, "--duration"},
    {{"run", "graph.yaml", "--clock", "sundial"}, "sundial"},
    {{"run", "graph.yaml", "--fast"}, "--fast: `run` has no such option: known are --help, --set"},
    {{"run", "graph.yaml", "--sumary", "x"}, "--sumary: `run` has no such option: did you mean '--summary'?"},
    {{"run", "graph.yaml", "more.yaml"}, "more.yaml"},
    {{"run"}, "GRAPH is required"},
    {{"validate"}, "GRAPH is required"},
    {{"graph", "graph.yaml", "--format", "png"}, "png"},
    {{"stages", "bundel"}, "there is no stage type 'bundel': did you mean 'bundle'?"},
    {{"cameras", "vidoe"}, "there is no camera 'vidoe': did you mean 'video'?"},
    {{}, "subcommand"},
  };
  for (const auto& [arguments, sentence] : cases) {
    INFO((arguments.empty() ? std::string{"nothing"} : arguments.front() + ' ' + arguments.back()));
    const auto p = command(folder, arguments);
    CHECK(p.status == 2);
    CHECK(p.out == "");
    CHECK_MESSAGE(p.err.find(sentence) != std::string::npos, p.err);
  }
}

TEST_CASE("an unknown subcommand is named") {
  const test_folder folder;
  const auto p = command(folder, {"rnu", "graph.yaml"});
  CHECK(p.status == 2);
  CHECK(p.out == "");
  CHECK(p.err == "error: rnu: is no command: did you mean 'run'?\n");
  CHECK(command(folder, {"runn", "graph.yaml"}).err == "error: runn: is no command: did you mean 'run'?\n");
  CHECK(
    command(folder, {"perform"}).err
    == "error: perform: is no command: known are run, node, nodes, control, validate, explain, plan, graph, schema, stages, "
       "cameras, bench, certs and version\n");
}

TEST_CASE("an empty --duration is no time") {
  const test_folder folder;
  write_file(folder / "graph.yaml", good);
  const auto p = command(folder, {"run", "graph.yaml", "--quiet", "--duration", ""});
  CHECK(p.status == 2);
  CHECK_MESSAGE(
    p.err.find("expected a time such as 90s, 500ms or 2min") != std::string::npos, p.err);
}
