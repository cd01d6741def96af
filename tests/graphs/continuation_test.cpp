// Which graphs a run can go on with, and what it takes over.
#include "graphs/continuation.hpp"
#include "graphs/plan.hpp"
#include "tests/system/folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

std::string a_graph(const std::string& sinks, const std::string& streams = "cam{1..2}") {
  return "hyperframes: 1\nname: line\nstreams:\n  - { id: \"" + streams
         + "\", camera: { type: synthetic, size: 32x32 } }\nstages:\n"
           "  capture:  { type: capture }\n"
           "  bundle:   { type: bundle, from: capture, size: 2, keep_frames: true }\n"
           "  schedule: { type: schedule, from: bundle }\n"
           "  infer:    { type: infer, from: schedule, backend: simulated }\n"
           "  unbundle: { type: unbundle, from: infer }\n"
         + sinks;
}

checked_graph checked(const std::string& text) {
  auto read = read_graph_text(text, "g.yaml", built_in());
  REQUIRE_MESSAGE(read.graph, to_string(read.faults));
  return std::move(*read.graph);
}

std::string refusal(const std::string& text) {
  try {
    continue_run(checked(text), true);
  } catch (const failure& e) {
    return e.what();
  }
  return {};
}

std::string lines_to(const std::string& path, const std::string& name = "lines") {
  return "  " + name + ": { type: jsonl, from: unbundle, path: \"" + path + "\" }\n";
}

/// As a run that captured `frames` of the first stream would leave it.
void begin_run(const continuation& c, std::uint64_t frames) {
  for (const auto& [stage, resource] : c.files)
    resource->file->begin();
  if (frames > 0)
    c.announce(0, {c.begins[0].epoch, frames - 1});
}

} // namespace

TEST_CASE("a graph with other files, or none, cannot be gone on with") {
  const test_folder folder;
  const auto r = folder / "r.jsonl", film = folder / "film.mkv", raw = folder / "raw.jsonl";
  CHECK(
    refusal(a_graph("  none: { type: \"null\", from: unbundle }\n"))
    == "line: there is nothing to go on with: no stage `jsonl` behind an unbundle writes a file");
  CHECK(
    refusal(a_graph(lines_to("-")))
    == "line: there is nothing to go on with: no stage `jsonl` behind an unbundle writes a file");
  const auto would_replace = [](const std::string& what, const std::string& path) {
    return what + " names '" + path
           + "', which a run that goes on would replace: `--continue` is for graphs whose "
             "only files are those of stages `jsonl` behind an unbundle";
  };
  CHECK(refusal(a_graph(
                  lines_to(r) + "  film: { type: video, from: unbundle, path: \"" + film
                  + "\", stream: cam1 }\n"))
          .ends_with(would_replace("film.path", film)));
  CHECK(
    refusal(a_graph(lines_to(r) + "  raw: { type: jsonl, from: bundle, path: \"" + raw + "\" }\n"))
      .ends_with(would_replace("raw.path", raw)));
  CHECK(
    refusal(a_graph(lines_to(r) + lines_to("-", "more")))
    == ""); // the standard output is not replaced
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(
    continue_run(checked(a_graph("  none: { type: \"null\", from: unbundle }\n")), false)
    == nullptr);
}

TEST_CASE("each stream goes on behind all that any file knows of it") {
  const test_folder folder;
  const auto a = folder / "a.jsonl", b = folder / "b.jsonl";
  const auto both = a_graph(lines_to(a, "a") + lines_to(b, "b"));
  const auto with_lines = [&](const std::string& path) { write_file(path, ""); };
  const auto first = continue_run(checked(both), true);
  CHECK(first->run == 0);
  CHECK(first->news == std::vector<std::string>{"begins " + a, "begins " + b});
  with_lines(a);
  with_lines(b);
  begin_run(*first, 5);
  {
    const auto second = continue_run(checked(both), true);
    CHECK(second->run == 1);
    REQUIRE(second->begins.size() == 2);
    CHECK(second->begins[0].epoch == 1);
    CHECK(second->begins[0].before == 5);
    CHECK(second->begins[1].epoch == 0); // had no frame
    CHECK(lines_of(content_of(a)).size() == 5);
    CHECK(lines_of(content_of(b)).size() == 5);
    graph_facts facts;
    facts.streams.resize(2);
    second->put_into(facts);
    CHECK(facts.streams[0].first_epoch == 1);
    CHECK(facts.streams[0].frames_before == 5);
    // Killed between the two sinks: one has begun, the other not.
    second->files.begin()->second->file->begin();
  }
  {
    const auto third = continue_run(checked(both), true);
    CHECK(third->run == 2);
    CHECK(third->begins[0].epoch == 1);
    CHECK(third->begins[0].before == 5);
    CHECK(lines_of(content_of(a)).size() == 5);
    begin_run(*third, 2);
  }
  { // A stream that is away keeps its place.
    const auto fourth =
      continue_run(checked(a_graph(lines_to(a, "a") + lines_to(b, "b"), "cam{2..3}")), true);
    CHECK(fourth->begins[0].epoch == 0); // cam2
    CHECK(fourth->begins[1].epoch == 0); // cam3
    begin_run(*fourth, 0);
  }
  const auto fifth = continue_run(checked(both), true);
  CHECK(fifth->run == 4);
  CHECK(fifth->begins[0].epoch == 2);
  CHECK(fifth->begins[0].before == 7);
}

TEST_CASE("where one file is refused, none is touched") {
  const test_folder folder;
  const auto a = folder / "a.jsonl", b = folder / "b.jsonl";
  const auto both = a_graph(lines_to(a, "a") + lines_to(b, "b"));
  write_file(a, "");
  write_file(b, "");
  begin_run(*continue_run(checked(both), true), 5);
  write_file(a, "{\"ty");
  write_file(announced_path(b), "damaged");
  CHECK(refusal(both).starts_with(announced_path(b) + ": is not what a run keeps"));
  CHECK(content_of(a) == "{\"ty");
  CHECK(content_of(announced_path(b)) == "damaged");
  CHECK(refusal(with(both, "name: line", "name: other"))
          .starts_with(announced_path(a) + ": is of the graph 'line'"));
  CHECK(content_of(a) == "{\"ty");
}
