// Whole graphs of real stages on real threads, from their text to the last result.
#include "tests/system/collected.hpp"
#include "tests/system/films.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <nlohmann/json.hpp>

using namespace hyperframes;
using namespace hyperframes::test;
using nlohmann::json;

namespace {

/// The descriptors that a callback behind a bundle stage got.
struct collected_descriptors {
  std::vector<hyperframe_descriptor> all;
  std::function<void(const item&)> taker() {
    return [this](const item& i) {
      if (const auto* h = std::get_if<hyperframe_ptr>(&i))
        all.push_back((*h)->descriptor);
    };
  }
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> result;
    for (const auto& d : all)
      result.push_back(d.valid_count());
    return result;
  }
};

run_summary run_to_end(const std::string& text, run_options options) {
  running run{graph::from_text(text), std::move(options)};
  return run.finish();
}

} // namespace

TEST_CASE("bundles of 8 over 21 frames give 8, 8 and 5") {
  collected_descriptors bundles;
  const auto summary = run_to_end(
    "hyperframes: 1\nstreams:\n" + file_camera("cam", 21)
      + "stages:\n"
        "  capture: { type: capture }\n"
        "  bundle:  { type: bundle, from: capture, size: 8 }\n"
        "  program: { type: callback, from: bundle }\n",
    calling({{"program", bundles.taker()}}));
  CHECK(bundles.counts() == std::vector<std::size_t>{8, 8, 5});
  REQUIRE(bundles.all.size() == 3);
  CHECK(bundles.all[0].released_by == release_reason::count);
  CHECK(bundles.all[1].released_by == release_reason::count);
  CHECK(bundles.all[2].released_by == release_reason::flush);
  std::uint64_t id = 0;
  for (const auto& d : bundles.all) {
    CHECK(d.slots.size() == 8);
    CHECK(d.consecutive);
    for (const auto& s : d.slots)
      if (s.valid)
        CHECK(s.meta.frame_id == id++);
  }
  CHECK(summary.ledger.captured == 21);
  CHECK(count_of(summary.ledger, outcome::delivered) == 21);
  check_ledger(summary);
}

TEST_CASE("a bundle stage's descriptors as lines, beside the results") {
  const test_folder folder;
  collected_results results;
  const auto summary = run_to_end(
    chain(file_camera("cam", 21))
      + "  lines: { type: jsonl, from: bundle, path: " + folder / "bundles.jsonl" + " }\n",
    calling({{"program", results.taker()}}));
  const auto lines = lines_of(content_of(folder / "bundles.jsonl"));
  REQUIRE(lines.size() == 3);
  std::vector<int> valid;
  std::vector<std::string> released;
  for (const auto& line : lines) {
    const auto j = json::parse(line);
    CHECK(j["type"] == "hyperframe");
    valid.push_back(0);
    for (const auto& s : j["slots"])
      valid.back() += s["valid"].get<bool>() ? 1 : 0;
    released.push_back(j["released_by"]);
  }
  CHECK(valid == std::vector{8, 8, 5});
  CHECK(released == std::vector<std::string>{"count", "count", "flush"});
  CHECK(results.fault() == "");
  CHECK(results.count() == 21);
  // An account each at unbundle and at lines.
  CHECK(summary.ledger.captured == 42);
  CHECK(count_of(summary.ledger, outcome::delivered) == 42);
  check_ledger(summary);
}

TEST_CASE("sources of unequal length and rate all end") {
  const std::vector<std::pair<int, std::string>> sources{
    {21, ", fps: 30"}, {1, ", fps: 5"}, {100, ", fps: 200"}, {8, ", fps: 7.5"}, {50, ", fps: 0.5"}};
  std::string streams;
  for (std::size_t i = 0; i < sources.size(); ++i)
    streams += file_camera("cam" + std::to_string(i), sources[i].first, sources[i].second);

  SUBCASE("each in hyperframes of its own") {
    collected_results results;
    const auto summary = run_to_end(chain(streams), calling({{"program", results.taker()}}));
    CHECK(results.fault() == "");
    CHECK(results.count() == 180);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      CHECK(
        results.of(static_cast<stream_index>(i)).size()
        == static_cast<std::size_t>(sources[i].first));
      CHECK(
        count_of(summary.streams[i].sums, outcome::delivered)
        == static_cast<std::uint64_t>(sources[i].first));
    }
    check_ledger(summary);
  }
  SUBCASE("matched with each other") {
    auto text = chain(streams);
    for (std::size_t i = 0; i < sources.size(); ++i)
      text = with(
        text, "{ id: cam" + std::to_string(i) + ",",
        "{ id: cam" + std::to_string(i) + ", group: all,");
    text = with(
      text, "  bundle:   { type: bundle, from: capture, size: 8 }\n",
      "  align:    { type: align, from: capture, tolerance: 3ms, missing: partial }\n"
      "  bundle:   { type: bundle, from: align, over: cameras }\n");
    collected_results results;
    const auto summary = run_to_end(text, calling({{"program", results.taker()}}));
    CHECK(results.fault() == "");
    CHECK(results.count() == 180);
    check_ledger(summary);
  }
}

