// The command as a process: what it prints, what it writes, how it ends.
#include "tests/system/films.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/process.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>

using namespace hyperframes::test;
using nlohmann::json;

namespace {

const std::string model = HYPERFRAMES_SOURCE_DIR "/graphs/models/parts.onnx";

/// To a file `out.jsonl`, each line at once.
std::string to_file(const std::string& camera, const std::string& path = "out.jsonl") {
  return with(
    chain("  - { id: cam, camera: " + camera + " }\n"), "{ type: callback, from: unbundle }",
    "{ type: jsonl, from: unbundle, flush: 0s, path: " + path + " }");
}
const std::string ends =
  "{ type: synthetic, scene: counter, size: 32x32, realtime: false, frames: 21 }";
const std::string live = "{ type: synthetic, scene: counter, size: 32x32, fps: 100 }";

std::vector<std::string> command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HYPERFRAMES_COMMAND);
  return arguments;
}

void check_ledger(const json& summary) {
  const auto& l = summary.at("ledger");
  std::uint64_t sum = 0;
  for (const auto* o : {"delivered", "skipped", "dropped", "expired", "failed", "lost"})
    sum += l.at(o).get<std::uint64_t>();
  CHECK(l.at("captured") == sum);
  CHECK(l.at("in_flight") == 0);
  CHECK(l.at("closed") == true);
}

std::size_t lines_in(const std::string& path) {
  const auto text = content_of(path);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

} // namespace

TEST_CASE("version") {
  const auto p = finish(command({"version"}), "/");
  CHECK(p.status == 0);
  CHECK(p.out.starts_with("hyperframes "));
  CHECK(lines_of(p.out).size() == 1);
  CHECK(p.err == "");
}

TEST_CASE("help names every subcommand") {
  const auto p = finish(command({"--help"}), "/");
  CHECK(p.status == 0);
  for (const auto* verb :
       {"run", "validate", "explain", "graph", "schema", "stages", "cameras", "bench", "certs", "version"})
    CHECK(p.out.find(verb) != std::string::npos);
}

TEST_CASE("bench: lists what can be measured, and names what is wrong") {
  const auto all = finish(command({"bench"}), "/");
  CHECK(all.status == 0);
  CHECK(all.out.find("start ") != std::string::npos);
  const auto wrong = finish(command({"bench", "strat"}), "/");
  CHECK(wrong.status == 2);
  CHECK(wrong.err == "error: strat: is no benchmark: did you mean 'start'?\n");
  const auto option = finish(command({"bench", "start", "--jason", "x"}), "/");
  CHECK(option.status == 2);
}

TEST_CASE("schema: the graph file's and the result lines' are JSON") {
  const auto graph = finish(command({"schema"}), "/");
  CHECK(graph.status == 0);
  const auto g = json::parse(graph.out);
  CHECK(g.contains("$schema"));
  for (const auto* key : {"hyperframes", "name", "streams", "stages", "latency_budget", "memory"})
    CHECK(g.at("properties").contains(key));
  for (const auto* name :
       {"capture", "align", "bundle", "schedule", "infer", "unbundle", "synthetic", "video"})
    CHECK(graph.out.find('"' + std::string{name} + '"') != std::string::npos);
  const auto results = finish(command({"schema", "--results"}), "/");
  CHECK(results.status == 0);
  CHECK(json::parse(results.out).at("properties").contains("outcome"));
}

