#include "graphs/files.hpp"
#include "tests/graphs/fake_catalogue.hpp"
#include "tests/system/folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

using namespace hyperframes;
using hyperframes::fakes::known;
using hyperframes::test::test_folder;
using hyperframes::test::write_file;

namespace {

namespace fs = std::filesystem;

/// A stream on line 3 and two sinks, on lines 6 and 7.
std::string graph_of(const std::string& first, const std::string& second, const std::string& film = {}) {
  return "hyperframes: 1\nstreams:\n  - { id: \"cam{1..2}\", camera: { type: fake"
         + (film.empty() ? "" : ", path: \"" + film + '"') + " } }\nstages:\n  cap: { type: capture }\n"
         + "  a: { type: jsonl, from: cap, path: \"" + first + "\" }\n  b: { type: jsonl, from: cap, path: \""
         + second + "\" }\n";
}

/// What reading and planning a text say together.
std::string all_faults(read_result r) {
  if (!r.graph)
    return to_string(r.faults);
  return to_string(plan_graph(*r.graph).faults);
}
std::string all_faults(const std::string& text) {
  return all_faults(read_graph_text(text, "g.yaml", known()));
}

} // namespace

TEST_CASE("a place where a sink cannot write is a fault of the graph") {
  const test_folder folder;
  const auto good = folder / "a.jsonl";
  write_file(folder / "text", "x");
  fs::create_directory(folder / "folder");
  const std::pair<std::string, std::string> cases[] = {
    {folder / "no/x", "but the folder " + (folder / "no") + " does not exist: make it, or name another file"},
    {folder / "no/{stream}", "but the folder " + (folder / "no") + " does not exist: make it, or name another file"},
    {folder / "folder", "which is a directory: expected a file"},
    {folder / "text/x", "but " + (folder / "text") + " is no folder: name another file"},
  };
  for (const auto& [path, sentence] : cases) {
    auto first = path;
    if (const auto at = first.find("{stream}"); at != std::string::npos)
      first.replace(at, 8, "cam1"); // one stands for all
    const auto* comma = sentence.starts_with("but") || sentence.starts_with("which") ? ", " : " ";
    CHECK(
      all_faults(graph_of(good, path))
      == "g.yaml:7:38: b.path names '" + first + "'" + comma + sentence + "\n");
  }
  CHECK(all_faults(graph_of(good, folder / "{stream}.jsonl")) == "");
  CHECK(all_faults(graph_of("/dev/null", "/dev/null")) == "");
}

TEST_CASE("what may not be written or read is a fault of the graph") {
  if (::geteuid() == 0) {
    MESSAGE("left out: the superuser may write everywhere");
    return;
  }
  const test_folder folder;
  write_file(folder / "sealed", "x");
  ::chmod((folder / "sealed").c_str(), 0);
  fs::create_directory(folder / "folder");
  ::chmod((folder / "folder").c_str(), 0500);
  CHECK(
    all_faults(graph_of(folder / "sealed", folder / "b"))
    == "g.yaml:6:38: a.path names '" + (folder / "sealed")
         + "', which cannot be written: Permission denied\n");
  CHECK(
    all_faults(graph_of(folder / "a", folder / "folder/b"))
    == "g.yaml:7:38: b.path names '" + (folder / "folder/b") + "', but no file can be made in the folder "
         + (folder / "folder") + ": Permission denied\n");
  CHECK(
    all_faults(graph_of(folder / "a", folder / "b", folder / "sealed"))
    == "g.yaml:3:52: camera.path names '" + (folder / "sealed")
         + "', which cannot be read: Permission denied\n");
}

TEST_CASE("one file is written by one stage, and not read: by whatever name") {
  const test_folder folder;
  const auto path = [&](const std::string& name) { return folder / name; };
  write_file(path("film"), "x");
  fs::create_symlink(path("film"), path("link"));
  fs::create_directory_symlink(folder.path(), path("loop"));
  const auto twice = [&](const std::string& second) {
    return "g.yaml:7:38: b.path names '" + second
           + "', which a.path writes too: give each a file of its own\n";
  };
  CHECK(all_faults(graph_of(path("x"), path("y"))) == "");
  for (const auto& same : {path("x"), path("./x"), path("loop/x"), path("loop/../") + fs::path{folder.path()}.filename().string() + "/x"}) {
    CAPTURE(same);
    CHECK(all_faults(graph_of(path("x"), same)) == twice(same));
  }
  CHECK(all_faults(graph_of("-", "-")) == twice("-"));
  CHECK(
    all_faults(graph_of(path("x"), path("link"), path("film")))
    == "g.yaml:7:38: b.path names '" + path("link")
         + "', which is the file that camera.path of the stream 'cam1' reads and would be "
           "overwritten: name another file\n");
  // Streams whose films would be one.
  CHECK(all_faults(graph_of(path("cam2"), path("{stream}"))) == twice(path("cam2")));

  write_file(path("g.yaml"), graph_of(path("x"), path("g.yaml")));
  CHECK(
    all_faults(read_graph_file(path("g.yaml"), known()))
    == path("g.yaml") + ":7:38: b.path names '" + path("g.yaml")
         + "', which is the graph file and would be overwritten: name another file\n");
}

TEST_CASE("what a graph names is looked at beside its other faults") {
  const test_folder folder;
  auto text = fakes::with("type: capture", "type: capture, stream: x", graph_of("no/x", folder / "y", "none.avi"));
  text += "  sch: { type: schedule, from: bun }\n  inf: { type: infer, model: broken, from: sch }\n";
  CHECK(
    all_faults(text)
    == "g.yaml:3:52: camera.path names 'none.avi', but there is no such file (looked for none.avi)\n"
       "g.yaml:5:25: cap has no parameter 'stream': did you mean 'streams'?\n"
       "g.yaml:6:38: a.path names 'no/x', but the folder no does not exist: make it, or name another "
       "file\n"
       "g.yaml:8:32: sch takes from 'bun', but there is no such stage: known are cap, a, b and inf\n"
       "g.yaml:9:3: nobody takes what inf gives (result): add a stage with `from: inf`, such as "
       "unbundle or jsonl, or remove inf\n"
       "g.yaml:9:30: inf cannot be prepared: the model cannot be read: expected ONNX\n");
}

TEST_CASE("what a stage says of the streams that pass it") {
  const test_folder folder;
  const auto text = [&](const std::string& other) {
    return "hyperframes: 1\nstreams:\n  - { id: a, camera: fake }\n  - { id: " + other
           + ", camera: fake }\nstages:\n  cap: { type: capture }\n"
             "  out: { type: jsonl, from: cap, path: x }\n";
  };
  CHECK(all_faults(text("b")) == "");
  CHECK(all_faults(text("unwanted")) == "g.yaml:7:3: out: 'unwanted' passes here\n");
}

TEST_CASE("pipes and devices are not opened") {
  const test_folder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(
    to_string(read_graph_file(pipe, known()).faults)
    == pipe + ": this is a named pipe: expected a graph file\n");
  CHECK(
    to_string(read_graph_file("/dev/zero", known()).faults)
    == "/dev/zero: this is a device: expected a graph file\n");
  CHECK(
    all_faults(graph_of(folder / "a", folder / "b", pipe))
    == "g.yaml:3:52: camera.path names '" + pipe + "', which is a named pipe: expected a file\n");
}
