// Results in order, although the batches are not finished in order.
#include "tests/system/collected.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <algorithm>

using namespace hyperframes;
using namespace hyperframes::test;

TEST_CASE("three workers, batches of unequal work: they overtake each other, the results do not") {
  // Of every second hyperframe seven frames of eight are corrupt: people are looked for in one
  // only.
  constexpr std::uint64_t frames = 96, size = 8;
  const auto is_corrupt = [](std::uint64_t frame) {
    return frame / size % 2 == 1 && frame % size != 0;
  };
  collected_results results;
  auto text =
    chain("  - { id: cam, camera: { type: push, size: 192x256, format: gray8, live: false } }\n");
  text = with(text, "model: " + small_model, "backend: hog, workers: 3, batch: { max: 8 }");
  running run{graph::from_text(text), calling({{"program", results.taker()}})};
  const auto port = run.input("cam");
  wait_for("the camera to open", [&] { return port->frame_bytes() > 0; });
  std::vector<std::byte> pixels(port->frame_bytes());
  for (std::uint64_t i = 0; i < frames; ++i) {
    for (std::size_t p = 0; p < pixels.size(); ++p)
      pixels[p] = static_cast<std::byte>((p * (i + 7)) >> 3);
    push_details details;
    details.flags = is_corrupt(i) ? frame_corrupt : 0;
    const auto t = capture_time{std::chrono::milliseconds{10 * i}};
    wait_for(
      "room in the camera", [&] { return port->push(pixels, t, details) == push_result::taken; });
  }
  port->close();
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  REQUIRE(results.of(0).size() == frames);

  std::uint64_t overtaken = 0; // hyperframes that were inferred after a younger one
  std::vector<graph_time> inferred;
  graph_time last{};
  for (std::uint64_t i = 0; i < frames; ++i) {
    const auto& r = *results.of(0)[i];
    INFO("frame ", i);
    CHECK(r.what == (is_corrupt(i) ? outcome::failed : outcome::delivered));
    CHECK(r.times.delivered >= last);
    last = r.times.delivered;
    if (i % size == 0)
      inferred.push_back(r.times.inferred);
  }
  for (std::size_t h = 0; h + 1 < inferred.size(); ++h)
    overtaken +=
      *std::min_element(inferred.begin() + static_cast<std::ptrdiff_t>(h) + 1, inferred.end())
          < inferred[h]
        ? 1
        : 0;
  CHECK(overtaken > 0);
  CHECK(summary.batches >= frames / size);
  check_ledger(summary);
}