TEST_CASE("stages and cameras: all, and one with its parameters, ranges and defaults") {
  const auto all = finish(command({"stages"}), "/");
  CHECK(all.status == 0);
  for (const auto* name :
       {"capture", "align", "bundle", "schedule", "infer", "expire", "unbundle", "jsonl",
        "callback", "null", "video"})
    CHECK(all.out.find(name) != std::string::npos);
  const auto bundle = finish(command({"stages", "bundle"}), "/");
  CHECK(bundle.status == 0);
  CHECK(bundle.out.find("size  (integer, 1 to 1024 frames") != std::string::npos);
  CHECK(bundle.out.find("hyperframe") != std::string::npos);

  const auto cameras = finish(command({"cameras"}), "/");
  CHECK(cameras.status == 0);
  for (const auto* name : {"synthetic", "video", "images", "push"})
    CHECK(cameras.out.find(name) != std::string::npos);
  const auto video = finish(command({"cameras", "video"}), "/");
  CHECK(video.status == 0);
  CHECK(video.out.find("realtime  (boolean; default false)") != std::string::npos);
}

TEST_CASE("explain: values, where they come from, waits and memory") {
  const test_folder folder;
  write_file(folder / "graph.yaml", to_file(live));
  const auto p =
    finish(command({"explain", "graph.yaml", "--set", "stages.bundle.size=4"}), folder.path());
  CHECK(p.status == 0);
  CHECK(p.err == "");
  for (const auto* word : {"bundle", "--set", "default", "pool of stream cam", "reorder space"})
    CHECK_MESSAGE(p.out.find(word) != std::string::npos, word, " is missing in\n", p.out);
  CHECK_FALSE(std::filesystem::exists(folder / "out.jsonl"));
}

TEST_CASE("graph: in three formats") {
  const test_folder folder;
  write_file(folder / "graph.yaml", to_file(ends));
  const auto drawn = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"graph", "graph.yaml"});
    const auto p = finish(command(more), folder.path());
    CHECK(p.status == 0);
    CHECK(p.err == "");
    for (const auto* stage : {"capture", "bundle", "schedule", "infer", "unbundle", "program"})
      CHECK(p.out.find(stage) != std::string::npos);
    return p.out;
  };
  CHECK(drawn({"--format", "dot"}).starts_with("digraph"));
  CHECK(drawn({"--format", "svg"}).find("</svg>") != std::string::npos);
  const auto mermaid = drawn({"--format", "mermaid"});
  CHECK(mermaid.find("-->") != std::string::npos);
  CHECK(drawn({}) == mermaid);
}

TEST_CASE("run: lines in order and a summary with every key") {
  const test_folder folder;
  write_file(
    folder / "graph.yaml",
    with(
      to_file("{ type: synthetic, scene: parts, size: 96x96, realtime: false, frames: 21 }"),
      small_model, model));
  const auto p = finish(command({"run", "graph.yaml", "--summary", "-"}), folder.path());
  CHECK(p.status == 0);
  const auto s = json::parse(p.out);
  check_ledger(s);
  CHECK(s["ledger"]["captured"] == 21);
  CHECK(s["ledger"]["delivered"] == 21);
  CHECK(s["streams"]["cam"]["captured"] == 21);
  CHECK(s["streams"]["cam"]["delivered"] == 21);
  CHECK(s["fps"].get<double>() > 0);
  for (const auto* key : {"p50", "p95", "p99"})
    CHECK(s["latency_ms"][key].is_number());
  for (const auto* stage : {"capture", "bundle", "schedule", "infer", "unbundle", "program"})
    CHECK(s["stages"].contains(stage));
  CHECK(s["edges"].size() == 5);
  for (const auto& e : s["edges"]) {
    CHECK(e["capacity"].get<int>() > 0);
    CHECK(e["peak_depth"].get<int>() <= e["capacity"].get<int>());
    CHECK(e["drops"] == 0);
  }
  CHECK(s["peak_rss_bytes"].get<std::uint64_t>() > 1'000'000);
  CHECK(s["bytes_copied_per_frame"].is_number());
  CHECK(s["accuracy"].is_number());
  CHECK(s["batch_fill"].get<double>() > 0);

  const auto lines = lines_of(content_of(folder / "out.jsonl"));
  REQUIRE(lines.size() == 21);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = json::parse(lines[i]);
    CHECK(line["stream"] == "cam");
    CHECK(line["epoch"] == 0);
    CHECK(line["frame_id"] == i);
    CHECK(line["outcome"] == "delivered");
    CHECK(line["result"]["classes"].size() == 1);
    CHECK(line["truth"].is_object());
  }
}

