#include "graphs/report.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

run_summary summary_of(std::uint64_t frames, outcome what, reason why) {
  run_summary s;
  s.graph = "line";
  s.wall = 2s;
  s.ledger.captured = frames;
  s.ledger.outcomes[static_cast<std::size_t>(what)] = frames;
  s.ledger.reasons[static_cast<std::size_t>(why)] = frames;
  s.streams.push_back({"cam", s.ledger});
  return s;
}

} // namespace

TEST_CASE("the summary says what each reason means that it names") {
  for (std::size_t r = 1; r < reason_count; ++r) {
    const auto why = static_cast<reason>(r);
    CAPTURE(r);
    const auto text = to_text(summary_of(3, outcome::dropped, why));
    CHECK(holds(text, std::string{"\n    "} + to_string(why) + "  "));
    CHECK(!holds(text, why == reason::ttl ? "\n    deadline" : "\n    ttl"));
  }
  CHECK(holds(
    to_text(summary_of(3, outcome::dropped, reason::stale)),
    "\n    stale  came to align behind what had already left: later than `wait` allows, or "
    "placed by a clock or a frame id that was not true\n"));
  CHECK(!holds(to_text(summary_of(3, outcome::delivered, reason::none)), "none"));
}

TEST_CASE("the summary says what batch fill is, and speaks of one as of one") {
  auto s = summary_of(1, outcome::delivered, reason::none);
  s.batches = 1;
  s.batch_fill = 0.5;
  s.left_behind = {"infer, worker 1"};
  s.streams[0].live = true;
  s.streams[0].silences = 1;
  const auto text = to_text(s);
  CHECK(holds(text, "line: 1 frame in 2.00 s"));
  CHECK(holds(
    text, "batch fill 50 %: of the slots that 1 batch had room for, those with a frame in them"));
  CHECK(holds(text, "cam          -    ")); // no rate was measured
  CHECK(holds(text, "left behind in a call that hangs: infer, worker 1"));
  CHECK(holds(text, "once"));
  s.batches = 2;
  CHECK(holds(to_text(s), "of the slots that 2 batches had room for"));
}

TEST_CASE("lost frames of the device and the lag stand in both summaries") {
  auto s = summary_of(8, outcome::delivered, reason::none);
  auto& line = s.streams[0];
  line.live = true;
  line.device_lost = 12;
  line.lag = {8, 1500us, 2ms, 3250us, 4ms};
  line.longest_gap = 1234ms;
  line.off_pace = 17;
  const auto text = to_text(s);
  CHECK(holds(text, "lag p50 ms  lag p99 ms"));
  CHECK(holds(text, "1.50        3.25"));
  CHECK(holds(text, "1234\n"));
  const auto j = nlohmann::json::parse(to_json(s));
  CHECK(j["streams"]["cam"]["device_lost"] == 12);
  CHECK(j["streams"]["cam"]["longest_gap_ms"] == 1234);
  CHECK(j["streams"]["cam"]["off_pace"] == 17);
  CHECK(holds(text, "1       17        0 times"));
  CHECK(j["streams"]["cam"]["clock"]["fps"].is_null());
  CHECK(j["left_behind"].empty());
  CHECK(j["streams"]["cam"]["lag_ms"]["p50"] == 1.5);
  CHECK(j["streams"]["cam"]["lag_ms"]["p99"] == 3.25);
  line.live = false;
  CHECK(nlohmann::json::parse(to_json(s))["streams"]["cam"]["lag_ms"].is_null());
}

TEST_CASE("the pools stand in both summaries, with who holds the oldest slot") {
  telemetry numbers{2, 0, 0};
  const auto cam = numbers.add_pool("pool of stream cam", "capture");
  const auto tensors = numbers.add_pool("tensors of bundle", "bundle");
  numbers.add_pool("tensors of other", "other"); // never made
  buffer_pool frames{4, 1'000'000, cam}, slots{2, 64, tensors};
  const auto held = frames.acquire(), second = frames.acquire();
  auto tensor = slots.acquire();
  held.note_taken(1, graph_time{1s});
  second.note_taken(0, graph_time{2s});
  tensor.note_taken(held_slot::nobody, graph_time{3s});

  run_summary s;
  for (const auto* name : {"bundle", "program"})
    s.stages.emplace_back().name = name;
  add_numbers(numbers, graph_time{3500ms}, s);
  REQUIRE(s.pools.size() == 2);
  CHECK(s.pools[0].holder == "program");
  CHECK(s.pools[0].oldest_age == 2500ms);
  CHECK(s.pools[1].holder == "bundle"); // who fills it
  s.rss_bytes = 5'000'000;
  s.peak_rss_bytes = 7'500'000;
  auto j = nlohmann::json::parse(to_json(s));
  const auto pool = j["pools"]["pool of stream cam"];
  CHECK(pool["slots"] == 4);
  CHECK(pool["in_use"] == 2);
  CHECK(pool["peak_in_use"] == 2);
  CHECK(pool["bytes"] == 4'000'000);
  CHECK(pool["peak_bytes"] == 4'000'000);
  CHECK(pool["oldest_s"] == 2.5);
  CHECK(pool["holder"] == "program");
  CHECK(j["rss_bytes"] == 5'000'000);
  CHECK(j["peak_rss_bytes"] == 7'500'000);
  const auto text = to_text(s);
  CHECK(holds(text, "2.50 s, program"));
  CHECK(holds(text, "memory 5.0 MB, peak 7.5 MB"));

  tensor = {};
  run_summary later;
  add_numbers(numbers, graph_time{4s}, later);
  CHECK(nlohmann::json::parse(to_json(later))["pools"]["tensors of bundle"]["holder"].is_null());
  CHECK(nlohmann::json::parse(to_json(later))["pools"]["tensors of bundle"]["oldest_s"].is_null());
}
