// One core, little memory: four cameras keep their bounds and their order.
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/process.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>

using namespace hyperframes::test;
using nlohmann::json;

namespace {

std::string four_cameras(const std::string& memory) {
  return "hyperframes: 1\nname: small\nlatency_budget: 1s\nmemory: " + memory
         + "\nstreams:\n  - { id: \"cam{1..4}\", camera: { type: synthetic, scene: counter, size: "
           "320x240, fps: 25, frames: 100 } }\n"
           "stages:\n  capture: { type: capture }\n  bundle: { type: bundle, from: capture }\n"
           "  schedule: { type: schedule, from: { stage: bundle, overflow: drop_oldest } }\n"
           "  infer: { type: infer, from: schedule, model: "
         + small_model
         + " }\n  unbundle: { type: unbundle, from: infer }\n"
           "  results: { type: jsonl, from: unbundle, path: results.jsonl }\n";
}

/// The address space of a process is more than it touches: libraries, stacks, arenas of malloc.
const std::string one_core = "ulimit -v 3000000 && exec taskset -c 0 ";

} // namespace

TEST_CASE("four cameras of 320x240 on one core in 256 MB keep their bounds and their order") {
  const test_folder folder;
  write_file(folder / "graph.yaml", four_cameras("256MB"));
  const auto explained =
    finish({HYPERFRAMES_COMMAND, "explain", folder / "graph.yaml"}, folder.path());
  CHECK(explained.status == 0);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::string limits; // shadow memory takes all there is, and counts as resident
  constexpr bool measures_memory = false;
#else
  const std::string limits = one_core;
  constexpr bool measures_memory = true;
#endif
  const auto run = finish(
    {"/bin/sh", "-c",
     limits + HYPERFRAMES_COMMAND + " run graph.yaml --quiet --summary summary.json"},
    folder.path());
  INFO(run.err);
  REQUIRE(run.status == 0);
  const auto summary = json::parse(content_of(folder / "summary.json"));
  CHECK(summary["ledger"]["closed"] == true);
  CHECK(summary["ledger"]["captured"].get<int>() <= 400);
  CHECK(summary["ledger"]["delivered"].get<int>() > 0);
  if (measures_memory)
    CHECK(summary["peak_rss_bytes"].get<std::uint64_t>() < 256'000'000);
  for (const auto& e : summary["edges"])
    CHECK(
      e["peak_depth"].get<int>()
      <= e["capacity"].get<int>() + 1); // one that drops takes one more first
  std::map<std::string, std::uint64_t> next;
  for (const auto& line : lines_of(content_of(folder / "results.jsonl"))) {
    const auto j = json::parse(line);
    CHECK(j["frame_id"] == next[j["stream"]]++);
  }
  std::uint64_t ended = 0;
  for (const auto& [stream, frames] : next)
    ended += frames;
  CHECK(ended == summary["ledger"]["captured"].get<std::uint64_t>());
}

TEST_CASE("explain says beforehand what does not fit, and nothing starts") {
  const test_folder folder;
  write_file(folder / "graph.yaml", four_cameras("10MB"));
  for (const std::string verb : {"explain", "run"}) {
    CAPTURE(verb);
    const auto p = finish({HYPERFRAMES_COMMAND, verb, folder / "graph.yaml"}, folder.path());
    CHECK(p.status == 2);
    CHECK(p.err.find("the graph would take ") != std::string::npos);
    CHECK(
      p.err.find("but memory allows 10.0 MB: the largest are pools of streams") != std::string::npos);
    CHECK(p.err.find("; lower capacities or sizes, or raise `memory`") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "results.jsonl"));
}