TEST_CASE("run: a summary for people, a summary in a file, or nothing at all") {
  const test_folder folder;
  write_file(folder / "graph.yaml", to_file(ends));
  const auto told = finish(command({"run", "graph.yaml"}), folder.path());
  CHECK(told.status == 0);
  CHECK(told.out.find("ledger closed, in flight 0") != std::string::npos);
  CHECK(told.err == "");

  const auto kept =
    finish(command({"run", "graph.yaml", "--quiet", "--summary", "s.json"}), folder.path());
  CHECK(kept.status == 0);
  CHECK(kept.out == "");
  CHECK(kept.err == "");
  const auto s = json::parse(content_of(folder / "s.json"));
  check_ledger(s);
  CHECK(s["ledger"]["delivered"] == 21);
  CHECK(s["accuracy"].is_null());

  const auto lost =
    finish(command({"run", "graph.yaml", "--quiet", "--summary", "no/s.json"}), folder.path());
  CHECK(lost.status != 0);
  CHECK(lost.err.find("--summary no/s.json: cannot be written; name a file in a folder that exists") != std::string::npos);
}

TEST_CASE("run: results on the standard output") {
  const test_folder folder;
  write_file(folder / "graph.yaml", to_file(ends, "\"-\""));
  const auto p = finish(command({"run", "graph.yaml", "--quiet"}), folder.path());
  CHECK(p.status == 0);
  const auto lines = lines_of(p.out);
  REQUIRE(lines.size() == 21);
  for (const auto& line : lines)
    CHECK(json::parse(line)["type"] == "frame_result");
}

TEST_CASE("run: results on the standard output have it for themselves") {
  const test_folder folder;
  write_file(folder / "graph.yaml", to_file(ends, "\"-\""));
  const auto told = finish(command({"run", "graph.yaml"}), folder.path());
  CHECK(told.status == 0);
  const auto lines = lines_of(told.out);
  REQUIRE(lines.size() == 21);
  for (const auto& line : lines)
    CHECK(json::parse(line)["type"] == "frame_result");
  CHECK_MESSAGE(told.err.find("ledger closed, in flight 0") != std::string::npos, told.err);

  const auto both = finish(command({"run", "graph.yaml", "--summary", "-"}), folder.path());
  CHECK(both.status == 2);
  CHECK(both.out == "");
  CHECK(
    both.err
    == "error: --summary -: program.path has the standard output for itself; name a file\n");
}

TEST_CASE("run: a summary replaces no file that the graph reads or writes") {
  const test_folder folder;
  write_file(folder / "film.avi", content_of(film("tree.avi")));
  const auto text = to_file("{ type: video, path: film.avi }");
  write_file(folder / "graph.yaml", text);
  const std::pair<std::string, std::string> cases[] = {
    {"out.jsonl", "program.path writes it too; give each a file of its own"},
    {folder / "out.jsonl", "program.path writes it too; give each a file of its own"},
    {"film.avi", "is the file that stream 'cam' reads, camera.path, and would be overwritten; name "
                 "another file"},
    {"./graph.yaml", "is the graph file, and would be overwritten; name another file"},
    {"", "expected the name of a file"},
  };
  for (const auto& [path, sentence] : cases) {
    const auto p = finish(command({"run", "graph.yaml", "--summary", path}), folder.path());
    CHECK(p.status == 2);
    CHECK(p.out == "");
    CHECK(p.err == "error: --summary " + path + ": " + sentence + '\n');
  }
  CHECK(content_of(folder / "graph.yaml") == text);
  CHECK_FALSE(std::filesystem::exists(folder / "out.jsonl"));
}