TEST_CASE("results of three workers come in order in each stream") {
  collected_results results;
  const auto text = with(
    chain(file_camera("a", 500) + file_camera("b", 311) + file_camera("c", 77)), small_model + " }",
    small_model + ", workers: 3, batch: { max: 5 } }");
  const auto summary = run_to_end(text, calling({{"program", results.taker()}}));
  CHECK(results.fault() == "");
  CHECK(results.of(0).size() == 500);
  CHECK(results.of(1).size() == 311);
  CHECK(results.of(2).size() == 77);
  for (stream_index s = 0; s < 3; ++s)
    for (const auto& r : results.of(s)) {
      CHECK(r->what == outcome::delivered);
      CHECK(r->inferred);
    }
  check_depths(summary);
  check_ledger(summary);
}

TEST_CASE("results go to two sinks, each in order") {
  collected_results first, second;
  const auto summary = run_to_end(
    chain(file_camera("cam", 100))
      + "  other: { type: callback, from: unbundle }\n"
        "  lost:  { type: \"null\", from: unbundle }\n",
    calling({{"program", first.taker()}, {"other", second.taker()}}));
  CHECK(first.fault() == "");
  CHECK(second.fault() == "");
  CHECK(first.count() == 100);
  CHECK(second.count() == 100);
  CHECK(edge_of(summary, "unbundle", "lost").items == 100);
  // One unbundle, one account: sinks behind it do not count again.
  CHECK(summary.ledger.captured == 100);
  check_ledger(summary);
}

TEST_CASE("two file cameras are matched picture by picture") {
  const auto path = film("Megamind.avi");
  std::size_t sets = 0, whole = 0, same_time = 0;
  const auto look = [&](const item& i) {
    const auto* set = std::get_if<aligned_set_ptr>(&i);
    if (!set)
      return;
    ++sets;
    const auto& m = (*set)->members;
    if (m.size() == 2 && m[0].item && m[1].item) {
      ++whole;
      same_time += m[0].item->meta.captured == m[1].item->meta.captured ? 1 : 0;
    }
  };
  const auto summary = run_to_end(
    "hyperframes: 1\n"
    "streams:\n"
    "  - { id: left, group: pair, camera: { type: video, path: "
      + path
      + " } }\n"
        "  - { id: right, group: pair, camera: { type: video, path: "
      + path
      + " } }\n"
        "stages:\n"
        "  capture: { type: capture }\n"
        "  align:   { type: align, from: capture, tolerance: 10ms, missing: strict }\n"
        "  program: { type: callback, from: align }\n",
    calling({{"program", look}}));
  CHECK(sets == 270);
  CHECK(whole == 270);
  CHECK(same_time == 270);
  CHECK(summary.ledger.captured == 540);
  CHECK(count_of(summary.ledger, outcome::delivered) == 540);
  check_ledger(summary);
}

TEST_CASE("over both: a hyperframe holds several moments of several cameras, time first") {
  auto streams = file_camera("left", 21) + file_camera("right", 21);
  streams = with(with(streams, "left,", "left, group: pair,"), "right,", "right, group: pair,");
  const auto text = with(
    chain(streams), "  bundle:   { type: bundle, from: capture, size: 8 }\n",
    "  align:    { type: align, from: capture, tolerance: 10ms }\n"
    "  bundle:   { type: bundle, from: align, over: both, size: 4 }\n"
    "  shapes:   { type: callback, from: bundle }\n");
  collected_descriptors bundles;
  collected_results results;
  const auto summary =
    run_to_end(text, calling({{"program", results.taker()}, {"shapes", bundles.taker()}}));
  CHECK(bundles.counts() == std::vector<std::size_t>{8, 8, 8, 8, 8, 2});
  std::uint64_t moment = 0;
  for (const auto& d : bundles.all) {
    CHECK(d.members == 2);
    REQUIRE(d.slots.size() == 8);
    for (std::size_t i = 0; i < d.valid_count(); ++i) {
      CHECK(d.slots[i].meta.stream == i % 2);
      CHECK(d.slots[i].meta.frame_id == moment + i / 2);
    }
    moment += 4;
  }
  CHECK(results.fault() == "");
  CHECK(results.of(0).size() == 21);
  CHECK(results.of(1).size() == 21);
  check_ledger(summary);
}

TEST_CASE("a film's pixels are written twice at most and not copied further") {
  const auto path = film("Megamind.avi");
  collected_results results;
  const auto summary = run_to_end(
    chain("  - { id: film, camera: { type: video, path: " + path + " } }\n"),
    calling({{"program", results.taker()}}));
  CHECK(results.fault() == "");
  CHECK(results.count() == 270);
  CHECK(summary.pixel_writes_per_frame > 0);
  CHECK(summary.pixel_writes_per_frame <= 2);
  CHECK(summary.bytes_copied_per_frame == 0);
  check_ledger(summary);
}
