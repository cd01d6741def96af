// Workers on nodes whose answers are large.
#include "tests/system/placed.hpp"

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

/// A model that gives 3 MiB of raw outputs a frame, in hyperframes of so many slots.
std::string with_large_outputs(std::string text, int slots) {
  text =
    with(text, small_model, HYPERFRAMES_TEST_DATA "/models/tiled.onnx, output: { decode: raw }");
  return with(text, "size: 8", "size: " + std::to_string(slots));
}

/// What each frame's output adds up to, byte by byte with its place.
struct sums {
  std::vector<std::uint64_t> of;
  std::function<void(const frame_result&)> taker() {
    return [this](const frame_result& r) {
      std::uint64_t sum = 0, at = 0;
      if (r.inferred && !r.inferred->raw.empty())
        for (const auto b : r.inferred->raw[0].bytes)
          sum += ++at * std::to_integer<std::uint64_t>(b);
      of.push_back(sum);
    };
  }
};

} // namespace

TEST_CASE("answers that are larger than a message's head come as they were made") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  node_process a{folder, "a"};
  constexpr std::uint64_t frames = 16;
  const auto streams = file_camera("cam", frames);
  sums of_local, of_node;
  told events;
  {
    collected_results here{of_local.taker()};
    running run{
      graph::from_text(with_large_outputs(chain(streams), 8)),
      calling({{"program", here.taker()}})};
    check_all_delivered(run.finish(), here, frames);
  }
  collected_results there{of_node.taker()};
  running run{
    graph::from_text(with_large_outputs(placed(streams, 1, {a.entry()}), 8)),
    on_nodes(there, events, network_of(certs))};
  check_all_delivered(run.finish(), there, frames);
  CHECK(std::ranges::count(of_node.of, 0U) == 0);
  CHECK(of_node.of == of_local.of);
  CHECK(events.events == std::vector<std::string>{});
}

TEST_CASE("an answer beyond its bound fails its frames, says what to lower, and costs no worker") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  node_process a{folder, "a"};
  constexpr std::uint64_t frames = 48;
  collected_results results;
  told events;
  running run{
    graph::from_text(with_large_outputs(placed(file_camera("cam", frames), 1, {a.entry()}), 24)),
    on_nodes(results, events, network_of(certs))};
  const auto summary = run.finish();
  CHECK(results.fault() == "");
  CHECK(count_of(summary.ledger, reason::inference) == frames);
  check_ledger(summary);
  CHECK(events.has("an answer: has "));
  CHECK(events.has("67108864 together: lower batch.max"));
  CHECK(!events.has("is lost"));
}