TEST_CASE("a standard output that takes nothing is noticed, by every command") {
  const test_folder folder;
  write_file(folder / "graph.yaml", to_file(ends));
  for (const std::string verb :
       {"run graph.yaml", "run graph.yaml --summary -", "validate graph.yaml", "explain graph.yaml",
        "graph graph.yaml", "schema", "stages", "cameras video", "version", "--help"}) {
    INFO(verb);
    const auto p = finish(
      {"/bin/sh", "-c", std::string{HYPERFRAMES_COMMAND} + ' ' + verb + " >/dev/full"},
      folder.path());
    CHECK(p.status == 1);
    CHECK_MESSAGE(
      p.err.starts_with("error: the standard output cannot be written"), p.err);
    CHECK(lines_of(p.err).size() == 1);
  }
}

TEST_CASE("run: --set streams.0.camera.path plays another film, a variable too") {
  const test_folder folder;
  write_file(
    folder / "graph.yaml",
    to_file("{ type: video, path: \"${FILM:-" + film("Megamind.avi") + "}\" }"));
  const auto set = finish(
    command({"run", "graph.yaml", "--quiet", "--set", "streams.0.camera.path=" + film("tree.avi")}),
    folder.path());
  CHECK(set.status == 0);
  CHECK(set.err == "");
  CHECK(lines_in(folder / "out.jsonl") == 68);

  const auto named =
    finish(command({"run", "graph.yaml", "--quiet"}), folder.path(), {{"FILM", film("tree.avi")}});
  CHECK(named.status == 0);
  CHECK(lines_in(folder / "out.jsonl") == 68);
}

TEST_CASE("run: a damaged film is no failure, and its decoder has no say") {
  const test_folder folder;
  write_damaged_film(folder / "damaged.avi");
  write_file(folder / "graph.yaml", to_file("{ type: video, path: damaged.avi }"));
  const auto p = finish(command({"run", "graph.yaml", "--quiet", "--summary", "-"}), folder.path());
  CHECK(p.status == 0);
  CHECK(p.err == "");
  const auto s = json::parse(p.out);
  check_ledger(s);
  CHECK(s["ledger"]["failed"].get<int>() > 0);
  CHECK(s["ledger"]["reasons"]["corrupt"] == s["ledger"]["failed"]);
}

TEST_CASE("run: --duration drains a live graph; that is a success") {
  const test_folder folder;
  write_file(folder / "graph.yaml", to_file(live));
  const auto p =
    finish(command({"run", "graph.yaml", "--duration", "300ms", "--summary", "-"}), folder.path());
  CHECK(p.status == 0);
  const auto s = json::parse(p.out);
  check_ledger(s);
  CHECK(lines_in(folder / "out.jsonl") == s["ledger"]["captured"].get<std::size_t>());
}

TEST_CASE("run: SIGINT, SIGTERM and SIGHUP drain a live graph") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const test_folder folder;
    write_file(folder / "graph.yaml", to_file(live));
    process p{command({"run", "graph.yaml", "--summary", "-"}), folder.path()};
    REQUIRE(p.wait_until([&] { return lines_in(folder / "out.jsonl") >= 5; }));
    p.signal(number);
    CHECK(p.wait() == 130);
    const auto s = json::parse(p.out());
    check_ledger(s);
    const auto lines = lines_of(content_of(folder / "out.jsonl"));
    CHECK(lines.size() == s["ledger"]["captured"].get<std::size_t>());
    for (std::size_t i = 0; i < lines.size(); ++i)
      CHECK(json::parse(lines[i])["frame_id"] == i);
  }
}

TEST_CASE("run: a second signal stops what a drain would still have to do") {
  // HOG needs tens of milliseconds for each picture, and more than a hundred of them wait for it.
  const test_folder folder;
  auto text =
    to_file("{ type: synthetic, scene: noise, format: gray8, size: 640x480, realtime: false }");
  text = with(text, "model: " + small_model, "backend: hog, batch: { max: 2 }");
  write_file(folder / "graph.yaml", text);
  process p{command({"run", "graph.yaml", "--summary", "-"}), folder.path()};
  REQUIRE(p.wait_until([&] { return lines_in(folder / "out.jsonl") >= 1; }));
  // Two of one kind may melt into one; these do not.
  p.signal(SIGINT);
  p.signal(SIGTERM);
  CHECK(p.wait() == 130);
  const auto s = json::parse(p.out());
  check_ledger(s);
  CHECK(s["ledger"]["reasons"]["stopped"].get<std::uint64_t>() > 0);
}

TEST_CASE("run: a place where results cannot be written has its sentence") {
  const test_folder folder;
  write_file(folder / "graph.yaml", to_file(ends, "no/folder/out.jsonl"));
  for (const std::string verb : {"run", "validate"}) {
    const auto p = finish(command({verb, "graph.yaml"}), folder.path());
    CHECK(p.status == 2);
    CHECK(p.out == "");
    CHECK_MESSAGE(
      p.err.find(
        "program.path names 'no/folder/out.jsonl', but the folder no/folder does not exist: make "
        "it, or name another file")
        != std::string::npos,
      p.err);
    CHECK(lines_of(p.err).size() == 1);
  }
}

TEST_CASE("run: a full disk fails the sink; the ledger closes") {
  const test_folder folder;
  write_file(
    folder / "graph.yaml",
    to_file(
      "{ type: synthetic, scene: counter, size: 32x32, realtime: false, frames: 2000 }",
      "/dev/full"));
  const auto p = finish(command({"run", "graph.yaml", "--summary", "-"}), folder.path());
  CHECK(p.status == 1);
  CHECK_MESSAGE(
    p.err.find("/dev/full: cannot be written: the disk is full") != std::string::npos, p.err);
  CHECK(lines_of(p.err).size() == 1); // told once
  const auto s = json::parse(p.out);
  check_ledger(s);
  REQUIRE(s["failed"].is_string());
  CHECK(s["failed"].get<std::string>().find("program") != std::string::npos);
}

TEST_CASE("run: a reader that goes away fails the sink, not the process") {
  const test_folder folder;
  write_file(
    folder / "graph.yaml",
    to_file("{ type: synthetic, scene: counter, size: 32x32, realtime: false }", "\"-\""));
  const auto p = finish(
    {"/bin/sh", "-c",
     "{ " + std::string{HYPERFRAMES_COMMAND}
       + " run graph.yaml --quiet --summary s.json; echo $? >status; } | head -n 3 >first; "
         "test $(wc -l <first) = 3"},
    folder.path());
  CHECK(p.status == 0);
  CHECK(content_of(folder / "status") == "1\n");
  CHECK_MESSAGE(
    p.err.find("program: failed: the standard output: cannot be written: Broken pipe")
      != std::string::npos,
    p.err);
  check_ledger(json::parse(content_of(folder / "s.json")));
}

TEST_CASE("run: the virtual clock gives the same lines twice") {
  const test_folder folder;
  write_file(
    folder / "graph.yaml", "hyperframes: 1\n"
                           "streams:\n"
                           "  - { id: \"cam{1..2}\", group: pair, camera: { type: synthetic, "
                           "scene: counter, size: 32x32, jitter: 4ms } }\n"
                           "stages:\n"
                           "  capture: { type: capture }\n"
                           "  align:   { type: align, from: capture }\n"
                           "  bundle:  { type: bundle, from: align, over: both, size: 4 }\n"
                           "  lines:   { type: jsonl, from: bundle, path: out.jsonl }\n");
  std::string texts[2];
  for (auto& text : texts) {
    const auto p = finish(
      command({"run", "graph.yaml", "--clock", "virtual", "--duration", "20s", "--summary", "-"}),
      folder.path());
    CHECK(p.status == 0);
    check_ledger(json::parse(p.out));
    text = content_of(folder / "out.jsonl");
  }
  CHECK(lines_of(texts[0]).size() >= 140);
  CHECK((texts[0] == texts[1]));
}
